package io.lendstream.actuator.jobs;

import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The state directory of a job host. One process uses it at a time; it keeps the directories of the jobs. */
final class HostDirectory implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostDirectory.class);
    private static final String SOCKET = "jobs.sock";

    private final Path path;
    private final FileChannel lockFile;

    private HostDirectory(Path path, FileChannel lockFile) {
        this.path = path;
        this.lockFile = lockFile;
    }

    /**
     * Creates a directory that only this user may read, and locks it for this process.
     *
     * @throws IllegalStateException if another process uses the directory
     * @throws UncheckedIOException if it cannot be used
     */
    static HostDirectory claim(Path directory) {
        try {
            PrivateFiles.directory(directory);
            PrivateFiles.directory(jobs(directory));
            FileChannel file =
                    FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = file.tryLock();
            if (lock == null) {
                file.close();
                throw new IllegalStateException(
                        "%s is in use by another node process; end it, or use another directory".formatted(directory));
            }
            return new HostDirectory(directory.toAbsolutePath(), file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use %s for jobs".formatted(directory), e);
        }
    }

    /** The socket path for workers of a host with this directory. */
    static Path socket(Path directory) {
        return directory.toAbsolutePath().resolve(SOCKET);
    }

    private static Path jobs(Path directory) {
        return directory.resolve("jobs");
    }

    Path socket() {
        return socket(path);
    }

    /** The directory of a job. */
    Path home(JobId job) {
        return JobHome.of(jobs(path), job);
    }

    /**
     * Passes each job left by an earlier process, with its directory, to its new owner. Up to version 0.1 a job's
     * name was its directory's name, so the jobs {@code .} and {@code ..} are elsewhere.
     *
     * @throws IllegalStateException if a job cannot be taken over although its processes run
     * @throws UncheckedIOException if the directory cannot be read
     */
    void takeOver(BiConsumer<Path, JobFile> taker) {
        List<Path> homes = new ArrayList<>(List.of(jobs(path), path));
        try (DirectoryStream<Path> all = Files.newDirectoryStream(jobs(path))) {
            all.forEach(homes::add);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the jobs in " + path, e);
        }
        for (Path home : homes) {
            Path file = home.resolve(Job.FILE);
            if (Files.exists(file)) {
                takeOver(home, file, taker);
            }
        }
    }

    private static void takeOver(Path home, Path file, BiConsumer<Path, JobFile> taker) {
        try {
            taker.accept(home, JobFile.read(file));
        } catch (RuntimeException e) {
            if (isRunning(home)) {
                throw new IllegalStateException(
                        "%s cannot be read, but processes of its job run; end its processes and remove it"
                                .formatted(file),
                        e);
            }
            setAside(file, e);
        }
    }

    /** Whether a worker that was started in a job's directory still runs. */
    private static boolean isRunning(Path home) {
        Path workers = home.resolve("workers");
        if (!Files.exists(workers)) {
            return false;
        }
        try (DirectoryStream<Path> all = Files.newDirectoryStream(workers)) {
            for (Path worker : all) {
                String name = worker.getFileName().toString();
                if (!OsProcess.carrying(WorkerProcess.NAME, name).isEmpty()) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + workers, e);
        }
    }

    private static void setAside(Path file, RuntimeException why) {
        Path aside = file.resolveSibling(file.getFileName() + ".unreadable");
        LOG.error("cannot read {}; no process of its job runs, so the file is renamed to {}", file, aside, why);
        try {
            Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot rename %s; remove it".formatted(file), e);
        }
    }

    /** Releases the directory for another process. */
    @Override
    public void close() {
        try {
            lockFile.close();
        } catch (IOException e) {
            LOG.warn("cannot release the lock of {}", path, e);
        }
    }
}
