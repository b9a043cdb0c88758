package io.lendstream.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.actuator.jobs.Batching;
import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.actuator.jobs.JobHost;
import io.lendstream.actuator.jobs.JobListener;
import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.JobProgram.Mode;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.actuator.jobs.StepReport;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
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
final class ElasticTraining {
    private static final JobId JOB = new JobId("bench");
    private static final Batching BATCHING = new Batching(1, 1, 1);
    private static final List<Slot> FOUR = slots(4);
    private static final List<Slot> TWO = slots(2);
    /** Steps between changes; their median is that of the size. */
    private static final int STEPS = 6;

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final List<Path> PACKAGES =
            List.of(Path.of("actuator", "python"), Path.of("..", "actuator", "python"));
    private static final ObjectMapper JSON = new ObjectMapper();

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

    BenchMain.Result measure() {
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
        reference.forEach((name, bound) ->
                Optional.ofNullable(metrics.get(name)).ifPresent(value -> ratio.put(name, value / bound)));
        for (String kind : List.of("shrink", "grow")) {
            String name = kind + "_pause_p50_s";
            for (String other : List.of("restart", "torchrun")) {
                Double slow = metrics.get(other + "_" + name);
                Double fast = metrics.get("afe_" + name);
                if (slow != null && fast != null) {
                    reference.put("afe_over_" + other + "_" + name, 0.1);
                    ratio.put("afe_over_" + other + "_" + name, fast / slow);
                }
            }
        }
        return new BenchMain.Result(metrics, reference, ratio);
    }

    /** A step as one worker noted it. */
    private record Noted(long step, long nanos, long membership, int rank, int world, int own) {}

    /** A step of the whole job. */
    private record Step(long number, long endNanos, long membership, int world, boolean allTookSamples) {}

    private record Change(String kind, long askedNanos, DecisionId id) {}

    /** What one worker has noted; its file is named by its process. */
    private static final class Log {
        final long process;
        final List<Noted> noted = new ArrayList<>();
        private final Path file;
        private long read;

        Log(Path file) {
            this.file = file;
            this.process = Long.parseLong(file.getFileName().toString().replace(".jsonl", ""));
        }

        /** Leaves a line that is not complete for the next time; a killed worker's stays so. */
        void readOn() throws IOException {
            if (Files.size(file) == read) {
                return;
            }
            try (InputStream in = Files.newInputStream(file)) {
                in.skipNBytes(read);
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                int end = text.lastIndexOf('\n') + 1;
                for (String line : text.substring(0, end).lines().toList()) {
                    JsonNode node = JSON.readTree(line);
                    noted.add(new Noted(
                            node.path("step").asLong(),
                            node.path("nanos").asLong(),
                            node.path("membership").asLong(),
                            node.path("rank").asInt(),
                            node.path("world").asInt(),
                            node.path("own").size()));
                }
                read += text.substring(0, end).getBytes(StandardCharsets.UTF_8).length;
            }
        }
    }

    /** One mode, from start to stop. */
    private final class Run implements AutoCloseable, JobListener {
        private final Mode mode;
        private final String name;
        private final Path state;
        private final Path log;
        private final JobHost host;
        private final List<Change> asked = new ArrayList<>();
        private final Map<Path, Log> logs = new TreeMap<>();
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
            host = JobHost.open(state, this);
        }

