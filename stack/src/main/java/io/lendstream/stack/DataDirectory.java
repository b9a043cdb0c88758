package io.lendstream.stack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** The files of one run: locked during the run, and deleted after it. */
final class DataDirectory {

    private static final String PREFIX = "lendstream-run-";
    private static final String LOCK = ".lock";

    private final Path path;
    private final boolean existedBefore;
    private final FileChannel lock;
    /** The directories that this run created; only these are deleted. */
    private final Set<Path> made = ConcurrentHashMap.newKeySet();

    private DataDirectory(Path path, boolean existedBefore, FileChannel lock) {
        this.path = path;
        this.existedBefore = existedBefore;
        this.lock = lock;
    }

    static DataDirectory open(Optional<Path> wanted) {
        try {
            return wanted.isPresent() ? given(wanted.get().toAbsolutePath().normalize()) : temporary();
        } catch (IOException e) {
            throw new StackException(
                    "--data-dir is %s, but cannot be written (%s); name another with --data-dir."
                            .formatted(
                                    wanted.map(Path::toString).orElse(System.getProperty("java.io.tmpdir")),
                                    e.getMessage()),
                    e);
        }
    }

    private static DataDirectory given(Path path) throws IOException {
        boolean existed = Files.exists(path);
        if (existed && (!Files.isDirectory(path) || !isEmpty(path))) {
            throw StackException.badUsage(
                    "--data-dir is %s, but must be new or empty, since a run deletes what it wrote there; empty it or name another."
                            .formatted(path));
        }
        Files.createDirectories(path);
        return locked(path, existed)
                .orElseThrow(() ->
                        new StackException("--data-dir is %s, but another run uses it; name another.".formatted(path)));
    }

    private static DataDirectory temporary() throws IOException {
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        sweep(parent);
        return locked(Files.createTempDirectory(parent, PREFIX), false).orElseThrow();
    }

    /** Removes the files of killed runs: those with a lock file that no process holds. */
    private static void sweep(Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            entries.filter(entry -> entry.getFileName().toString().startsWith(PREFIX))
                    .filter(entry -> Files.exists(entry.resolve(LOCK)))
                    .forEach(DataDirectory::sweepOne);
        }
    }

    private static void sweepOne(Path left) {
        try {
            locked(left, false).ifPresent(DataDirectory::deleteLeftOver);
        } catch (IOException | UncheckedIOException e) {
            // of another user, or removed by another run
        }
    }

    @SuppressWarnings("resource") // the lock lasts as long as the channel, and that as long as the run
    private static Optional<DataDirectory> locked(Path path, boolean existedBefore) throws IOException {
        FileChannel channel = FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new DataDirectory(path, existedBefore, channel));
            }
        } catch (OverlappingFileLockException e) {
            // held by this very process
        }
        channel.close();
        return Optional.empty();
    }

    Path path() {
        return path;
    }

    Path sub(String name) {
        try {
            Path sub = path.resolve(name);
            if (!Files.exists(sub)) {
                made.add(sub);
            }
            return Files.createDirectories(sub);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be made".formatted(path.resolve(name)), e);
        }
    }

    /** Deletes the files of the run; the directory itself only if the run created it and it is empty. */
    void delete() {
        made.forEach(DataDirectory::deleteTree);
        release();
        if (!existedBefore) {
            deleteQuietly(path);
        }
    }

    /** Deletes the files of the run except one directory. */
    void deleteAllBut(String kept) {
        made.stream().filter(sub -> !sub.equals(path.resolve(kept))).forEach(DataDirectory::deleteTree);
        release();
    }

    /** Deletes a temporary directory that another run left. */
    private void deleteLeftOver() {
        deleteTree(path);
        unlock();
    }

    /** Keeps all files. */
    void release() {
        deleteQuietly(path.resolve(LOCK));
        unlock();
    }

    private static void deleteTree(Path root) {
        try (Stream<Path> all = Files.walk(root)) {
            all.sorted(Comparator.reverseOrder()).forEach(DataDirectory::deleteQuietly);
        } catch (IOException | UncheckedIOException e) {
            // without a list there is nothing to delete
        }
    }

    private void unlock() {
        try {
            lock.close();
        } catch (IOException e) {
            // closed is closed
        }
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.findAny().isEmpty();
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // the user cannot correct it now
        }
    }
}
