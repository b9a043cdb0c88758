package io.lendstream.benchmarks;

import io.lendstream.stack.RunningChild;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The highest pace of node records at which a scheduler makes its decisions in time. The scheduler has 10,000 GPUs in
 * ten domains, eight GPUs per node, on one machine with broker and generator. Each pace is held for a minute after a
 * warm-up, beginning with the pace of one sample per second and GPU node; the first pace that cannot be held is the
 * last. Every service also reports its rate every five seconds, and every job its progress every ten.
 */
final class SchedulerThroughput implements Bench {
    private static final int DOMAINS = 10;
    private static final int GPUS = 1000;
    private static final List<String> GUARANTEES = List.of("at_least_once", "exactly_once_v2");
    private static final List<Integer> PACES = List.of(1250, 2500, 5000, 7500, 10_000, 15_000, 20_000);
    private static final double RATES_PER_SECOND = DOMAINS * LoadedDomain.STEADY / 5.0;
    private static final int SPIKES = 600;
    private static final double SPIKES_PER_SECOND = 20;
    private static final Duration WARM_UP = Duration.ofSeconds(60);
    /** The time to work off the backlog of the warm-up; a scheduler that needs longer does not hold the pace. */
    private static final Duration CATCH_UP = Duration.ofMinutes(4);

    private static final int HEAP_MEGABYTES = 512;
    private static final double BOUND_MILLIS = 250;
    /** The pace at which decisions must keep that bound: four times that of 10,000 GPUs at 1 Hz (ADR 27). */
    private static final double LEAST_PER_SECOND = 5000;

    /**
     * The allowed backlog at any moment, in seconds of the pace; a larger one means that the scheduler falls behind.
     */
    private static final double MOST_SECONDS_BEHIND = 1;
    /** The allowed backlog after the warm-up: little more than one commit interval. */
    private static final double SECONDS_CAUGHT_UP = 0.5;

    private final List<String> guarantees;
    private final List<Integer> paces;

    private SchedulerThroughput(List<String> guarantees, List<Integer> paces) {
        this.guarantees = guarantees;
        this.paces = paces;
    }

    /**
     * Reads {@code [--guarantee NAME] [--records N]}, records of nodes per second; empty if the arguments are
     * different.
     */
    static Optional<SchedulerThroughput> parse(List<String> arguments) {
        List<String> guarantees = GUARANTEES;
        List<Integer> paces = PACES;
        for (int i = 0; i < arguments.size(); i += 2) {
            String value = i + 1 < arguments.size() ? arguments.get(i + 1) : "";
            if (arguments.get(i).equals("--guarantee") && GUARANTEES.contains(value)) {
                guarantees = List.of(value);
            } else if (arguments.get(i).equals("--records") && value.matches("[1-9]\\d{0,6}")) {
                paces = List.of(Integer.parseInt(value));
            } else {
                return Optional.empty();
            }
        }
        return Optional.of(new SchedulerThroughput(guarantees, paces));
    }

