package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
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
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
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

    private static final String SOCKET = "jobs.sock";
    private static final long LOOK_MILLIS = 50;
    private static final List<Integer> LOOK_AFTER_CLOSE_MILLIS = List.of(1, 3, 6, 10, 20, 30);

    private final Path directory;
    private final Job.Shared shared;
    private final JobListener listener;
    private final FileChannel lockFile;
    private final WorkerServer server;
    private final ScheduledExecutorService events = Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "jobs");
        thread.setDaemon(true);
        return thread;
    });

    private final ErrorLog errors = new ErrorLog(LOG);
    private final Map<JobId, Job> jobs = new TreeMap<>();
    private final Map<WorkerServer.Connection, Worker> greeted = new HashMap<>();

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

    private JobHost(Path directory, CleanEnvironment environment, JobListener listener, FileChannel lockFile) {
        this.directory = directory;
        this.shared = new Job.Shared(directory.resolve(SOCKET), environment);
        this.listener = listener;
        this.lockFile = lockFile;
        adopt();
        server = new WorkerServer(shared.socket(), new Listening());
        var unused = events.scheduleWithFixedDelay(guarded(this::look), 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Opens a host whose workers inherit of this process's environment what needs not be named. */
    public static JobHost open(Path directory, JobListener listener) {
        return open(directory, CleanEnvironment.ofThisProcess(), listener);
    }

    /** Why no host can be opened on a directory, with the way out. */
    public static Optional<String> complaint(Path directory) {
        return WorkerServer.complaint(directory.toAbsolutePath().resolve(SOCKET));
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
        try {
            PrivateFiles.directory(directory);
            PrivateFiles.directory(directory.resolve("jobs"));
            FileChannel file =
                    FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = file.tryLock();
            if (lock == null) {
                file.close();
                throw new IllegalStateException(
                        "%s is in use by another node process; end it, or use another directory".formatted(directory));
            }
            return opened(directory.toAbsolutePath(), environment, listener, file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot use %s for jobs".formatted(directory), e);
        }
    }

    private static JobHost opened(
            Path directory, CleanEnvironment environment, JobListener listener, FileChannel lockFile)
            throws IOException {
        try {
            return new JobHost(directory, environment, listener, lockFile);
        } catch (RuntimeException e) {
            lockFile.close();
            throw e;
        }
    }

    /** Starts a job; does nothing but resize it if it is there already, as after a restart of the caller. */
    public void start(JobId id, JobProgram program, List<Slot> slots, Batching batching, DecisionId change) {
        List<Slot> all = List.copyOf(slots);
        submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                Optional<String> complaint = JobHome.complaint(id);
                if (complaint.isPresent()) {
                    listener.failed(id, change, complaint.get());
                    listener.exited(id, Job.CANNOT_START, List.of(complaint.get()));
                    return;
                }
                job = make(id, program, batching, change, JobHome.of(directory.resolve("jobs"), id));
                jobs.put(id, job);
                job.settled = true; // nothing before it is superseded
            } else if (job.change.equals(change)) {
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
        submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                listener.failed(id, change, "job %s does not run on this node".formatted(id));
            } else if (!job.change.equals(change)) {
                job.resize(all, batching, change);
                advance(job);
            }
        });
    }

    /** Kills what a job still has in these slots. */
    public void force(JobId id, Collection<GpuId> gpus) {
        List<GpuId> all = List.copyOf(gpus);
        submit(() -> {
            Job job = jobs.get(id);
            if (job != null) {
                job.force(all);
                look();
            }
        });
    }

    /** Ends a job after the step under way, with a checkpoint where it keeps one. */
    public void stop(JobId id, DecisionId change) {
        submit(() -> {
            Job job = jobs.get(id);
            if (job == null) {
                listener.failed(id, change, "job %s does not run on this node".formatted(id));
            } else if (!job.stopping) {
                job.stop(change);
                advance(job);
            }
        });
    }

    /** What runs now, by name of the job. */
    public List<Running> running() {
        return ask(() -> jobs.values().stream()
                .map(job -> new Running(
                        job.id,
                        job.wanted.values().stream().map(Job.Wanted::slot).toList(),
                        job.wanted.values().stream()
                                .filter(Job.Wanted::bound)
                                .map(Job.Wanted::slot)
                                .toList(),
                        job.workers.values().stream()
                                .flatMap(worker -> worker.slots.stream())
                                .toList(),
                        job.change,
                        job.settled))
                .toList());
    }

    /** Lets go of the directory; jobs run on. */
    @Override
    public void close() {
        server.close();
        events.shutdownNow();
        try {
            events.awaitTermination(5, TimeUnit.SECONDS);
            lockFile.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.warn("the lock of {} does not close", directory, e);
        }
        greeted.keySet().forEach(WorkerServer.Connection::close);
    }

    private Job make(JobId id, JobProgram program, Batching batching, DecisionId change, Path home) {
        try {
            PrivateFiles.directory(home);
        } catch (IOException e) {
            LOG.warn("{}: {} cannot be made, and is tried again: {}", id, home, e.toString());
        }
        return program.mode() == JobProgram.Mode.AFE
                ? new ElasticJob(id, program, batching, change, home, shared, listener)
                : new RestartedJob(id, program, batching, change, home, shared, listener);
    }

    /** Takes over jobs wherever they are: up to version 0.1 a job's name was its directory's, which {@code .} and {@code ..} left. */
    private void adopt() {
        List<Path> homes = new ArrayList<>(List.of(directory.resolve("jobs"), directory));
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory.resolve("jobs"))) {
            all.forEach(homes::add);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the jobs in " + directory, e);
        }
        for (Path home : homes) {
            Path file = home.resolve(Job.FILE);
            if (Files.exists(file)) {
                adopt(home, file);
            }
        }
    }

    private void adopt(Path home, Path file) {
        try {
            adopt(home, JobFile.read(file));
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

    /** Whether a worker that was started in a job's directory lives. */
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
        LOG.error("{} cannot be read, and nothing of its job runs; it is set aside as {}", file, aside, why);
        try {
            Files.move(file, aside, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot move %s; remove it".formatted(file), e);
        }
    }

    private void adopt(Path home, JobFile file) {
        Job job = make(
                new JobId(file.job()),
                file.program().program(),
                file.batching(),
                DecisionId.parse(file.lastChange().change()),
                home);
        if (job instanceof ElasticJob elastic) {
            elastic.adopt(file);
        } else if (job instanceof RestartedJob restarted) {
            restarted.adopt(file);
        }
        jobs.put(job.id, job);
        LOG.info("{}: taken over with {}", job.id, job.workers.keySet());
    }

    private void look() {
        long now = System.nanoTime();
        for (Job job : List.copyOf(jobs.values())) {
            try {
                job.look(now);
                if (job instanceof ElasticJob elastic) {
                    elastic.expireStore(now);
                }
                advance(job);
            } catch (RuntimeException e) {
                errors.error("looking after job %s failed; the others are looked after".formatted(job.id), e);
            }
        }
    }

    private void advance(Job job) {
        job.advance();
        if (job.isOver()) {
            jobs.remove(job.id);
        }
    }

    private void heard(WorkerServer.Connection from, Frames.Frame frame) {
        Worker worker = greeted.get(from);
        if (worker == null) {
            greet(from, frame);
            return;
        }
        Job job = jobOf(worker).orElse(null);
        if (job == null) {
            return;
        }
        switch (frame.type()) {
            case "store" -> askStore(job, from, frame);
            case "progress" -> listener.progress(job.id, report(frame.message()));
            default -> {
                job.heard(worker, frame.type(), frame.message());
                advance(job);
            }
        }
    }

    private void greet(WorkerServer.Connection from, Frames.Frame frame) {
        JsonNode hello = frame.message();
        int version = hello.path("version").asInt();
        String name = hello.path("worker").asText();
        Optional<Worker> known = jobs.values().stream()
                .flatMap(job -> Optional.ofNullable(job.workers.get(name)).stream())
                .filter(worker -> worker.token.equals(hello.path("token").asText()))
                .findFirst();
        ObjectNode answer = Frames.JSON.createObjectNode().put("version", VERSION);
        if (!frame.type().equals("hello") || version != VERSION || known.isEmpty()) {
            String why = version == VERSION
                    ? "no worker %s with this token is expected here".formatted(name)
                    : "the worker speaks version %d of the protocol, but this node process speaks %d; use the lendstream_afe that came with it"
                            .formatted(version, VERSION);
            LOG.warn("a worker is refused: {}", why);
            from.send(answer.put("type", "refused").put("why", why), new byte[0]);
            from.close();
            return;
        }
        Worker worker = known.get();
        from.send(answer.put("type", "welcome"), new byte[0]);
        worker.connection = Optional.of(from);
        greeted.put(from, worker);
        jobOf(worker).ifPresent(job -> {
            job.heard(worker, "hello", hello);
            advance(job);
        });
    }

    private static void askStore(Job job, WorkerServer.Connection from, Frames.Frame frame) {
        long id = frame.message().path("id").asLong();
        var answer = new EpochStore.Answer() {
            @Override
            public void value(byte[] value) {
                from.send(answer(id), value);
            }

            @Override
            public void error(String why, boolean late) {
                from.send(answer(id).put("error", why).put("late", late), new byte[0]);
            }
        };
        if (job instanceof ElasticJob elastic) {
            elastic.askStore(frame.message(), frame.body(), answer);
        } else {
            answer.error("a job that is restarted has no store here", false);
        }
    }

    private static ObjectNode answer(long id) {
        return Frames.JSON.createObjectNode().put("type", "answer").put("id", id);
    }

    private static StepReport report(JsonNode message) {
        return new StepReport(
                message.path("step").asLong(),
                message.path("progress").asDouble(),
                message.path("totalProgress").asDouble(),
                message.path("replicas").asInt(),
                message.path("localBatch").asInt(),
                message.path("accumulation").asInt(),
                message.path("stepSeconds").asDouble(),
                message.path("syncSeconds").asDouble(),
                number(message.path("gradientSquared")),
                number(message.path("gradientVariance")));
    }

    private static Optional<Double> number(JsonNode value) {
        return value.isNumber() ? Optional.of(value.asDouble()) : Optional.empty();
    }

    private void closed(WorkerServer.Connection connection) {
        Worker worker = greeted.remove(connection);
        if (worker == null || events.isShutdown()) {
            return;
        }
        if (worker.connection.filter(connection::equals).isPresent()) {
            worker.connection = Optional.empty();
        }
        // It is dying, most likely: peers wait for it in a collective.
        for (int millis : LOOK_AFTER_CLOSE_MILLIS) {
            var unused = events.schedule(guarded(this::look), millis, TimeUnit.MILLISECONDS);
        }
    }

    private Optional<Job> jobOf(Worker worker) {
        return jobs.values().stream()
                .filter(job -> job.workers.containsValue(worker))
                .findFirst();
    }

    private final class Listening implements WorkerServer.Ears {
        @Override
        public void heard(WorkerServer.Connection from, Frames.Frame frame) {
            submit(() -> JobHost.this.heard(from, frame));
        }

        @Override
        public void closed(WorkerServer.Connection connection) {
            submit(() -> JobHost.this.closed(connection));
        }
    }

    private void submit(Runnable task) {
        try {
            events.execute(guarded(task));
        } catch (RejectedExecutionException e) {
            LOG.debug("the host is closed", e);
        }
    }

    private <T> T ask(Callable<T> question) {
        try {
            return events.submit(question).get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the host cannot say what runs", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** A bug in one event must not end the thread that looks after all jobs. */
    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                errors.error("a job's event failed: " + e, e);
            }
        };
    }
}
