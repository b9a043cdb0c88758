package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts, resizes and stops training jobs on this node. Calls return at once; results go to the listener.
 *
 * <p>Tenants are saved on disk before they run: a host on the directory of a killed one takes its workers over, which
 * have continued to train. Closing a host leaves them running too.
 */
public final class JobHost implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(JobHost.class);
    /** Version of the protocol in {@code docs/afe.md}. */
    static final int VERSION = 1;

    private static final long LOOK_MILLIS = 50;
    private static final List<Integer> LOOK_AFTER_CLOSE_MILLIS = List.of(1, 3, 6, 10, 20, 30);

    private final HostDirectory directory;
    private final Job.Shared shared;
    private final JobListener listener;
    private final WorkerServer server;
    private final ErrorLog errors = new ErrorLog(LOG);
    private final HostThread thread = new HostThread(errors);
    private final Map<JobId, Job> jobs = new TreeMap<>();
    private final WorkerConnections connections = new WorkerConnections();

    /**
     * The processes of a job.
     *
     * @param wanted slots in which it should run
     * @param bound the wanted slots in which it has trained
     * @param occupied slots in which it has processes
     * @param change the last requested change
     * @param settled whether that change has been applied
     */
    public record Running(
            JobId job, List<Slot> wanted, List<Slot> bound, List<Slot> occupied, DecisionId change, boolean settled) {}

    private JobHost(HostDirectory directory, CleanEnvironment environment, JobListener listener) {
        this.directory = directory;
        this.shared = new Job.Shared(directory.socket(), environment, System::nanoTime);
        this.listener = listener;
        directory.takeOver(this::adopt);
        server = new WorkerServer(shared.socket(), new Listening());
        thread.repeat(this::look, LOOK_MILLIS);
    }

    /** Opens a host whose workers inherit the default selection of this process's environment. */
    public static JobHost open(Path directory, JobListener listener) {
        return open(directory, CleanEnvironment.ofThisProcess(), listener);
    }

    /** Why no host can be opened on a directory, with the way out; empty without a problem. */
    public static Optional<String> complaint(Path directory) {
        return WorkerServer.complaint(HostDirectory.socket(directory));
    }

    /** Why no process of a program can be started for a job, with the way out; empty without a problem. */
    public static Optional<String> complaint(JobId id, JobProgram program, CleanEnvironment environment) {
        Optional<String> path = Optional.ofNullable(program.environment().get("PATH"))
                .or(() -> Optional.ofNullable(environment.variables().get("PATH")));
        List<String> command = program.mode() == JobProgram.Mode.TORCHRUN ? program.launcher() : program.command();
        return JobHome.complaint(id).or(() -> ProgramCheck.complaint(command, Path.of(program.directory()), path));
    }

    /**
     * Opens a host on a directory that only this user may read, and takes over its tenants.
     *
     * @param environment environment that workers inherit
     * @throws IllegalStateException if another process uses the directory
     * @throws UncheckedIOException if it cannot be used, or a file of a running job in it cannot be read
     * @throws IllegalArgumentException if {@link #complaint} reports a problem
     */
    public static JobHost open(Path directory, CleanEnvironment environment, JobListener listener) {
        HostDirectory claimed = HostDirectory.claim(directory);
        try {
            return new JobHost(claimed, environment, listener);
        } catch (RuntimeException e) {
            claimed.close();
            throw e;
        }
    }

    private void adopt(Path home, JobFile file) {
        Job job = make(
                new JobId(file.job()),
                file.program().program(),
                file.batching(),
                DecisionId.parse(file.lastChange().change()),
                home);
        job.adopt(file);
        jobs.put(job.id(), job);
        LOG.info("{}: took over its workers {}", job.id(), job.workers().names());
    }

    private Job make(JobId id, JobProgram program, Batching batching, DecisionId change, Path home) {
        try {
            PrivateFiles.directory(home);
        } catch (IOException e) {
            LOG.warn("{}: cannot create {}; will retry: {}", id, home, e.toString());
        }
        return new Job(id, program, batching, change, home, shared, listener);
    }

    /** Starts a job of this machine only. */
    public void start(JobId id, JobProgram program, List<Slot> slots, Batching batching, DecisionId change) {
        start(id, program, slots, batching, change, Optional.empty());
    }

    /**
     * Starts a job; only resizes it if it already runs, as after a restart of the caller.
     *
     * @param world the machines over which it trains; empty if only on this one
     */
    public void start(
            JobId id,
            JobProgram program,
            List<Slot> slots,
            Batching batching,
            DecisionId change,
            Optional<WorldPart> world) {
        List<Slot> all = List.copyOf(slots);
        thread.submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                Optional<String> complaint = JobHome.complaint(id);
                if (complaint.isPresent()) {
                    listener.failed(id, change, complaint.get(), true);
                    listener.exited(id, WorkerExit.CANNOT_START, List.of(complaint.get()));
                    return;
                }
                job = make(id, program, batching, change, directory.home(id));
                jobs.put(id, job);
            } else if (isKnown(job, change, all)) {
                return;
            }
            job.resize(all, batching, change, world);
            advance(job);
        });
    }

    /** Moves a job to exactly these slots, of which none is elsewhere. */
    public void resize(JobId id, List<Slot> slotsAfterwards, Batching batching, DecisionId change) {
        resize(id, slotsAfterwards, batching, change, Optional.empty());
    }

    /**
     * Moves a job to exactly these slots; it grows before it shrinks. The last call counts: an incomplete earlier
     * change is reported as failed, though each of its slots is still reported as bound or released.
     *
     * @param world the machines over which it trains; empty if only on this one
     */
    public void resize(
            JobId id, List<Slot> slotsAfterwards, Batching batching, DecisionId change, Optional<WorldPart> world) {
        List<Slot> all = List.copyOf(slotsAfterwards);
        thread.submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                failNotRunning(id, change);
            } else if (!isKnown(job, change, all)) {
                job.resize(all, batching, change, world);
                advance(job);
            }
        });
    }

    /** Whether a job has a change already. When a lease ends, a job leaves slots without another change. */
    private static boolean isKnown(Job job, DecisionId change, List<Slot> slots) {
        JobTarget target = job.target();
        return target.change().equals(change) && slots.containsAll(target.slots());
    }

    /** Kills the job's remaining processes in these slots. */
    public void force(JobId id, Collection<GpuId> gpus) {
        List<GpuId> all = List.copyOf(gpus);
        thread.submit(() -> {
            Job job = jobs.get(id);
            if (job != null) {
                job.force(all);
                look();
            }
        });
    }

    /** Ends a job after its current step, with a checkpoint if it keeps one. */
    public void stop(JobId id, DecisionId change) {
        thread.submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                failNotRunning(id, change);
            } else if (!job.target().isStopping()) {
                job.stop(change);
                advance(job);
            }
        });
    }

    private void failNotRunning(JobId id, DecisionId change) {
        listener.failed(id, change, "job %s does not run on this node".formatted(id), false);
    }

    /** The running tenants, by job name. */
    public List<Running> running() {
        return thread.ask(() -> jobs.values().stream().map(JobHost::running).toList());
    }

    private static Running running(Job job) {
        JobTarget target = job.target();
        return new Running(
                job.id(),
                target.slots(),
                target.bound(),
                job.workers().occupied(),
                target.change(),
                target.isSettled());
    }

    /** Releases the directory; jobs continue to run. */
    @Override
    public void close() {
        server.close();
        try {
            thread.close();
            directory.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        connections.close();
    }

    private void look() {
        long now = shared.nanoClock().getAsLong();
        for (Job job : List.copyOf(jobs.values())) {
            try {
                job.look(now);
                advance(job);
            } catch (RuntimeException e) {
                errors.error("checking job %s failed; other jobs are not affected".formatted(job.id()), e);
            }
        }
    }

    private void advance(Job job) {
        job.advance();
        if (job.isOver()) {
            jobs.remove(job.id());
        }
    }

    private void heard(WorkerServer.Connection from, Frames.Frame frame) {
        Optional<Worker> known = connections.worker(from);
        if (known.isEmpty()) {
            connections
                    .greet(from, frame, jobs.values())
                    .ifPresent(worker -> jobOf(worker).ifPresent(job -> heard(job, worker, "hello", frame)));
            return;
        }
        jobOf(known.get()).ifPresent(job -> {
            switch (frame.type()) {
                case "store" ->
                    job.askStore(
                            frame.message(),
                            frame.body(),
                            new StoreAnswer(from, frame.message().path("id").asLong()));
                case "progress" -> listener.progress(job.id(), StepReport.of(frame.message()));
                default -> heard(job, known.get(), frame.type(), frame);
            }
        });
    }

    private void heard(Job job, Worker worker, String type, Frames.Frame frame) {
        job.heard(worker, type, frame.message());
        advance(job);
    }

    private Optional<Job> jobOf(Worker worker) {
        return jobs.values().stream()
                .filter(job -> job.workers().contains(worker))
                .findFirst();
    }

    private void closed(WorkerServer.Connection connection) {
        if (connections.forget(connection).isEmpty() || thread.isClosed()) {
            return;
        }
        // The worker is probably dying: peers wait for it in a collective.
        for (int millis : LOOK_AFTER_CLOSE_MILLIS) {
            thread.submitLater(this::look, millis);
        }
    }

    private final class Listening implements WorkerServer.Ears {
        @Override
        public void heard(WorkerServer.Connection from, Frames.Frame frame) {
            thread.submit(() -> JobHost.this.heard(from, frame));
        }

        @Override
        public void closed(WorkerServer.Connection connection) {
            thread.submit(() -> JobHost.this.closed(connection));
        }
    }
}
