package io.lendstream.forecaster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A small Flink of its own in this process, with the forecaster as its only job. */
final class EmbeddedFlink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedFlink.class);

    private final JobClient job;
    private final Optional<Path> temporary;

    private EmbeddedFlink(JobClient job, Optional<Path> temporary) {
        this.job = job;
        this.temporary = temporary;
    }

    /** Starts the job, from the newest checkpoint in the state directory if there is one. */
    static EmbeddedFlink start(ForecasterSettings settings) throws Exception {
        Configuration options = new Configuration();
        options.set(RestOptions.BIND_ADDRESS, "localhost");
        options.set(RestOptions.ADDRESS, "localhost");
        options.set(RestOptions.BIND_PORT, "0");
        options.set(JobManagerOptions.ADDRESS, "localhost");
        options.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(16));
        options.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(16));
        options.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ZERO);

        Optional<Path> temporary = Optional.empty();
        Path directory;
        if (settings.stateDirectory().isPresent()) {
            directory = settings.stateDirectory().get();
            Files.createDirectories(directory);
            newestCheckpoint(directory).ifPresent(checkpoint -> {
                LOG.info("going on from {}", checkpoint);
                options.set(
                        StateRecoveryOptions.SAVEPOINT_PATH, checkpoint.toUri().toString());
            });
        } else {
            directory = Files.createTempDirectory("lendstream-forecaster");
            temporary = Optional.of(directory);
        }
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(options);
        new ForecasterJob(settings.withStateDirectory(directory), Instant::now).build(environment);
        return new EmbeddedFlink(environment.executeAsync(), temporary);
    }

    /** The newest complete checkpoint below a directory. */
    static Optional<Path> newestCheckpoint(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory, 3)) {
            return files.filter(file -> file.endsWith("_metadata"))
                    .max(Comparator.comparing(EmbeddedFlink::writtenAt))
                    .map(Path::getParent);
        }
    }

    private static Instant writtenAt(Path file) {
        try {
            return Files.getLastModifiedTime(file).toInstant();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean running() {
        try {
            return job.getJobStatus().get() == JobStatus.RUNNING;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException e) {
            return false;
        }
    }

    /** Waits until the job ends, and fails as it does. */
    void awaitEnd() throws Exception {
        job.getJobExecutionResult().get();
    }

    @Override
    public void close() throws IOException {
        try {
            job.cancel().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            LOG.debug("the job had ended before it was cancelled", e);
        } finally {
            if (temporary.isPresent()) {
                delete(temporary.get());
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
