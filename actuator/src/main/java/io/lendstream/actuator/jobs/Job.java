package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job on this node: what it is to run on, and its workers. Everything happens on the host's one thread; after each event
 * {@link #advance} does what can be done next.
 */
abstract class Job {
    private static final Logger LOG = LoggerFactory.getLogger(Job.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    static final String FILE = "job.json";
    /** What a shell says of a program that it cannot run. */
    static final int CANNOT_START = 127;

    /** How many workers' logs are kept beside those that run. */
    private static final int OLD_LOGS = 32;

    final JobId id;
    final JobProgram program;
    final JobListener listener;
    final Path directory;

    private final Shared shared;
    private final Failures failures;

    /** Slots that the job is to run in, each with the change that said so. */
    final Map<GpuId, Wanted> wanted = new TreeMap<>();
    /** Slots that it is to leave, or has left without its workers being gone. */
    final Map<GpuId, Released> releases = new TreeMap<>();

    final Map<String, Worker> workers = new LinkedHashMap<>();

    Batching batching;
    Batching applied;
    DecisionId change;
    long askedNanos;
    boolean settled;
    boolean stopping;
    boolean finished;
    private boolean over;
    /** Whether the file lacks something, because it could not be written. */
    private boolean unsaved;

    private int lastCode;
    private List<String> lastLines = List.of();

    /** @param bound whether it was reported that a worker computes there */
    record Wanted(Slot slot, DecisionId addedBy, boolean bound) {}

    record Released(Slot slot, DecisionId change, long askedNanos) {}

    /**
     * What all jobs of a host share.
     *
     * @param socket where workers connect
     * @param environment what workers inherit
     */
    record Shared(Path socket, CleanEnvironment environment) {}

    Job(
            JobId id,
            JobProgram program,
            Batching batching,
            DecisionId change,
            Path directory,
            Shared shared,
            JobListener listener) {
        this.id = id;
        this.program = program;
        this.batching = batching;
        this.applied = batching;
        this.change = change;
        this.askedNanos = System.nanoTime();
        this.directory = directory;
        this.shared = shared;
        this.failures = new Failures(program.maxRestarts());
        this.listener = listener;
    }

    /** Does what can be done next, which may be nothing. */
    abstract void advance();

    abstract void heard(Worker worker, String type, JsonNode message);

    /** Nothing of a worker is left; it is no longer among the job's workers. */
    abstract void gone(Worker worker);

    /** Whether a worker can simply be ended when its slot is taken, because it does not train yet. */
    abstract boolean isDispensable(Worker worker);

    abstract JobFile.@org.jspecify.annotations.Nullable Pending pending();

    abstract long epoch();

    abstract List<String> members();

    /** The job's workers are to be where {@code slots} are, and nowhere else. */
    final void resize(List<Slot> slots, Batching nextBatching, DecisionId nextChange) {
        if (!settled && !nextChange.equals(change)) {
            listener.failed(id, change, "superseded by " + nextChange);
        }
        settled = false;
        change = nextChange;
        batching = nextBatching;
        askedNanos = System.nanoTime();
        failures.clear();
        Map<GpuId, Slot> next = new TreeMap<>();
        slots.forEach(slot -> next.put(slot.gpu(), slot));
        for (Wanted each : List.copyOf(wanted.values())) {
            if (!next.containsKey(each.slot.gpu())) {
                wanted.remove(each.slot.gpu());
                releases.put(each.slot.gpu(), new Released(each.slot, nextChange, askedNanos));
            }
        }
        next.forEach((gpu, slot) -> wanted.computeIfAbsent(gpu, any -> new Wanted(slot, nextChange, false)));
        save();
        for (Worker worker : List.copyOf(workers.values())) {
            if (worker.slots.stream().anyMatch(this::isReleased) && isDispensable(worker)) {
                worker.process.kill();
            }
        }
        reportEmptySlots();
    }

    final void stop(DecisionId lastChange) {
        stopping = true;
        resize(List.of(), batching, lastChange);
    }

    final void force(Collection<GpuId> gpus) {
        for (Worker worker : List.copyOf(workers.values())) {
            if (worker.slots.stream().anyMatch(slot -> gpus.contains(slot.gpu()))) {
                worker.wasForced = true;
                worker.process.kill();
            }
        }
    }

    final boolean isReleased(Slot slot) {
        return releases.containsKey(slot.gpu());
    }

    final boolean isWanted(Worker worker) {
        return worker.slots.stream().allMatch(slot -> wanted.containsKey(slot.gpu()) && !isReleased(slot));
    }

    final boolean isOver() {
        return over;
    }

    /** Looks after processes: notices ends, and ends what has overstayed. */
    final void look(long nowNanos) {
        if (unsaved) {
            save();
        }
        for (Worker worker : List.copyOf(workers.values())) {
            if (worker.deadlineNanos != Long.MAX_VALUE && nowNanos - worker.deadlineNanos >= 0) {
                worker.wasForced = true;
                worker.process.kill();
            }
            if (worker.process.isGone()) {
                workers.remove(worker.name);
                lastCode = worker.process.exitCode();
                lastLines = worker.process.lastLines();
                LOG.info("{}: worker {} is gone, exit code {}", id, worker, lastCode);
                gone(worker);
                for (Slot slot : worker.slots) {
                    reportReleased(slot, worker.wasForced);
                }
                save();
            }
        }
    }

    /** Whether a slot's workers have failed so often that no more are started. */
    final boolean isGivenUp(Slot slot) {
        return failures.isGivenUp(slot.gpu());
    }

    final void countFailure(Worker worker) {
        for (Slot slot : worker.slots) {
            int failed = failures.ended(slot.gpu());
            if (isGivenUp(slot)) {
                listener.failed(
                        id,
                        change,
                        "workers in %s failed %d times, the last with exit code %d; none is started there until the next change"
                                .formatted(slot.gpu(), failed, worker.process.exitCode()));
            }
        }
    }

    final Duration restartDelay(Slot slot) {
        return failures.restartDelay(slot.gpu());
    }

    /** Whether the next start in a slot has to wait, because the last one did not succeed. */
    final boolean mustWait(Slot slot) {
        return failures.mustWait(slot.gpu(), System.nanoTime());
    }

    /**
     * Starts a worker; returns whether that succeeded. One that cannot be started is counted, and reported when it is given up.
     */
    final boolean launch(List<Slot> slots, List<String> command, Map<String, String> more) {
        return launch(slots, slots, command, more);
    }

    /** The same where all of {@code counted} wait for this worker. */
    final boolean launch(List<Slot> slots, List<Slot> counted, List<String> command, Map<String, String> more) {
        String name = "%s-%s".formatted(JobHome.label(id), random(6));
        try {
            Worker worker = started(name, slots, command, more);
            workers.put(name, worker);
            slots.forEach(slot -> failures.started(slot.gpu()));
            return true;
        } catch (UncheckedIOException e) {
            unstarted(name, counted, false, String.valueOf(e.getCause()));
        } catch (IllegalArgumentException e) {
            unstarted(name, counted, true, String.valueOf(e.getMessage()));
        }
        save();
        return false;
    }

    /** Counts workers of slots that cannot be started. */
    private void unstarted(String name, List<Slot> slots, boolean isHopeless, String why) {
        lastCode = CANNOT_START;
        lastLines = List.of("cannot be started: " + why);
        forget(directoryOf(name));
        for (Slot slot : slots) {
            failures.unstarted(slot.gpu(), isHopeless, System.nanoTime());
        }
        boolean isGivenUp = slots.stream().anyMatch(this::isGivenUp);
        LOG.warn("{}: worker {} cannot be started{}: {}", id, name, isGivenUp ? "" : " yet", why);
        if (isGivenUp) {
            listener.failed(id, change, "workers in %s cannot be started: %s".formatted(gpus(slots), why));
        }
    }

    private static List<GpuId> gpus(List<Slot> slots) {
        return slots.stream().map(Slot::gpu).toList();
    }

    /** What it is and where is on disk before it runs, so that no node process can miss it. */
    private Worker started(String name, List<Slot> slots, List<String> command, Map<String, String> more) {
        JobHome.complaint(id).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        try {
            PrivateFiles.directory(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a directory for job " + id, e);
        }
        String token = random(16);
        DecisionId cause = Optional.ofNullable(wanted.get(slots.get(0).gpu()))
                .map(Wanted::addedBy)
                .orElse(change);
        List<JobFile.WorkerEntry> entries = new ArrayList<>(entries());
        entries.add(entry(name, token, slots, cause));
        file(entries).write(directory.resolve(FILE));
        Map<String, String> environment = new TreeMap<>(program.environment());
        environment.putIfAbsent("GLOO_SOCKET_IFNAME", "lo");
        environment.put(
                "CUDA_VISIBLE_DEVICES",
                String.join(",", slots.stream().map(Slot::device).toList()));
        environment.put("LENDSTREAM_AFE_SOCKET", shared.socket.toString());
        environment.put("LENDSTREAM_AFE_TOKEN", token);
        environment.put("LENDSTREAM_LOCAL_BATCH", Integer.toString(batching.localBatch()));
        environment.put("LENDSTREAM_ACCUMULATION", Integer.toString(batching.accumulation()));
        environment.put("LENDSTREAM_LEARNING_RATE_SCALE", Double.toString(batching.learningRateScale()));
        environment.putAll(more);
        forgetOldLogs();
        var process = WorkerProcess.start(
                name, directoryOf(name), command, shared.environment, environment, Path.of(program.directory()));
        return new Worker(name, token, slots, cause, process);
    }

    /** All that the job had on this node is gone, or will not be started. */
    final void end(int code) {
        over = true;
        try {
            Files.deleteIfExists(directory.resolve(FILE));
        } catch (IOException e) {
            LOG.error(
                    "{} is over, but {} cannot be removed; remove it, or the job starts again",
                    id,
                    directory.resolve(FILE),
                    e);
        }
        reportEmptySlots();
        listener.exited(id, code, lastLines);
    }

    final int lastCode() {
        return lastCode;
    }

    final void settle(ChangeTimings timings) {
        settled = true;
        save();
        listener.applied(id, change, timings);
    }

    /** Tells of slots in which workers compute for the first time. */
    final void reportBound(List<Worker> newcomers) {
        Map<DecisionId, List<Slot>> slots = new TreeMap<>();
        for (Worker worker : newcomers) {
            for (Slot slot : worker.slots) {
                Wanted known = wanted.get(slot.gpu());
                if (known != null && !known.bound) {
                    wanted.put(slot.gpu(), new Wanted(slot, known.addedBy, true));
                    slots.computeIfAbsent(known.addedBy, any -> new ArrayList<>())
                            .add(slot);
                }
            }
        }
        save();
        slots.forEach((addedBy, all) -> listener.bound(id, all, addedBy, ChangeTimings.since(askedNanos)));
    }

    /** Writes what must be known of the job; where that fails, as on a full disk, again at the next look. */
    final void save() {
        if (over) {
            return;
        }
        try {
            file(entries()).write(directory.resolve(FILE));
            unsaved = false;
        } catch (UncheckedIOException e) {
            if (!unsaved) {
                LOG.error("{}: its state cannot be written, and is tried again: {}", id, String.valueOf(e.getCause()));
            }
            unsaved = true;
        }
    }

    final Path directoryOf(String worker) {
        return directory.resolve("workers").resolve(worker);
    }

    private void forgetOldLogs() {
        try (Stream<Path> all = Files.list(directory.resolve("workers"))) {
            List<Path> old = all.filter(
                            each -> !workers.containsKey(each.getFileName().toString()))
                    .sorted(Comparator.comparingLong(
                                    (Path each) -> each.toFile().lastModified())
                            .reversed())
                    .skip(OLD_LOGS)
                    .toList();
            old.forEach(this::forget);
        } catch (NoSuchFileException e) {
            LOG.debug("{} has had no worker yet", id);
        } catch (IOException e) {
            LOG.warn("{}: old logs cannot be removed: {}", id, e.getMessage());
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
            LOG.warn("{}: {} cannot be removed: {}", id, worker, e.getMessage());
        }
    }

    /** Slots that are to be released and have no worker are released. */
    private void reportEmptySlots() {
        for (Released each : List.copyOf(releases.values())) {
            boolean used = workers.values().stream()
                    .anyMatch(worker ->
                            worker.slots.stream().anyMatch(slot -> slot.gpu().equals(each.slot.gpu())));
            if (!used) {
                reportReleased(each.slot, false);
            }
        }
    }

    private void reportReleased(Slot slot, boolean forced) {
        Released release = releases.remove(slot.gpu());
        if (release != null) {
            listener.released(id, List.of(slot), release.change, forced, ChangeTimings.since(release.askedNanos));
        }
    }

    private List<JobFile.WorkerEntry> entries() {
        return workers.values().stream()
                .map(worker -> entry(worker.name, worker.token, worker.slots, worker.cause))
                .toList();
    }

    private static JobFile.WorkerEntry entry(String name, String token, List<Slot> slots, DecisionId cause) {
        return new JobFile.WorkerEntry(
                name,
                token,
                cause.toString(),
                slots.stream()
                        .map(slot -> new JobFile.WorkerSlot(slot.gpu().value(), slot.device()))
                        .toList());
    }

    private JobFile file(List<JobFile.WorkerEntry> entries) {
        return new JobFile(
                id.value(),
                JobFile.Program.of(program),
                wanted.values().stream()
                        .map(each -> new JobFile.WantedSlot(
                                each.slot.gpu().value(), each.slot.device(), each.addedBy.toString(), each.bound))
                        .toList(),
                batching,
                applied,
                new JobFile.LastChange(change.toString(), askedNanos, settled, stopping),
                releases.values().stream()
                        .map(each -> new JobFile.Release(
                                each.slot.gpu().value(), each.slot.device(), each.change.toString(), each.askedNanos))
                        .toList(),
                entries,
                new JobFile.Membership(epoch(), members(), pending()));
    }

    /** Takes over what another node process has left, workers included. */
    final void restore(JobFile file) {
        applied = file.applied();
        askedNanos = file.lastChange().askedNanos();
        settled = file.lastChange().settled();
        stopping = file.lastChange().stopping();
        for (JobFile.WantedSlot each : file.wanted()) {
            Slot slot = new Slot(new GpuId(each.gpu()), each.device());
            wanted.put(slot.gpu(), new Wanted(slot, DecisionId.parse(each.addedBy()), each.bound()));
        }
        for (JobFile.Release each : file.releases()) {
            Slot slot = new Slot(new GpuId(each.gpu()), each.device());
            releases.put(slot.gpu(), new Released(slot, DecisionId.parse(each.change()), each.askedNanos()));
        }
        for (JobFile.WorkerEntry each : file.workers()) {
            List<Slot> slots = each.slots().stream()
                    .map(slot -> new Slot(new GpuId(slot.gpu()), slot.device()))
                    .toList();
            DecisionId cause = DecisionId.parse(each.cause());
            var process = WorkerProcess.adopt(each.name(), directoryOf(each.name()));
            workers.put(each.name(), new Worker(each.name(), each.token(), slots, cause, process));
        }
    }

    private static String random(int bytes) {
        byte[] value = new byte[bytes];
        RANDOM.nextBytes(value);
        return HexFormat.of().formatHex(value);
    }
}
