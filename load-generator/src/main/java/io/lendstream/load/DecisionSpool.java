package io.lendstream.load;

import io.lendstream.core.decision.Decision;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.AvroBytes;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;

/** Decisions in a file until the results of a run are written: a long run makes more of them than memory should hold. */
final class DecisionSpool implements AutoCloseable {
    private final Path file;
    private final DataOutputStream out;
    private int count;

    /**
     * An empty spool.
     *
     * @param directory where its file is made; it is created if it is not there
     * @throws UncheckedIOException where that is not possible
     */
    DecisionSpool(Path directory) {
        try {
            Files.createDirectories(directory);
            file = Files.createTempFile(directory, "decisions", ".spool");
            out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)));
        } catch (IOException e) {
            throw new UncheckedIOException("decisions cannot be kept in " + directory, e);
        }
    }

    void add(Decision decision) {
        byte[] bytes = AvroBytes.write(Codecs.encode(TopicCatalogue.DECISIONS, decision));
        try {
            out.writeInt(bytes.length);
            out.write(bytes);
            count++;
        } catch (IOException e) {
            throw new UncheckedIOException("decisions cannot be kept in " + file, e);
        }
    }

    /** All of them, in their order. */
    List<Decision> all() {
        Schema schema = Codecs.schema(TopicCatalogue.DECISIONS);
        var decisions = new ArrayList<Decision>(count);
        try {
            out.flush();
            try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
                for (int i = 0; i < count; i++) {
                    byte[] bytes = in.readNBytes(in.readInt());
                    decisions.add(Codecs.decode(TopicCatalogue.DECISIONS, AvroBytes.read(bytes, schema, schema)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the decisions kept in %s cannot be read".formatted(file), e);
        }
        return decisions;
    }

    /** Deletes the file. */
    @Override
    public void close() {
        try {
            out.close();
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be deleted".formatted(file), e);
        }
    }
}
