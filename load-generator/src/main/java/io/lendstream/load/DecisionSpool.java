package io.lendstream.load;

import io.lendstream.core.decision.Decision;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Objects;
import org.apache.avro.Schema;

/**
 * A list of decisions in a file, for the results of a run. A long run makes more decisions than memory should hold.
 * Each {@link #get} reads one decision; memory holds 8 bytes for each. Not thread-safe.
 */
final class DecisionSpool extends AbstractList<Decision> implements AutoCloseable {
    private static final Schema SCHEMA = Codecs.schema(TopicCatalogue.DECISIONS);

    private final Path file;
    private final OutputStream out;
    private final FileChannel in;
    private int count;
    /** Decision i lies from {@code starts[i]} to {@code starts[i + 1]}. */
    private long[] starts = new long[1024];

    /**
     * An empty spool.
     *
     * @param directory the directory of its file; created if missing
     * @throws UncheckedIOException if the file cannot be created
     */
    DecisionSpool(Path directory) {
        try {
            Files.createDirectories(directory);
            file = Files.createTempFile(directory, "decisions", ".spool");
            out = new BufferedOutputStream(Files.newOutputStream(file));
            in = FileChannel.open(file, StandardOpenOption.READ);
        } catch (IOException e) {
            throw new UncheckedIOException("decisions cannot be kept in " + directory, e);
        }
    }

    @Override
    public boolean add(Decision decision) {
        byte[] bytes = AvroBytes.write(Codecs.encode(TopicCatalogue.DECISIONS, decision));
        try {
            out.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException("decisions cannot be kept in " + file, e);
        }
        if (count + 1 == starts.length) {
            starts = Arrays.copyOf(starts, 2 * starts.length);
        }
        starts[count + 1] = starts[count] + bytes.length;
        count++;
        return true;
    }

    @Override
    public Decision get(int index) {
        Objects.checkIndex(index, count);
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(starts[index + 1] - starts[index]));
        try {
            out.flush();
            while (bytes.hasRemaining()) {
                if (in.read(bytes, starts[index] + bytes.position()) < 0) {
                    throw new EOFException("it ends at " + in.size() + " bytes");
                }
            }
            return Codecs.decode(TopicCatalogue.DECISIONS, AvroBytes.read(bytes.array(), SCHEMA, SCHEMA));
        } catch (IOException e) {
            throw new UncheckedIOException("decision %d kept in %s cannot be read".formatted(index, file), e);
        }
    }

    @Override
    public int size() {
        return count;
    }

    /** Deletes the file. */
    @Override
    public void close() {
        try {
            out.close();
            in.close();
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be deleted".formatted(file), e);
        }
    }
}
