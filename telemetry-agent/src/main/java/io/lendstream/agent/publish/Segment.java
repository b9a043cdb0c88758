package io.lendstream.agent.publish;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A file of records: an eight-byte signature, then each record as its length, its CRC-32C and its bytes. Its name is
 * the number of its first record.
 */
final class Segment implements AutoCloseable {
    static final String SUFFIX = ".spool";
    static final int ENTRY_HEADER = 8;
    private static final byte[] MAGIC = "LENDSPL1".getBytes(StandardCharsets.US_ASCII);
    private static final int LARGEST_RECORD = 16 << 20;

    private final Path path;
    private final long first;
    private final FileChannel channel;
    private int[] starts = new int[64];
    private int count;
    private long end = MAGIC.length;
    private long cut;

    private Segment(Path path, long first, FileChannel channel) {
        this.path = path;
        this.first = first;
        this.channel = channel;
    }

    static Segment create(Path directory, long first) throws IOException {
        Path path = directory.resolve("%019d%s".formatted(first, SUFFIX));
        FileChannel channel = FileChannel.open(
                path,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        var segment = new Segment(path, first, channel);
        segment.write(ByteBuffer.wrap(MAGIC), 0);
        return segment;
    }

    /** Opens an existing segment; an incomplete end is cut off. */
    static Segment open(Path path) throws IOException {
        String name = path.getFileName().toString();
        long first = Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
        var segment =
                new Segment(path, first, FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
        segment.recover();
        return segment;
    }

    private void recover() throws IOException {
        long size = channel.size();
        if (!Arrays.equals(read(0, (int) Math.min(size, MAGIC.length)), MAGIC)) {
            cut = size;
            channel.truncate(0);
            write(ByteBuffer.wrap(MAGIC), 0);
            return;
        }
        while (end + ENTRY_HEADER <= size) {
            ByteBuffer header = ByteBuffer.wrap(read(end, ENTRY_HEADER));
            int length = header.getInt();
            int crc = header.getInt();
            if (length < 0 || length > LARGEST_RECORD || end + ENTRY_HEADER + length > size) {
                break;
            }
            if (crc != crc(read(end + ENTRY_HEADER, length))) {
                break;
            }
            remember((int) end);
            end += ENTRY_HEADER + length;
        }
        cut = size - end;
        if (cut > 0) {
            channel.truncate(end);
        }
    }

    void append(byte[] record) throws IOException {
        ByteBuffer entry = ByteBuffer.allocate(ENTRY_HEADER + record.length)
                .putInt(record.length)
                .putInt(crc(record))
                .put(record)
                .flip();
        write(entry, end);
        remember((int) end);
        end += entry.capacity();
    }

    /** Reads a record by its number, which must be in this segment. */
    byte[] record(long number) throws IOException {
        long start = starts[(int) (number - first)];
        ByteBuffer header = ByteBuffer.wrap(read(start, ENTRY_HEADER));
        int length = header.getInt();
        int crc = header.getInt();
        byte[] record = read(start + ENTRY_HEADER, length);
        if (crc != crc(record)) {
            throw new IOException("record %d of %s is corrupt".formatted(number, path));
        }
        return record;
    }

    long first() {
        return first;
    }

    /** The number after its last record. */
    long next() {
        return first + count;
    }

    int count() {
        return count;
    }

    long size() {
        return end;
    }

    /** How many bytes were cut off its end when it was opened. */
    long cut() {
        return cut;
    }

    Path path() {
        return path;
    }

    void force() throws IOException {
        channel.force(false);
    }

    void delete() throws IOException {
        channel.close();
        Files.deleteIfExists(path);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private void remember(int start) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
        }
        starts[count] = start;
        count++;
    }

    private void write(ByteBuffer bytes, long at) throws IOException {
        long position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }

    private byte[] read(long at, int length) throws IOException {
        byte[] read = new byte[length];
        ByteBuffer bytes = ByteBuffer.wrap(read);
        long position = at;
        while (bytes.hasRemaining()) {
            int more = channel.read(bytes, position);
            if (more < 0) {
                throw new IOException("%s ends at %d, before %d".formatted(path, position, at + length));
            }
            position += more;
        }
        return read;
    }

    private static int crc(byte[] bytes) {
        var crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
