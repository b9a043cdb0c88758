package io.lendstream.benchmarks;

import io.lendstream.actuator.jobs.Batching;
import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.actuator.jobs.JobHost;
import io.lendstream.actuator.jobs.JobListener;
import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.JobProgram.Mode;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.actuator.jobs.StepReport;
import io.lendstream.benchmarks.ElasticTraining.Repetitions;
import io.lendstream.benchmarks.ResizeTimes.AskedChange;
import io.lendstream.benchmarks.WorkerNotes.Noted;
import io.lendstream.benchmarks.WorkerNotes.Step;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One mode of {@link ElasticTraining} from start to stop. Resizes a job between four and two processes, and kills its
 * ranks if the mode recovers from that.
 */
final class ElasticRun implements AutoCloseable, JobListener {
    private static final JobId JOB = new JobId("bench");
    private static final Batching BATCHING = new Batching(1, 1, 1);
    /** The most processes of the job. */
    static final int MOST = 4;

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Mode mode;
    private final Repetitions repetitions;
    private final List<Slot> four;
    private final List<Slot> two;
    private final String name;
    private final Path state;
    private final Path log;
    private final JobHost host;
    private final List<AskedChange> asked = new ArrayList<>();
    private final WorkerNotes notes;
    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private final Map<DecisionId, ChangeTimings> released = new TreeMap<>();
    private final Map<DecisionId, ChangeTimings> applied = new TreeMap<>();
    private int changes;
    private int recoveries;
    private boolean exited;

    /** The recovery from the death of a worker: time to the first completed step, and completed steps lost. */
    private record CrashRecovery(double seconds, long stepsLost) {}

    ElasticRun(Mode mode, Repetitions repetitions) {
        this.mode = mode;
        this.repetitions = repetitions;
        this.four = slots(MOST, repetitions.gpus());
        this.two = four.subList(0, 2);
        this.name = mode.name().toLowerCase(Locale.ROOT);
        try {
            state = Files.createTempDirectory("afe");
            log = Files.createTempDirectory(
                    Files.isDirectory(Path.of("/dev/shm")) ? Path.of("/dev/shm") : state, "afe");
        } catch (IOException e) {
            throw new UncheckedIOException("no place for the benchmark's files", e);
        }
        notes = new WorkerNotes(log);
        host = JobHost.open(state, this);
    }

    /** Measures the mode; returns figures by name. */
    Map<String, Double> measure() {
        int resizes = repetitions.resizes();
        System.out.printf("%s: %d resizes between four and two processes%n", name, resizes);
        long began = System.nanoTime();
        DecisionId first = next();
        host.start(JOB, program(), four, BATCHING, first);
        await(() -> applied.containsKey(first), "the start");
        metrics.put(
                name + "_start_s",
                ResizeTimes.seconds(Objects.requireNonNull(applied.get(first)).sinceAsked()));
        awaitSteps(ResizeTimes.STEPS);
        for (int i = 0;
                i < resizes && System.nanoTime() - began < repetitions.cap().toNanos();
                i++) {
            boolean shrinks = i % 2 == 0;
            var change = new AskedChange(shrinks ? "shrink" : "grow", System.nanoTime(), next());
            asked.add(change);
            host.resize(JOB, shrinks ? two : four, BATCHING, change.id());
            await(() -> applied.containsKey(change.id()), change.kind());
            awaitSteps(ResizeTimes.STEPS);
            if (i % 10 == 9) {
                System.out.printf(
                        "%s: %d resizes after %d s%n", name, i + 1, (System.nanoTime() - began) / 1_000_000_000);
            }
        }
        report();
        if (mode == Mode.AFE) {
            crash();
        }
        host.stop(JOB, next());
        await(() -> exited, "the end");
        return metrics;
    }

    private JobProgram program() {
        JobProgram program = TrainingProgram.of(mode, log, repetitions.crashes(), repetitions.gpus() > 0);
        return repetitions.shares() ? program.with(Map.of("LENDSTREAM_AFE_BACKEND", "gloo")) : program;
    }

    private void report() {
        ResizeTimes.of(notes.steps(), asked, released).forEach((what, all) -> {
            double p50 = Quantiles.of(all, 0.5);
            double p99 = Quantiles.of(all, 0.99);
            double max = Quantiles.of(all, 1);
            metrics.put(name + "_" + what + "_n", (double) all.size());
            metrics.put(name + "_" + what + "_p50_s", p50);
            metrics.put(name + "_" + what + "_p99_s", p99);
            metrics.put(name + "_" + what + "_max_s", max);
            System.out.printf(
                    Locale.ROOT,
                    "%-9s %-24s n %3d  p50 %7.3f s  p99 %7.3f s  max %7.3f s%n",
                    name,
                    what,
                    all.size(),
                    p50,
                    p99,
                    max);
        });
    }