        void measure() {
            System.out.printf("%s: %d resizes between four and two processes%n", name, resizes);
            long began = System.nanoTime();
            DecisionId first = next();
            host.start(JOB, program(), FOUR, BATCHING, first);
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
            List<Step> steps = steps();
            Map<String, List<Double>> values = new TreeMap<>();
            for (Change change : asked) {
                int at = firstAfter(steps, change);
                if (at < 1) {
                    continue;
                }
                double last = steps.get(at - 1).endNanos / 1e9;
                double pause = steps.get(at).endNanos / 1e9
                        - last
                        - Math.min(median(steps, at - STEPS, at), median(steps, at + 2, at + 2 + STEPS));
                add(values, change.kind + "_pause", pause);
                int full = at;
                while (!steps.get(full).allTookSamples) {
                    full++;
                }
                add(values, change.kind + "_decision_to_full", (steps.get(full).endNanos - change.askedNanos) / 1e9);
                ChangeTimings timings = released.get(change.id);
                if (timings != null) {
                    double release = seconds(timings.sinceAsked());
                    add(values, "release", release);
                    add(values, "release_beyond_a_step", release - median(steps, at - STEPS, at));
                }
                add(values, change.kind.equals("grow") ? "step_of_two" : "step_of_four", median(steps, at - STEPS, at));
            }
            values.forEach((what, all) -> {
                double[] sorted =
                        all.stream().mapToDouble(each -> each).sorted().toArray();
                metrics.put(name + "_" + what + "_n", (double) sorted.length);
                metrics.put(name + "_" + what + "_p50_s", quantile(sorted, 0.5));
                metrics.put(name + "_" + what + "_p99_s", quantile(sorted, 0.99));
                metrics.put(name + "_" + what + "_max_s", sorted[sorted.length - 1]);
                System.out.printf(
                        Locale.ROOT,
                        "%-9s %-24s n %3d  p50 %7.3f s  p99 %7.3f s  max %7.3f s%n",
                        name,
                        what,
                        sorted.length,
                        quantile(sorted, 0.5),
                        quantile(sorted, 0.99),
                        sorted[sorted.length - 1]);
            });
        }

        /** The first step that was completed at the new size. */
        private int firstAfter(List<Step> steps, Change change) {
            int world = change.kind.equals("shrink") ? 2 : 4;
            return IntStream.range(0, steps.size())
                    .filter(i -> steps.get(i).endNanos > change.askedNanos && steps.get(i).world == world)
                    .findFirst()
                    .orElse(-1);
        }

        private void crash() {
            List<Double> resumed = new ArrayList<>();
            long lostMost = 0;
            for (int i = 0; i < crashes; i++) {
                awaitSteps(STEPS);
                awaitFourSteps();
                int rank = i % 4;
                long victim = processOf(rank);
                long known = lastStep();
                long killed = System.nanoTime();
                int before = recoveries;
                ProcessHandle.of(victim).ifPresent(ProcessHandle::destroyForcibly);
                await(() -> recoveries > before, "the recovery from the loss of rank " + rank);
                List<Noted> after = noted();
                long membership =
                        after.stream().mapToLong(Noted::membership).max().orElseThrow();
                Noted first = after.stream()
                        .filter(each -> each.nanos > killed && each.membership == membership)
                        .min(Comparator.comparingLong(Noted::nanos))
                        .orElseThrow();
                resumed.add((first.nanos - killed) / 1e9);
                long furthest = after.stream()
                        .filter(each -> each.membership < membership)
                        .mapToLong(Noted::step)
                        .max()
                        .orElse(known);
                lostMost = Math.max(lostMost, furthest + 1 - first.step);
            }
            double[] sorted =
                    resumed.stream().mapToDouble(each -> each).sorted().toArray();
            if (sorted.length > 0) {
                metrics.put("afe_crash_n", (double) sorted.length);
                metrics.put("afe_crash_resume_p50_s", quantile(sorted, 0.5));
                metrics.put("afe_crash_resume_p99_s", quantile(sorted, 0.99));
                metrics.put("afe_crash_steps_lost_max", (double) lostMost);
                System.out.printf(
                        Locale.ROOT,
                        "afe       kill -9 to the first step completed after: n %d  p50 %.3f s  p99 %.3f s; completed steps lost at most %d%n",
                        sorted.length,
                        quantile(sorted, 0.5),
                        quantile(sorted, 0.99),
                        lostMost);
            }
        }

        private void awaitFourSteps() {
            await(
                    () -> {
                        List<Step> steps = steps();
                        Step last = steps.get(steps.size() - 1);
                        return last.world == 4 && last.allTookSamples;
                    },
                    "four workers");
        }

