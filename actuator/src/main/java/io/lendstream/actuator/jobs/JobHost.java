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
 * Starts, resizes and stops training jobs on this node. Calls return at once; what becomes of them is told to the listener.
 *
 * <p>What runs is on disk before it runs: a host that is opened on the directory of one that was killed takes its workers over,
 * which have trained on meanwhile. Closing a host leaves them running too.
 */
public final class JobHost implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(JobHost.class);
    /** Of the protocol in {@code docs/afe.md}. */
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
     * What runs of a job.
     *
     * @param wanted slots that it is to run in
     * @param bound those of them in which it has trained
     * @param occupied slots in which processes of it are
     * @param change the last change asked for
     * @param settled whether that has been applied
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

    /** Opens a host whose workers inherit of this process's environment what needs not be named. */
    public static JobHost open(Path directory, JobListener listener) {
        return open(directory, CleanEnvironment.ofThisProcess(), listener);
    }

    /** Why no host can be opened on a directory, with the way out. */
    public static Optional<String> complaint(Path directory) {
        return WorkerServer.complaint(HostDirectory.socket(directory));
    }

    /**
     * Opens a host on a directory that only this user may read; takes over what runs there.
     *
     * @param environment what workers inherit
     * @throws IllegalStateException if another process uses the directory
     * @throws UncheckedIOException if it cannot be used, or a file in it cannot be read while the job that it is about runs
     * @throws IllegalArgumentException where {@link #complaint} has one
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
        LOG.info("{}: taken over with {}", job.id(), job.workers().names());
    }

    private Job make(JobId id, JobProgram program, Batching batching, DecisionId change, Path home) {
        try {
            PrivateFiles.directory(home);
        } catch (IOException e) {
            LOG.warn("{}: {} cannot be made, and is tried again: {}", id, home, e.toString());
        }
        return new Job(id, program, batching, change, home, shared, listener);
    }

    /** Starts a job; does nothing but resize it if it is there already, as after a restart of the caller. */
    public void start(JobId id, JobProgram program, List<Slot> slots, Batching batching, DecisionId change) {
        List<Slot> all = List.copyOf(slots);
        thread.submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                Optional<String> complaint = JobHome.complaint(id);
                if (complaint.isPresent()) {
                    listener.failed(id, change, complaint.get());
                    listener.exited(id, WorkerExit.CANNOT_START, List.of(complaint.get()));
                    return;
                }
                job = make(id, program, batching, change, directory.home(id));
                jobs.put(id, job);
            } else if (job.target().change().equals(change)) {
                return;
            }
            job.resize(all, batching, change);
            advance(job);
        });
    }

    /**
     * Moves a job to exactly these slots, whatever the difference; it grows before it shrinks. The last call counts: one that is
     * not complete yet is reported failed, though each of its slots is still reported bound or released.
     */
    public void resize(JobId id, List<Slot> slotsAfterwards, Batching batching, DecisionId change) {
        List<Slot> all = List.copyOf(slotsAfterwards);
        thread.submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                failNotRunning(id, change);
            } else if (!job.target().change().equals(change)) {
                job.resize(all, batching, change);
                advance(job);
            }
        });
    }

    /** Kills what a job still has in these slots. */
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

    /** Ends a job after the step under way, with a checkpoint where it keeps one. */
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
        listener.failed(id, change, "job %s does not run on this node".formatted(id));
    }

    /** What runs now, by name of the job. */
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

    /** Lets go of the directory; jobs run on. */
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
                errors.error("looking after job %s failed; the others are looked after".formatted(job.id()), e);
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
        // The worker is dying, most likely: peers wait for it in a collective.
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
