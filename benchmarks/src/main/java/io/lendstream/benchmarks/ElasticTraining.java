package io.lendstream.benchmarks;

import static io.lendstream.benchmarks.WorkerNotes.medianSeconds;

import io.lendstream.actuator.jobs.Batching;
import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.actuator.jobs.JobHost;
import io.lendstream.actuator.jobs.JobListener;
import io.lendstream.actuator.jobs.JobProgram.Mode;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.actuator.jobs.StepReport;
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
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What resizing a real PyTorch job between four and two processes costs: in place, by restart from a checkpoint in memory, and
 * with torchrun; and what it costs to lose a rank. The model has 101 MB of parameters, and twice that in Adam's state.
 *
 * <p>Pause: end of the last step before to end of the first completed step after, less a median step; of the medians before and
 * after, the shorter. All times are those that the workers note on the machine's monotonic clock, which is also Java's.
 */
final class ElasticTraining implements Bench {
    private static final JobId JOB = new JobId("bench");
    private static final Batching BATCHING = new Batching(1, 1, 1);
    private static final List<Slot> FOUR = slots(4);
    private static final List<Slot> TWO = slots(2);
    /** Steps between changes; their median is that of the size. */
    private static final int STEPS = 6;

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private final int resizes;
    private final int crashes;
    private final Duration cap;
    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private int changes;

    /** @param cap after so long in one mode no further change is begun */
    private ElasticTraining(int resizes, int crashes, Duration cap) {
        this.resizes = resizes;
        this.crashes = crashes;
        this.cap = cap;
    }

    /** Reads {@code [--resizes N] [--crashes N] [--seconds-cap S]}; empty where that is not what the arguments say. */
    static Optional<ElasticTraining> parse(List<String> arguments) {
        Map<String, Integer> options = new TreeMap<>(Map.of("--resizes", 50, "--crashes", 10, "--seconds-cap", 1800));
        for (int i = 0; i < arguments.size(); i += 2) {
            boolean known = options.containsKey(arguments.get(i)) && i + 1 < arguments.size();
            if (!known || !arguments.get(i + 1).matches("\\d{1,5}")) {
                return Optional.empty();
            }
            options.put(arguments.get(i), Integer.parseInt(arguments.get(i + 1)));
        }
        return Optional.of(new ElasticTraining(
                options.getOrDefault("--resizes", 0),
                options.getOrDefault("--crashes", 0),
                Duration.ofSeconds(options.getOrDefault("--seconds-cap", 0))));
    }

    @Override
    public BenchReport measure() {
        needPyTorch();
        for (Mode mode : List.of(Mode.AFE, Mode.RESTART, Mode.TORCHRUN)) {
            try (var run = new Run(mode)) {
                run.measure();
            }
        }
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        reference.put("afe_shrink_pause_p99_s", 0.25);
        reference.put("afe_grow_pause_p99_s", 0.5);
        reference.put("afe_release_beyond_a_step_max_s", 0.3);
        reference.put("afe_crash_resume_p99_s", 3.0);
        reference.put("afe_crash_steps_lost_max", 1.0);
        List<String> misses = Bounds.above(metrics, reference);
        reference.forEach((name, bound) ->
                Optional.ofNullable(metrics.get(name)).ifPresent(value -> ratio.put(name, value / bound)));
        for (String kind : List.of("shrink", "grow")) {
            String name = kind + "_pause_p50_s";
            for (String other : List.of("restart", "torchrun")) {
                Double slow = metrics.get(other + "_" + name);
                Double fast = metrics.get("afe_" + name);
                if (slow != null && fast != null) {
                    String over = "afe_over_" + other + "_" + name;
                    reference.put(over, 0.1);
                    ratio.put(over, fast / slow);
                    misses.addAll(Bounds.above(Map.of(over, fast / slow), Map.of(over, 0.1)));
                }
            }
        }
        return new BenchReport(metrics, reference, ratio, misses);
    }

    /** Ends the benchmark at once where its interpreter has no PyTorch. */
    private static void needPyTorch() {
        boolean has = false;
        try {
            has = new ProcessBuilder(TrainingProgram.interpreter(), "-c", "import torch")
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            // No such interpreter: it has no PyTorch either.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!has) {
            System.err.printf(
                    "afe: %s has no PyTorch; install it (Debian: python3-torch), or name an interpreter that has it in LENDSTREAM_PYTHON_TORCH%n",
                    TrainingProgram.interpreter());
            System.exit(1);
        }
    }