        /** The worker that has noted the last step of all as this rank. */
        private long processOf(int rank) {
            List<Log> found = new ArrayList<>();
            await(
                    () -> {
                        long last = lastStep();
                        logs.values().stream()
                                .filter(each ->
                                        each.noted.stream().anyMatch(noted -> noted.step == last && noted.rank == rank))
                                .forEach(found::add);
                        return !found.isEmpty();
                    },
                    "a step of rank " + rank);
            return found.get(found.size() - 1).process;
        }

        private JobProgram program() {
            Path python = PACKAGES.stream()
                    .filter(Files::isDirectory)
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(
                            "actuator/python is not here; run the benchmark with ./dev bench afe"));
            List<String> command = new ArrayList<>();
            if (mode != Mode.TORCHRUN) {
                command.add(interpreter());
            }
            command.add(python.toAbsolutePath().resolve("examples/train.py").toString());
            command.addAll(List.of(
                    "--log",
                    log.toString(),
                    "--checkpoint",
                    log.resolve("checkpoint").toString()));
            command.addAll(List.of("--features", "64", "--hidden", "2500", "--layers", "5", "--local-batch", "1"));
            command.addAll(List.of("--epochs", "1000000", "--checkpoint-seconds", "1000000"));
            return new JobProgram(
                    mode,
                    command,
                    List.of(interpreter(), "-m", "torch.distributed.run"),
                    Map.of("PYTHONPATH", python.toAbsolutePath().toString(), "OMP_NUM_THREADS", "1"),
                    log.toString(),
                    crashes,
                    Duration.ofSeconds(60));
        }

        private long lastStep() {
            return noted().stream().mapToLong(Noted::step).max().orElse(-1);
        }

        private void awaitSteps(int more) {
            long until = lastStep() + more;
            await(() -> lastStep() >= until, "%d more steps".formatted(more));
        }

        /** Steps in order, each as it was done last, with the time at which the last rank had completed it. */
        private List<Step> steps() {
            Map<Long, Step> steps = new TreeMap<>();
            for (Noted each : noted()) {
                var alone = new Step(each.step, each.nanos, each.membership, each.world, each.own > 0);
                steps.merge(each.step, alone, (one, other) -> {
                    if (one.membership != other.membership || one.world != other.world) {
                        return one.endNanos > other.endNanos ? one : other;
                    }
                    return new Step(
                            one.number,
                            Math.max(one.endNanos, other.endNanos),
                            one.membership,
                            one.world,
                            one.allTookSamples && other.allTookSamples);
                });
            }
            return List.copyOf(steps.values());
        }

        private List<Noted> noted() {
            readOn();
            return logs.values().stream().flatMap(each -> each.noted.stream()).toList();
        }

        /** Reads what workers have written since the last time, so that watching them does not take their time. */
        private void readOn() {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(log, "*.jsonl")) {
                for (Path file : files) {
                    logs.computeIfAbsent(file, Log::new).readOn();
                }
            } catch (IOException e) {
                throw new UncheckedIOException("the workers' notes cannot be read", e);
            }
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

    private static String interpreter() {
        return Stream.of(Optional.ofNullable(System.getenv("LENDSTREAM_PYTHON_TORCH")), Optional.of("/usr/bin/python3"))
                .flatMap(Optional::stream)
                .findFirst()
                .orElseThrow();
    }

    private static List<Slot> slots(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> new Slot(new GpuId("gpu" + i), Integer.toString(i)))
                .toList();
    }

    private static void add(Map<String, List<Double>> values, String name, double value) {
        values.computeIfAbsent(name, any -> new ArrayList<>()).add(value);
    }

    /** Median time between the ends of steps. */
    private static double median(List<Step> steps, int from, int to) {
        double[] seconds = IntStream.range(Math.max(1, from + 1), Math.min(to, steps.size()))
                .mapToDouble(i -> (steps.get(i).endNanos - steps.get(i - 1).endNanos) / 1e9)
                .sorted()
                .toArray();
        return seconds.length == 0 ? 0 : quantile(seconds, 0.5);
    }

    private static double quantile(double[] sorted, double q) {
        double at = q * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