    @Override
    public BenchReport measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        Map<String, Double> least = new LinkedHashMap<>();
        for (String guarantee : guarantees) {
            metrics.put(guarantee + "_most_per_second", 0.0);
            paces.stream()
                    .filter(pace -> pace <= LEAST_PER_SECOND)
                    .max(Integer::compare)
                    .ifPresent(pace -> least.put(guarantee + "_most_per_second", (double) pace));
            for (int pace : paces) {
                String name = "%s_%d".formatted(guarantee, pace);
                Optional<Double> p99 = hold(guarantee, pace, name, metrics);
                if (p99.isEmpty() || p99.get() > BOUND_MILLIS) {
                    break;
                }
                metrics.put(guarantee + "_most_per_second", (double) pace);
                reference.put(guarantee + "_most_per_second", LEAST_PER_SECOND);
                ratio.put(guarantee + "_most_per_second", pace / LEAST_PER_SECOND);
            }
        }
        return new BenchReport(metrics, reference, ratio, StatedBounds.below(metrics, least));
    }

    /** The p99 of decisions at this pace; empty if the pace was not held. */
    private static Optional<Double> hold(String guarantee, int pace, String name, Map<String, Double> metrics) {
        int commit = guarantee.equals("at_least_once") ? 200 : 100;
        var plan = new SchedulerLoad.Plan(DOMAINS, GPUS, pace, RATES_PER_SECOND, guarantee, commit, HEAP_MEGABYTES);
        try (var load = new SchedulerLoad(plan)) {
            load.start();
            warmUp(load, pace);
            long sent = load.nodeSamples();
            Map<String, Double> used = load.processorSeconds();
            long began = System.nanoTime();
            load.burst(SPIKES, SPIKES_PER_SECOND, true);
            load.burst(SPIKES, SPIKES_PER_SECOND, true);
            double seconds = (System.nanoTime() - began) / 1e9;
            double held = (load.nodeSamples() - sent) / seconds;
            long behind = load.behind();
            SchedulerLoad.Samples samples = load.take();
            double p99 = Quantiles.of(samples.reclaims, 0.99);
            metrics.put(name + "_written_per_second", held);
            metrics.put(name + "_behind_records", (double) behind);
            metrics.put(name + "_p50_ms", Quantiles.of(samples.reclaims, 0.5));
            metrics.put(name + "_p90_ms", Quantiles.of(samples.reclaims, 0.9));
            metrics.put(name + "_p99_ms", p99);
            Map<String, Double> cores = new TreeMap<>();
            load.processorSeconds()
                    .forEach((process, now) -> cores.put(process, (now - used.getOrDefault(process, 0.0)) / seconds));
            cores.forEach((process, share) -> {
                metrics.put(name + "_cores_" + process, share);
                if (pace == PACES.get(0)) {
                    metrics.put(guarantee + "_cores_per_1000_gpus_" + process, share / DOMAINS);
                }
            });
            double resident = RunningChild.residentBytes(load.schedulerPid()).orElse(0) / 1e6;
            metrics.put(name + "_scheduler_megabytes", resident);
            print(guarantee, pace, name, samples.reclaims.size(), cores, metrics);
            boolean isHeld = held > 0.98 * pace && behind < MOST_SECONDS_BEHIND * pace;
            return isHeld ? Optional.of(p99) : Optional.empty();
        } catch (IllegalStateException e) {
            System.out.printf("%-16s %6d records/s: not held: %s%n", guarantee, pace, e.getMessage());
            return Optional.empty();
        }
    }

    private static void warmUp(SchedulerLoad load, int pace) {
        long warm = System.nanoTime() + WARM_UP.toNanos();
        do {
            load.burst(SPIKES, SPIKES_PER_SECOND, false);
        } while (System.nanoTime() < warm
                || (load.behind() > SECONDS_CAUGHT_UP * pace && System.nanoTime() < warm + CATCH_UP.toNanos()));
    }

    private static void print(
            String guarantee,
            int pace,
            String name,
            int reclaims,
            Map<String, Double> cores,
            Map<String, Double> metrics) {
        StringBuilder used = new StringBuilder();
        cores.forEach((process, share) -> used.append(String.format(Locale.ROOT, " %s %.2f", process, share)));
        System.out.printf(
                Locale.ROOT,
                "%-16s %6d records/s: written %7.0f/s, %.0f behind, %d reclaims p50 %.1f ms, p90 %.1f, p99 %.1f; cores:%s; scheduler %.0f MB%n",
                guarantee,
                pace,
                metrics.get(name + "_written_per_second"),
                metrics.get(name + "_behind_records"),
                reclaims,
                metrics.get(name + "_p50_ms"),
                metrics.get(name + "_p90_ms"),
                metrics.get(name + "_p99_ms"),
                used,
                metrics.get(name + "_scheduler_megabytes"));
    }
}
