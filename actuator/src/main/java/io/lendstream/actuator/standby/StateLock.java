package io.lendstream.actuator.standby;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive lock of a state directory: two actuators with one state would both execute its orders. The kernel frees
 * it when its process ends, however it ends.
 */
public final class StateLock implements AutoCloseable {
    static final String FILE = "actuator.lock";

    private static final Logger LOG = LoggerFactory.getLogger(StateLock.class);
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(250);
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    /**
     * The files that this process has locked. None of them may be opened again: when any channel of a file is closed,
     * the system frees all locks that the process has on it.
     */
    private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final Optional<FileChannel> locked;

    private StateLock(Path file, Optional<FileChannel> locked) {
        this.file = file;
        this.locked = locked;
    }

    /**
     * Waits until no other actuator uses a directory.
     *
     * @param directory a directory that exists
     * @param stopped waits that long, or until the wait must end; true if it must
     * @param waiting is given the instance that has the directory, after each try that failed
     * @return empty if the wait was ended
     */
    public static Optional<StateLock> await(Path directory, Predicate<Duration> stopped, Consumer<String> waiting) {
        Path file = directory.toAbsolutePath().normalize().resolve(FILE);
        while (true) {
            Optional<StateLock> lock = attempt(file);
            if (lock.isPresent()) {
                return lock;
            }
            waiting.accept(holder(file));
            if (stopped.test(BETWEEN_TRIES)) {
                return Optional.empty();
            }
        }
    }

    /** Locks a file; empty if another instance has locked it. A file system without locks protects nothing. */
    private static Optional<StateLock> attempt(Path file) {
        if (!LOCKED.add(file)) {
            return Optional.empty();
        }
        try {
            Optional<FileChannel> channel = open(file);
            if (channel.isEmpty()) {
                LOCKED.remove(file);
            }
            return channel.map(open -> new StateLock(file, Optional.of(open)));
        } catch (IOException e) {
            LOG.warn(
                    "cannot lock {} ({}); a second actuator with this actuator.state-dir would not be noticed",
                    file,
                    e.getMessage());
            return Optional.of(new StateLock(file, Optional.empty()));
        }
    }

    private static Optional<FileChannel> open(Path file) throws IOException {
        FileChannel channel = FileChannel.open(
                file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE), PRIVATE);
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                channel.close();
                return Optional.empty();
            }
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        try {
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(InstanceName.ofThisProcess().getBytes(StandardCharsets.UTF_8)), 0);
        } catch (IOException e) {
            LOG.debug("the lock does not name its holder", e); // as on a full disk
        }
        return Optional.of(channel);
    }

    private static String holder(Path file) {
        if (LOCKED.contains(file)) {
            return "this process";
        }
        try {
            String name = Files.readString(file).strip();
            return name.isEmpty() ? "another instance" : name;
        } catch (IOException e) {
            return "another instance";
        }
    }

    @Override
    public void close() {
        try {
            if (locked.isPresent()) {
                locked.get().close();
            }
        } catch (IOException e) {
            LOG.debug("cannot unlock {}", file, e);
        }
        LOCKED.remove(file);
    }
}
