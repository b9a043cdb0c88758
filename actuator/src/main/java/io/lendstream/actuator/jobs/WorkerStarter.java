package io.lendstream.actuator.jobs;

import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Starts the processes of a job's workers, each with a directory and an environment of its own. */
final class WorkerStarter {
    private final JobId job;
    private final JobProgram program;
    private final Path home;
    private final Job.Shared shared;
    private final WorkerDirectories directories;

    /** @param home the job's directory */
    WorkerStarter(JobId job, JobProgram program, Path home, Job.Shared shared) {
        this.job = job;
        this.program = program;
        this.home = home;
        this.shared = shared;
        this.directories = new WorkerDirectories(job, home);
    }

    /**
     * Creates the job's directory.
     *
     * @throws IllegalArgumentException if no process can be started for a job of this name
     * @throws UncheckedIOException if the directory cannot be created
     */
    void prepare() {
        JobHome.complaint(job).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        try {
            PrivateFiles.directory(home);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a directory for job " + job, e);
        }
    }

    /**
     * Starts a worker, which must be in the job's file already, so that every later node process knows it.
     *
     * @param environment variables of this worker, from {@link #environment}
     * @param running names of running workers, whose logs are kept
     * @throws UncheckedIOException if it cannot be started, perhaps for a temporary reason
     * @throws IllegalArgumentException if it can never be started
     */
    Worker start(
            WorkerIdentity identity,
            List<String> command,
            Map<String, String> environment,
            Collection<String> running) {
        directories.forgetOld(running);
        var process = WorkerProcess.start(
                identity.name(),
                directories.of(identity.name()),
                command,
                shared.environment(),
                environment,
                Path.of(program.directory()));
        return new Worker(identity, process);
    }

    /** Takes over a worker of an earlier node process, running or not started yet. */
    Worker adopt(WorkerIdentity identity) {
        return new Worker(identity, WorkerProcess.adopt(identity.name(), directories.of(identity.name())));
    }

    void forget(WorkerIdentity identity) {
        directories.forget(identity.name());
    }

    /**
     * The variables that a worker gets in addition to inherited ones.
     *
     * @param network variables of the network, which the program and, over several machines, the actuator's own
     *     environment may set otherwise
     * @param more variables of the job's mode, which take precedence
     */
    Map<String, String> environment(
            WorkerIdentity identity, Batching batching, Map<String, String> network, Map<String, String> more) {
        Map<String, String> environment = new TreeMap<>(network);
        environment.putAll(program.environment());
        environment.put(
                "CUDA_VISIBLE_DEVICES",
                String.join(",", identity.slots().stream().map(Slot::device).toList()));
        environment.put("LENDSTREAM_AFE_SOCKET", shared.socket().toString());
        environment.put("LENDSTREAM_AFE_TOKEN", identity.token());
        environment.put("LENDSTREAM_LOCAL_BATCH", Integer.toString(batching.localBatch()));
        environment.put("LENDSTREAM_ACCUMULATION", Integer.toString(batching.accumulation()));
        environment.put("LENDSTREAM_LEARNING_RATE_SCALE", Double.toString(batching.learningRateScale()));
        environment.putAll(more);
        return environment;
    }
}
