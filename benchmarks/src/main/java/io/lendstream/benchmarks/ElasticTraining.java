package io.lendstream.benchmarks;

import io.lendstream.actuator.jobs.JobProgram.Mode;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The cost of resizing a PyTorch job between four and two processes, and of losing a rank. Resizes are made in place,
 * by restart from a checkpoint in memory, and with torchrun. The model has 101 MB of parameters, and twice that in
 * Adam's state.
 *
 * <p>Pause: from the end of the last step before to the end of the first completed step after, less a median step
 * (the shorter of the medians before and after). All times come from the workers, by the monotonic clock of the
 * machine, which Java uses too.
 */
final class ElasticTraining implements Bench {
    private final Repetitions repetitions;

    /**
     * The amount of measurement in one mode.
     *
     * @param cap the time in one mode after which no further change begins
     * @param gpus the GPUs that the processes share; 0 to compute on processors
     */
    record Repetitions(int resizes, int crashes, Duration cap, int gpus) {
        /** Whether a GPU has several processes, which NCCL refuses. */
        boolean shares() {
            return gpus > 0 && gpus < ElasticRun.MOST;
        }
    }

    private ElasticTraining(Repetitions repetitions) {
        this.repetitions = repetitions;
    }

    /** Reads {@code [--resizes N] [--crashes N] [--seconds-cap S] [--gpus N]}; empty if the arguments are different. */
    static Optional<ElasticTraining> parse(List<String> arguments) {
        Map<String, Integer> options =
                new TreeMap<>(Map.of("--resizes", 50, "--crashes", 10, "--seconds-cap", 1800, "--gpus", 0));
        for (int i = 0; i < arguments.size(); i += 2) {
            boolean known = options.containsKey(arguments.get(i)) && i + 1 < arguments.size();
            if (!known || !arguments.get(i + 1).matches("\\d{1,5}")) {
                return Optional.empty();
            }
            options.put(arguments.get(i), Integer.parseInt(arguments.get(i + 1)));
        }
        return Optional.of(new ElasticTraining(new Repetitions(
                options.getOrDefault("--resizes", 0),
                options.getOrDefault("--crashes", 0),
                Duration.ofSeconds(options.getOrDefault("--seconds-cap", 0)),
                options.getOrDefault("--gpus", 0))));
    }

    @Override
    public BenchReport measure() {
        needPyTorch();
        Map<String, Double> metrics = new LinkedHashMap<>();
        for (Mode mode : List.of(Mode.AFE, Mode.RESTART, Mode.TORCHRUN)) {
            if (mode == Mode.TORCHRUN && repetitions.shares()) {
                continue; // torchrun's workers cannot share a GPU
            }
            try (var run = new ElasticRun(mode, repetitions)) {
                metrics.putAll(run.measure());
            }
        }
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        reference.put("afe_shrink_pause_p99_s", 0.25);
        reference.put("afe_grow_pause_p99_s", 0.5);
        reference.put("afe_release_beyond_a_step_max_s", 0.3);
        reference.put("afe_crash_resume_p99_s", 3.0);
        reference.put("afe_crash_steps_lost_max", 1.0);
        List<String> misses = StatedBounds.above(metrics, reference);
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
                    misses.addAll(StatedBounds.above(Map.of(over, fast / slow), Map.of(over, 0.1)));
                }
            }
        }
        return new BenchReport(metrics, reference, ratio, misses);
    }

    /** Ends the benchmark if the interpreter has no PyTorch. */
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
}
