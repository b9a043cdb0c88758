package io.lendstream.actuator.jobs;

import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a job's file on disk up to date, and removes it when the job ends. */
final class JobFileWriter {
    private static final Logger LOG = LoggerFactory.getLogger(JobFileWriter.class);

    private final JobId job;
    private final Path path;
    /** Whether the file is out of date, because it could not be written. */
    private boolean isBehind;

    JobFileWriter(JobId job, Path path) {
        this.job = job;
        this.path = path;
    }

    boolean isBehind() {
        return isBehind;
    }

    /**
     * Writes the file.
     *
     * @throws UncheckedIOException if it cannot be written
     */
    void write(JobFile file) {
        file.write(path);
    }

    /** Writes the file; after a failure, as on a full disk, {@link #isBehind} asks for a retry. */
    void save(JobFile file) {
        try {
            write(file);
            isBehind = false;
        } catch (UncheckedIOException e) {
            if (!isBehind) {
                LOG.error("{}: cannot save its state; will retry: {}", job, String.valueOf(e.getCause()));
            }
            isBehind = true;
        }
    }

    void remove() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOG.error("{} has ended, but {} cannot be removed; remove it, or the job starts again", job, path, e);
        }
    }
}
