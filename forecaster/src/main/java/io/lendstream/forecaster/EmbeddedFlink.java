package io.lendstream.forecaster;

import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.FileUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A small Flink cluster in this process, with the forecaster as its only job. */
final class EmbeddedFlink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedFlink.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final MemorySize NETWORK_MEMORY = MemorySize.ofMebiBytes(16);
    private static final MemorySize ROCKSDB_MEMORY = MemorySize.ofMebiBytes(64);

    private final JobClient job;
    private final Optional<Path> temporary;

    private EmbeddedFlink(JobClient job, Optional<Path> temporary) {
        this.job = job;
        this.temporary = temporary;
    }

    /** The status of the job. */
    record State(String status, boolean isRunning, boolean hasEnded) {
        static State of(JobStatus status) {
            return new State(
                    status.name().toLowerCase(Locale.ROOT),
                    status == JobStatus.RUNNING,
                    status.isGloballyTerminalState());
        }
    }

    /**
     * Starts the job, from the newest checkpoint in the state directory if there is one.
     *
     * @param metrics registry for the job's metrics
     */
    static EmbeddedFlink start(ForecasterSettings settings, MeterRegistry metrics) throws Exception {
        Configuration options = new Configuration();
        options.set(RestOptions.BIND_ADDRESS, "localhost");
        options.set(RestOptions.ADDRESS, "localhost");
        options.set(RestOptions.BIND_PORT, "0");
        options.set(JobManagerOptions.ADDRESS, "localhost");
        options.set(
                TaskManagerOptions.NETWORK_MEMORY_MIN,
                NETWORK_MEMORY.multiply(settings.job().parallelism()));
        options.set(
                TaskManagerOptions.NETWORK_MEMORY_MAX,
                NETWORK_MEMORY.multiply(settings.job().parallelism()));
        options.set(
                TaskManagerOptions.MANAGED_MEMORY_SIZE,
                settings.state().backend() == StateBackend.ROCKSDB
                        ? ROCKSDB_MEMORY.multiply(settings.job().parallelism())
                        : MemorySize.ZERO);
        ProcessReporter.configure(options, metrics);
        options.addAll(Configuration.fromMap(settings.job().options()));

        Optional<Path> temporary = Optional.empty();
        Path directory;
        if (settings.state().directory().isPresent()) {
            directory = settings.state().directory().get().toAbsolutePath();
            Files.createDirectories(directory);
            newestCheckpoint(directory).ifPresent(checkpoint -> {
                LOG.info("restoring state from {}", checkpoint);
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

    State state() throws InterruptedException {
        try {
            return State.of(job.getJobStatus().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException | TimeoutException e) {
            // once the job has ended, its cluster is gone and cannot answer
            LOG.debug("cannot read the job's state", e);
            boolean ended = job.getJobExecutionResult().isDone();
            return new State(ended ? "failed" : "not answering", false, ended);
        }
    }

    /** Why the job has ended. */
    String whyEnded() throws InterruptedException {
        try {
            JobExecutionResult result = job.getJobExecutionResult().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return "it finished after %d ms, although its input never ends".formatted(result.getNetRuntime());
        } catch (ExecutionException | TimeoutException e) {
            Throwable root = e;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return root.toString();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            job.cancel().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("the job ended before it was cancelled", e);
        } finally {
            if (temporary.isPresent()) {
                FileUtils.deleteDirectory(temporary.get().toFile());
            }
        }
    }
}
