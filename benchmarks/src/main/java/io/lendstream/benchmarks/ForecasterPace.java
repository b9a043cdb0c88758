package io.lendstream.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The pace of the forecaster: throughput, state size, checkpoints and delay of forecasts. Throughput is in records
 * per second from a filled topic. The delay counts from the event time that closes a step of every service to
 * readable forecasts. Measured for both delivery guarantees, with consumers of committed records.
 */
final class ForecasterPace implements Bench {
    private static final List<Integer> SERVICES = List.of(1000, 10_000);
    private static final List<Guarantee> GUARANTEES =
            List.of(new Guarantee("at-least-once", 10), new Guarantee("exactly-once", 1));

    private static final double RECORDS_PER_SECOND = 50_000;
    private static final double STATE_BYTES = 8192;
    private static final double CHECKPOINT_MILLIS = 2000;

    private final List<Integer> services;
    private final List<Guarantee> guarantees;
    private final int windows;
    private final int rounds;

    /**
     * @param checkpointSeconds seconds between checkpoints; under exactly-once, forecasts become readable at the next
     *     one
     */
    private record Guarantee(String delivery, int checkpointSeconds) {}

    private ForecasterPace(List<Integer> services, List<Guarantee> guarantees, int windows, int rounds) {
        this.services = services;
        this.guarantees = guarantees;
        this.windows = windows;
        this.rounds = rounds;
    }

    /**
     * Reads {@code [--services N] [--delivery GUARANTEE] [--windows N] [--rounds N]}; empty if the arguments are
     * different.
     */
    static Optional<ForecasterPace> parse(List<String> arguments) {
        Map<String, Integer> options = new TreeMap<>(Map.of("--services", 0, "--windows", 100, "--rounds", 5));
        List<Guarantee> guarantees = GUARANTEES;
        for (int i = 0; i < arguments.size(); i += 2) {
            String value = i + 1 == arguments.size() ? "" : arguments.get(i + 1);
            if (arguments.get(i).equals("--delivery")) {
                guarantees = GUARANTEES.stream()
                        .filter(each -> each.delivery().equals(value))
                        .toList();
            } else if (options.containsKey(arguments.get(i)) && value.matches("[1-9]\\d{0,5}")) {
                options.put(arguments.get(i), Integer.parseInt(value));
            } else {
                return Optional.empty();
            }
        }
        int only = options.getOrDefault("--services", 0);
        int windows = options.getOrDefault("--windows", 0);
        return guarantees.isEmpty() || windows < 2 * ForecasterLoad.WINDOWS_PER_STEP
                ? Optional.empty()
                : Optional.of(new ForecasterPace(
                        only == 0 ? SERVICES : List.of(only),
                        guarantees,
                        windows,
                        options.getOrDefault("--rounds", 0)));
    }

    @Override
    public BenchReport measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> least = new LinkedHashMap<>();
        Map<String, Double> most = new LinkedHashMap<>();
        for (int count : services) {
            for (Guarantee guarantee : guarantees) {
                String name = "%s_%d_".formatted(guarantee.delivery().replace('-', '_'), count);
                try (var load = new ForecasterLoad(count, guarantee.delivery(), guarantee.checkpointSeconds())) {
                    measure(load, count, name, metrics);
                }
                least.put(name + "records_per_second", RECORDS_PER_SECOND);
                most.put(name + "state_bytes", STATE_BYTES);
                most.put(name + "checkpoint_ms", CHECKPOINT_MILLIS);
                if (guarantee.delivery().equals("at-least-once")) {
                    most.put(name + "forecast_p99_ms", count <= 1000 ? 250.0 : 1000.0);
                }
            }
        }
        Map<String, Double> reference = new LinkedHashMap<>(least);
        reference.putAll(most);
        Map<String, Double> ratio = new LinkedHashMap<>();
        reference.forEach((name, bound) -> ratio.put(name, metrics.getOrDefault(name, Double.NaN) / bound));
        List<String> misses = StatedBounds.below(metrics, least);
        misses.addAll(StatedBounds.above(metrics, most));
        return new BenchReport(metrics, reference, ratio, misses);
    }

    private void measure(ForecasterLoad load, int count, String name, Map<String, Double> metrics) {
        load.fill(windows);
        ForecasterLoad.Drained drained = load.drain();
        metrics.put(name + "records_per_second", drained.perSecond());
        metrics.put(name + "later_records_per_second", drained.laterPerSecond());
        ForecasterLoad.Checkpoints checkpoints = load.checkpoints();
        metrics.put(name + "state_bytes", checkpoints.bytes() / count);
        metrics.put(name + "checkpoint_ms", checkpoints.longestMillis());
        List<Double> delays = load.delays(rounds);
        metrics.put(name + "forecast_p50_ms", Quantiles.of(delays, 0.5));
        metrics.put(name + "forecast_p99_ms", Quantiles.of(delays, 0.99));
        metrics.put(name + "forecasts_n", (double) delays.size());
        metrics.forEach((what, value) -> {
            if (what.startsWith(name)) {
                System.out.printf(Locale.ROOT, "%-45s %12.1f%n", what, value);
            }
        });
    }
}
