package io.lendstream.actuator.standby;

import io.lendstream.service.settings.SettingsException;
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
import java.util.List;
import java.util.Map;
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
    private static final Map<Path, Owner> LOCKED = new ConcurrentHashMap<>();

    private final Path file;
    private final Optional<FileChannel> locked;

    /** An actuator, of which there may be several instances. */
    public record Owner(String name, boolean dryRun) {
        private static final String DRY_RUN = " (dry run)";

        @Override
        public String toString() {
            return "actuator " + name + (dryRun ? DRY_RUN : "");
        }

        private static Optional<Owner> parse(String words) {
            boolean dryRun = words.endsWith(DRY_RUN);
            String named = dryRun ? words.substring(0, words.length() - DRY_RUN.length()) : words;
            return named.startsWith("actuator ")
                    ? Optional.of(new Owner(named.substring("actuator ".length()), dryRun))
                    : Optional.empty();
        }
    }

    /** Who has the lock; the actuator is empty if it is just being taken. */
    private record Holder(String instance, Optional<Owner> actuator) {}

    private StateLock(Path file, Optional<FileChannel> locked) {
        this.file = file;
        this.locked = locked;
    }

    /**
     * Waits until no other instance uses a directory.
     *
     * @param directory a directory that exists
     * @param actuator the name of the actuator, and whether it is a dry run: only its own instances take turns
     * @param stopped waits that long, or until the wait must end; true if it must
     * @param waiting is given the instance that has the directory, after each try that failed
     * @return empty if the wait was ended
     * @throws SettingsException if another actuator uses the directory
     */
    public static Optional<StateLock> await(
            Path directory, Owner actuator, Predicate<Duration> stopped, Consumer<String> waiting) {
        Path file = directory.toAbsolutePath().normalize().resolve(FILE);
        boolean wasOther = false;
        while (true) {
            Optional<StateLock> lock = attempt(file, actuator);
            if (lock.isPresent()) {
                return lock;
            }
            Holder holder = holder(file);
            boolean isOther =
                    holder.actuator().filter(other -> !other.equals(actuator)).isPresent();
            if (isOther && wasOther) { // once, it may be the name of a former holder, which is just being replaced
                throw new SettingsException(
                        "actuator.state-dir is %s, which %s uses already (%s), but this one is %s. Give each actuator a directory of its own."
                                .formatted(directory, holder.actuator().get(), holder.instance(), actuator));
            }
            wasOther = isOther;
            if (!isOther) {
                waiting.accept(holder.instance());
            }
            if (stopped.test(BETWEEN_TRIES)) {
                return Optional.empty();
            }
        }
    }

    /** Locks a file; empty if another instance has locked it. A file system without locks protects nothing. */
    private static Optional<StateLock> attempt(Path file, Owner actuator) {
        if (LOCKED.putIfAbsent(file, actuator) != null) {
            return Optional.empty();
        }
        try {
            Optional<FileChannel> channel = open(file, actuator);
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

    private static Optional<FileChannel> open(Path file, Owner actuator) throws IOException {
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
            String words = InstanceName.ofThisProcess() + "\n" + actuator + "\n";
            channel.write(ByteBuffer.wrap(words.getBytes(StandardCharsets.UTF_8)), 0);
        } catch (IOException e) {
            LOG.debug("the lock does not name its holder", e); // as on a full disk
        }
        return Optional.of(channel);
    }

    private static Holder holder(Path file) {
        Owner here = LOCKED.get(file);
        if (here != null) {
            return new Holder("this process", Optional.of(here));
        }
        try {
            List<String> lines = Files.readAllLines(file);
            return new Holder(
                    lines.isEmpty() ? "another instance" : lines.get(0),
                    lines.size() < 2 ? Optional.empty() : Owner.parse(lines.get(1)));
        } catch (IOException e) {
            return new Holder("another instance", Optional.empty());
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