    private record Change(String kind, long askedNanos, DecisionId id) {}

    /** From the death of a worker to the first step that was completed after it, and how many completed steps were lost. */
    private record Recovery(double seconds, long stepsLost) {}

    /** One mode, from start to stop. */
    private final class Run implements AutoCloseable, JobListener {
        private final Mode mode;
        private final String name;
        private final Path state;
        private final Path log;
        private final JobHost host;
        private final List<Change> asked = new ArrayList<>();
        private final WorkerNotes notes;
        private final Map<DecisionId, ChangeTimings> released = new TreeMap<>();
        private final Map<DecisionId, ChangeTimings> applied = new TreeMap<>();
        private int recoveries;
        private boolean exited;

        Run(Mode mode) {
            this.mode = mode;
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

        void measure() {
            System.out.printf("%s: %d resizes between four and two processes%n", name, resizes);
            long began = System.nanoTime();
            DecisionId first = next();
            host.start(JOB, TrainingProgram.of(mode, log, crashes), FOUR, BATCHING, first);
            await(() -> applied.containsKey(first), "the start");
            metrics.put(name + "_start_s", seconds(applied.get(first).sinceAsked()));
            awaitSteps(STEPS);
            for (int i = 0; i < resizes && System.nanoTime() - began < cap.toNanos(); i++) {
                boolean shrinks = i % 2 == 0;
                var change = new Change(shrinks ? "shrink" : "grow", System.nanoTime(), next());
                asked.add(change);
                host.resize(JOB, shrinks ? TWO : FOUR, BATCHING, change.id);
                await(() -> applied.containsKey(change.id), change.kind);
                awaitSteps(STEPS);
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
        }

        private void report() {
            values(notes.steps()).forEach((what, all) -> {
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

        /** Seconds that the changes took, by what was measured. */
        private Map<String, List<Double>> values(List<Step> steps) {
            Map<String, List<Double>> values = new TreeMap<>();
            for (Change change : asked) {
                int at = firstAfter(steps, change);
                if (at < 1) {
                    continue;
                }
                double before = medianSeconds(steps, at - STEPS, at);
                double last = steps.get(at - 1).endNanos() / 1e9;
                double pause = steps.get(at).endNanos() / 1e9
                        - last
                        - Math.min(before, medianSeconds(steps, at + 2, at + 2 + STEPS));
                add(values, change.kind + "_pause", pause);
                int full = at;
                while (!steps.get(full).allTookSamples()) {
                    full++;
                }
                add(values, change.kind + "_decision_to_full", (steps.get(full).endNanos() - change.askedNanos) / 1e9);
                ChangeTimings timings = released.get(change.id);
                if (timings != null) {
                    double release = seconds(timings.sinceAsked());
                    add(values, "release", release);
                    add(values, "release_beyond_a_step", release - before);
                }
                add(values, change.kind.equals("grow") ? "step_of_two" : "step_of_four", before);
            }
            return values;
        }

        /** The first step that was completed at the new size. */
        private int firstAfter(List<Step> steps, Change change) {
            int world = change.kind.equals("shrink") ? 2 : 4;
            return IntStream.range(0, steps.size())
                    .filter(i -> steps.get(i).endNanos() > change.askedNanos
                            && steps.get(i).world() == world)
                    .findFirst()
                    .orElse(-1);
        }

        /** Kills one rank after another. */
        private void crash() {
            List<Double> resumed = new ArrayList<>();
            long lostMost = 0;
            for (int i = 0; i < crashes; i++) {
                awaitSteps(STEPS);
                awaitFourSteps();
                Recovery recovery = crash(i % 4);
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

        private Recovery crash(int rank) {
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
            return new Recovery((first.nanos() - killed) / 1e9, furthest + 1 - first.step());
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

        /** The worker that has noted the last step of all as this rank. */
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
                    throw new IllegalStateException("%s: waited %s in vain for %s; the job runs on, its logs are in %s"
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
                return; // somebody will want to see why
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
        public void failed(JobId job, DecisionId change, String why) {
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
    }

    private DecisionId next() {
        return new DecisionId(new DomainId("bench"), 1, ++changes);
    }

    private static List<Slot> slots(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> new Slot(new GpuId("gpu" + i), Integer.toString(i)))
                .toList();
    }

    private static void add(Map<String, List<Double>> values, String name, double value) {
        values.computeIfAbsent(name, any -> new ArrayList<>()).add(value);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
