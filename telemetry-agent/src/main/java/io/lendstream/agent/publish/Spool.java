package io.lendstream.agent.publish;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A backlog on disk that survives its process. Records are written at once but not synced: a killed process loses
 * none; after a power loss, records that the system had not written are lost. Beyond the size limit whole segments
 * are dropped, oldest first.
 */
final class Spool implements Backlog {
    private static final Logger LOG = LoggerFactory.getLogger(Spool.class);
    private static final int SEGMENTS = 16;
    private static final long SMALLEST_SEGMENT = 4 << 10;
    private static final long LARGEST_SEGMENT = 64 << 20;

    private final Path directory;
    private final long bound;
    private final FileChannel lock;
    private final FileChannel position;
    private final Deque<Segment> segments = new ArrayDeque<>();
    private long delivered;
    private long lost;

    private Spool(Path directory, long bound, FileChannel lock, FileChannel position) {
        this.directory = directory;
        this.bound = bound;
        this.lock = lock;
        this.position = position;
    }

    /**
     * Opens a directory, which is created if it does not exist.
     *
     * @param bound most bytes that it may use
     * @throws IOException if it cannot be used, or another process uses it
     */
    static Spool open(Path directory, long bound) throws IOException {
        Files.createDirectories(directory);
        FileChannel lock =
                FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (!isLocked(lock)) {
            lock.close();
            throw new IOException("another agent uses it");
        }
        var spool = new Spool(
                directory,
                bound,
                lock,
                FileChannel.open(
                        directory.resolve("delivered"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE));
        spool.recover();
        return spool;
    }

    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            FileLock lock = channel.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    private void recover() throws IOException {
        delivered = readPosition();
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.filter(file -> file.getFileName().toString().matches("\\d{19}\\" + Segment.SUFFIX))
                    .sorted()
                    .toList();
        }
        for (Path file : files) {
            Segment segment = Segment.open(file);
            if (segment.cut() > 0) {
                LOG.warn("{}: cut off {} bytes of an incomplete record at its end", file, segment.cut());
            }
            if (segment.count() == 0 || segment.next() <= delivered) {
                segment.delete();
            } else {
                segments.add(segment);
            }
        }
        if (!segments.isEmpty()) {
            LOG.info("{} records from before this start are queued in {}", waiting(), directory);
        }
    }

    @Override
    public synchronized void append(byte[] record) {
        try {
            Segment last = segments.peekLast();
            if (last == null || last.size() + record.length > segmentBytes()) {
                if (last != null) {
                    last.force();
                }
                last = Segment.create(directory, last == null ? delivered : last.next());
                segments.add(last);
            }
            last.append(record);
            while (segments.size() > 1 && bytes() > bound) {
                dropOldest();
            }
        } catch (IOException e) {
            lost++;
            LOG.error("a record could not be written to {} and is lost: {}", directory, e.toString());
        }
    }

    private long segmentBytes() {
        return Math.min(LARGEST_SEGMENT, Math.max(SMALLEST_SEGMENT, bound / SEGMENTS));
    }

    private void dropOldest() throws IOException {
        Segment oldest = segments.remove();
        long gone = oldest.next() - Math.max(delivered, oldest.first());
        lost += gone;
        delivered = oldest.next();
        oldest.delete();
        LOG.warn("{} is full ({} bytes): dropped the {} oldest records", directory, bound, gone);
    }

    @Override
    public synchronized Batch oldest(int most) {
        List<byte[]> records = new ArrayList<>();
        long first = delivered;
        for (Segment segment : segments) {
            for (long number = Math.max(delivered, segment.first());
                    number < segment.next() && records.size() < most;
                    number++) {
                if (records.isEmpty()) {
                    first = number;
                } else if (number != first + records.size()) {
                    return new Batch(first, records);
                }
                try {
                    records.add(segment.record(number));
                } catch (IOException e) {
                    if (!records.isEmpty()) {
                        return new Batch(first, records);
                    }
                    LOG.error("{}: {}; it is lost", directory, e.toString());
                    lost++;
                    delivered = number + 1;
                }
            }
        }
        return new Batch(first, records);
    }

    @Override
    public synchronized void deliveredBefore(long number) {
        if (number <= delivered) {
            return;
        }
        delivered = number;
        try {
            writePosition();
            while (segments.size() > 1 && segments.element().next() <= delivered) {
                segments.remove().delete();
            }
        } catch (IOException e) {
            LOG.warn(
                    "{}: cannot save the delivered position, so records may be delivered again after a restart: {}",
                    directory,
                    e.toString());
        }
    }

    @Override
    public synchronized long waiting() {
        return segments.stream()
                .mapToLong(segment -> Math.max(0, segment.next() - Math.max(delivered, segment.first())))
                .sum();
    }

    @Override
    public synchronized long bytes() {
        return segments.stream().mapToLong(Segment::size).sum();
    }

    @Override
    public synchronized long lost() {
        return lost;
    }

    /** Closes all files, even after failures; a file already closed by an interrupt is not a failure. */
    @Override
    public synchronized void close() {
        var failures = new ArrayList<IOException>();
        for (Segment segment : segments) {
            attempt(segment::force, failures);
            attempt(segment::close, failures);
        }
        attempt(() -> position.force(false), failures);
        attempt(position::close, failures);
        attempt(lock::close, failures);
        if (!failures.isEmpty()) {
            throw new UncheckedIOException(failures.get(0));
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void attempt(Step step, List<IOException> failures) {
        try {
            step.run();
        } catch (ClosedChannelException e) {
            LOG.debug("closed already", e);
        } catch (IOException e) {
            failures.add(e);
        }
    }

    /** A number with its checksum; an incomplete position counts as none, and records are then delivered again. */
    private long readPosition() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES);
        while (bytes.hasRemaining()) {
            if (position.read(bytes, bytes.position()) < 0) {
                return 0;
            }
        }
        bytes.flip();
        long number = bytes.getLong();
        return bytes.getLong() == checksum(number) ? number : 0;
    }

    private void writePosition() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(delivered)
                .putLong(checksum(delivered))
                .flip();
        while (bytes.hasRemaining()) {
            position.write(bytes, bytes.position());
        }
    }

    private static long checksum(long number) {
        var crc = new CRC32C();
        crc.update(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
        return crc.getValue();
    }
}