    /** Kills one rank after another. */
    private void crash() {
        List<Double> resumed = new ArrayList<>();
        long lostMost = 0;
        for (int i = 0; i < repetitions.crashes(); i++) {
            awaitSteps(ResizeTimes.STEPS);
            awaitFourSteps();
            CrashRecovery recovery = crash(i % 4);
            resumed.add(recovery.seconds);
            lostMost = Math.max(lostMost, recovery.stepsLost);
        }
        if (!resumed.isEmpty()) {
            double p50 = Quantiles.of(resumed, 0.5);
            double p99 = Quantiles.of(resumed, 0.99);
            metrics.put("afe_crash_n", (double) resumed.size());
            metrics.put("afe_crash_resume_p50_s", p50);
            metrics.put("afe_crash_resume_p99_s", p99);
            metrics.put("afe_crash_steps_lost_max", (double) lostMost);
            System.out.printf(
                    Locale.ROOT,
                    "afe       kill -9 to the first step completed after: n %d  p50 %.3f s  p99 %.3f s; completed steps lost at most %d%n",
                    resumed.size(),
                    p50,
                    p99,
                    lostMost);
        }
    }

    private CrashRecovery crash(int rank) {
        long victim = processOf(rank);
        long known = notes.lastStep();
        long killed = System.nanoTime();
        int before = recoveries;
        ProcessHandle.of(victim).ifPresent(ProcessHandle::destroyForcibly);
        await(() -> recoveries > before, "the recovery from the loss of rank " + rank);
        List<Noted> after = notes.all();
        long membership = after.stream().mapToLong(Noted::membership).max().orElseThrow();
        Noted first = after.stream()
                .filter(each -> each.nanos() > killed && each.membership() == membership)
                .min(Comparator.comparingLong(Noted::nanos))
                .orElseThrow();
        long furthest = after.stream()
                .filter(each -> each.membership() < membership)
                .mapToLong(Noted::step)
                .max()
                .orElse(known);
        return new CrashRecovery((first.nanos() - killed) / 1e9, furthest + 1 - first.step());
    }

    private void awaitFourSteps() {
        await(
                () -> {
                    List<Step> steps = notes.steps();
                    Step last = steps.get(steps.size() - 1);
                    return last.world() == 4 && last.allTookSamples();
                },
                "four workers");
    }

    /** The worker that logged the last step as this rank. */
    private long processOf(int rank) {
        List<Long> found = new ArrayList<>();
        await(
                () -> {
                    notes.processesOf(rank).forEach(found::add);
                    return !found.isEmpty();
                },
                "a step of rank " + rank);
        return found.get(found.size() - 1);
    }

    private void awaitSteps(int more) {
        long until = notes.lastStep() + more;
        await(() -> notes.lastStep() >= until, "%d more steps".formatted(more));
    }

    private synchronized void await(BooleanSupplier condition, String what) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > until) {
                throw new IllegalStateException("%s: waited %s in vain for %s; the job still runs, its logs are in %s"
                        .formatted(name, PATIENCE, what, state));
            }
            try {
                wait(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
    }

    @Override
    public void close() {
        host.close();
        if (!exited) {
            return; // kept for the analysis of the failure
        }
        for (Path each : List.of(log, state)) {
            try (Stream<Path> all = Files.walk(each)) {
                all.sorted(Comparator.reverseOrder())
                        .forEach(path -> path.toFile().delete());
            } catch (IOException e) {
                System.err.println(each + " cannot be removed: " + e.getMessage());
            }
        }
    }

    @Override
    public void bound(JobId job, List<Slot> slots, DecisionId change, ChangeTimings timings) {}

    @Override
    public synchronized void released(
            JobId job, List<Slot> slots, DecisionId change, boolean forced, ChangeTimings timings) {
        released.merge(
                change, timings, (one, other) -> one.sinceAsked().compareTo(other.sinceAsked()) > 0 ? one : other);
    }

    @Override
    public synchronized void applied(JobId job, DecisionId change, ChangeTimings timings) {
        applied.put(change, timings);
        notifyAll();
    }

    @Override
    public void failed(JobId job, DecisionId change, String why, boolean ofProgram) {
        System.err.printf("%s: %s failed: %s%n", name, change, why);
    }

    @Override
    public synchronized void recovered(JobId job, List<Slot> lost, ChangeTimings timings) {
        recoveries++;
        notifyAll();
    }

    @Override
    public synchronized void exited(JobId job, int code, List<String> lastLines) {
        exited = true;
        if (code != 0) {
            System.err.printf("%s: exit code %d%n%s%n", name, code, String.join("\n", lastLines));
        }
        notifyAll();
    }

    @Override
    public void progress(JobId job, StepReport report) {}

    private DecisionId next() {
        return new DecisionId(new DomainId("bench"), 1, ++changes);
    }

    private static List<Slot> slots(int number, int gpus) {
        return IntStream.range(0, number)
                .mapToObj(i -> new Slot(new GpuId("gpu" + i), Integer.toString(gpus == 0 ? i : i % gpus)))
                .toList();
    }
}
