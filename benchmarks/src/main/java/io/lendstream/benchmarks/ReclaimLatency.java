package io.lendstream.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The latency from a request-rate record that exceeds the capacity to the reclaim for it. A consumer of committed
 * records reads it, at 1,000 GPUs and 2,000 records per second. In the same run, a bare record is written and read on
 * the same broker. For each processing guarantee and commit interval under comparison.
 */
final class ReclaimLatency implements Bench {
    private static final int GPUS = 1000;
    private static final int SAMPLES_PER_SECOND = GPUS / 8;
    private static final int BURST = 750;
    private static final int HEAP_MEGABYTES = 384;
    /** The bound of the p99 while another domain declares many nodes. */
    private static final double MOST_CROWDED = 1.2;

    private final int samples;
    private final int warmUpSeconds;
    private final int recordsPerSecond;
    private final int spikesPerSecond;
    private final int crowd;
    private final List<Setting> settings;

    private record Setting(String guarantee, int commitMillis) {
        static final List<Setting> CONSIDERED = List.of(
                new Setting("at_least_once", 200),
                new Setting("exactly_once_v2", 25),
                new Setting("exactly_once_v2", 100));

        String name() {
            return guarantee + "_" + commitMillis;
        }
    }

    private ReclaimLatency(
            int samples,
            int warmUpSeconds,
            int recordsPerSecond,
            int spikesPerSecond,
            int crowd,
            List<Setting> settings) {
        this.samples = samples;
        this.warmUpSeconds = warmUpSeconds;
        this.recordsPerSecond = recordsPerSecond;
        this.spikesPerSecond = spikesPerSecond;
        this.crowd = crowd;
        this.settings = settings;
    }

