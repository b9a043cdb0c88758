package io.lendstream.actuator.jobs;

import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A job's directory, with one directory for each worker's log and exit code. */
final class WorkerDirectories {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerDirectories.class);

    /** How many ended workers' logs are kept. */
    private static final int OLD_LOGS = 32;

    private final JobId job;
    private final Path workers;

    /** @param home the job's directory */
    WorkerDirectories(JobId job, Path home) {
        this.job = job;
        this.workers = home.resolve("workers");
    }

    Path of(String worker) {
        return workers.resolve(worker);
    }

    /** Removes the directory of a worker, if it has one. */
    void forget(String worker) {
        forget(of(worker));
    }

    /** Removes directories of ended workers, except the latest. */
    void forgetOld(Collection<String> running) {
        try (Stream<Path> all = Files.list(workers)) {
            List<Path> old = all.filter(
                            each -> !running.contains(each.getFileName().toString()))
                    .sorted(Comparator.comparingLong(
                                    (Path each) -> each.toFile().lastModified())
                            .reversed())
                    .skip(OLD_LOGS)
                    .toList();
            old.forEach(this::forget);
        } catch (NoSuchFileException e) {
            LOG.debug("{} has had no worker yet", job);
        } catch (IOException e) {
            LOG.warn("{}: cannot remove old logs: {}", job, e.getMessage());
        }
    }

    private void forget(Path worker) {
        if (!Files.exists(worker)) {
            return;
        }
        try (Stream<Path> files = Files.walk(worker)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            LOG.warn("{}: cannot remove {}: {}", job, worker, e.getMessage());
        }
    }
}