    /**
     * Reads {@code [--samples N] [--warm-up S] [--records N] [--spikes N] [--crowd N] [--setting NAME]}: records and
     * spikes per second, and nodes declared in another domain before a second measurement; empty if the arguments are
     * different.
     */
    static Optional<ReclaimLatency> parse(List<String> arguments) {
        Map<String, String> options = new TreeMap<>(Map.of(
                "--samples",
                "10000",
                "--warm-up",
                "160",
                "--records",
                "2000",
                "--spikes",
                "20",
                "--crowd",
                "0",
                "--setting",
                ""));
        for (int i = 0; i < arguments.size(); i += 2) {
            if (!options.containsKey(arguments.get(i)) || i + 1 == arguments.size()) {
                return Optional.empty();
            }
            options.put(arguments.get(i), arguments.get(i + 1));
        }
        String only = options.getOrDefault("--setting", "");
        List<Setting> chosen = Setting.CONSIDERED.stream()
                .filter(setting -> only.isEmpty() || setting.name().equals(only))
                .toList();
        try {
            int samples = Integer.parseInt(options.getOrDefault("--samples", ""));
            int warmUp = Integer.parseInt(options.getOrDefault("--warm-up", ""));
            int records = Integer.parseInt(options.getOrDefault("--records", ""));
            int spikes = Integer.parseInt(options.getOrDefault("--spikes", ""));
            int crowd = Integer.parseInt(options.getOrDefault("--crowd", ""));
            boolean isBad = samples < 1 || warmUp < 0 || records < 2 * SAMPLES_PER_SECOND || spikes < 1 || crowd < 0;
            return chosen.isEmpty() || isBad
                    ? Optional.empty()
                    : Optional.of(new ReclaimLatency(samples, warmUp, records, spikes, crowd, chosen));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    @Override
    public BenchReport measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        List<String> misses = new ArrayList<>();
        for (Setting setting : settings) {
            List<Double> reclaims = new ArrayList<>();
            List<Double> bare = new ArrayList<>();
            List<Double> crowded = run(setting, reclaims, bare);
            for (double share : new double[] {0.5, 0.9, 0.99, 0.999}) {
                String name = "%s_p%s_ms".formatted(setting.name(), Quantiles.name(share));
                double reclaim = Quantiles.of(reclaims, share);
                double own = Quantiles.of(bare, share);
                metrics.put(name, reclaim);
                reference.put(name, own);
                ratio.put(name, reclaim / own);
                System.out.printf(
                        Locale.ROOT,
                        "%-20s p%-5s reclaim %8.2f ms   bare record %7.2f ms   %5.2f times%n",
                        setting.name(),
                        Quantiles.name(share),
                        reclaim,
                        own,
                        reclaim / own);
            }
            metrics.put(setting.name() + "_n", (double) reclaims.size());
            if (!crowded.isEmpty()) {
                compare(setting, reclaims, crowded, metrics, ratio, misses);
            }
        }
        return new BenchReport(metrics, reference, ratio, misses);
    }

    private void compare(
            Setting setting,
            List<Double> quiet,
            List<Double> crowded,
            Map<String, Double> metrics,
            Map<String, Double> ratio,
            List<String> misses) {
        for (double share : new double[] {0.5, 0.99}) {
            String name = "%s_crowded_p%s".formatted(setting.name(), Quantiles.name(share));
            double found = Quantiles.of(crowded, share);
            double times = found / Quantiles.of(quiet, share);
            metrics.put(name + "_ms", found);
            ratio.put(name + "_over_quiet", times);
            System.out.printf(
                    Locale.ROOT,
                    "%-20s p%-5s reclaim %8.2f ms with %d nodes in another domain, %.2f times%n",
                    setting.name(),
                    Quantiles.name(share),
                    found,
                    crowd,
                    times);
            if (share == 0.99 && times > MOST_CROWDED) {
                misses.add("p99 with %d nodes in another domain is %.2f times that without, more than %.1f"
                        .formatted(crowd, times, MOST_CROWDED));
            }
        }
    }

    /** Adds the measurements of a domain alone; returns those beside a crowded domain, if requested. */
    private List<Double> run(Setting setting, List<Double> reclaims, List<Double> bare) {
        System.out.printf(
                "%s, commits every %d ms, at %d records and %d spikes a second: %d reclaims, after %d s of warm-up%n",
                setting.guarantee, setting.commitMillis, recordsPerSecond, spikesPerSecond, samples, warmUpSeconds);
        var plan = new SchedulerLoad.Plan(
                1,
                GPUS,
                SAMPLES_PER_SECOND,
                recordsPerSecond - SAMPLES_PER_SECOND,
                setting.guarantee,
                setting.commitMillis,
                HEAP_MEGABYTES);
        try (var load = new SchedulerLoad(plan)) {
            load.start();
            long warm = System.nanoTime() + warmUpSeconds * 1_000_000_000L;
            do {
                load.burst(BURST, spikesPerSecond, false);
            } while (System.nanoTime() < warm);
            measure(load, reclaims, bare);
            List<Double> crowded = new ArrayList<>();
            if (crowd > 0) {
                System.out.printf("  %d nodes taken in %s%n", crowd, load.crowd(crowd));
                measure(load, crowded, new ArrayList<>());
            }
            return crowded;
        }
    }

    private void measure(SchedulerLoad load, List<Double> reclaims, List<Double> bare) {
        int otherwise = 0;
        while (reclaims.size() < samples) {
            load.burst(BURST, spikesPerSecond, true);
            SchedulerLoad.Samples more = load.take();
            reclaims.addAll(more.reclaims);
            bare.addAll(more.bare);
            otherwise += more.answeredOtherwise;
            System.out.printf(
                    Locale.ROOT,
                    "  %d reclaims, p99 of the last %d: %.1f ms%n",
                    reclaims.size(),
                    more.reclaims.size(),
                    Quantiles.of(more.reclaims, 0.99));
            if (otherwise > reclaims.size()) {
                throw new IllegalStateException(
                        "%d spikes were answered without a reclaim, %d with one: this measures something else"
                                .formatted(otherwise, reclaims.size()));
            }
        }
    }
}
