package io.lendstream.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/** {@code ./dev bench NAME [RUNS]}. */
public final class BenchMain {
    private static final int RUNS = 3;

    private BenchMain() {}

    public static void main(String[] arguments) throws IOException {
        boolean counts =
                arguments.length == 2 && arguments[0].equals("replay") && arguments[1].matches("[1-9]\\d{0,2}");
        int runs = counts ? Integer.parseInt(arguments[1]) : RUNS;
        String name = arguments.length == 0 ? "" : arguments[0];
        List<String> options = List.of(arguments).subList(Math.min(1, arguments.length), arguments.length);
        Optional<ElasticTraining> afe = ElasticTraining.parse(name.equals("afe") ? options : List.of());
        Optional<ReclaimLatency> latency = ReclaimLatency.parse(name.equals("decision-latency") ? options : List.of());
        Optional<ForecasterPace> pace = ForecasterPace.parse(name.equals("forecaster") ? options : List.of());
        Optional<SchedulerThroughput> throughput =
                SchedulerThroughput.parse(name.equals("ingest") ? options : List.of());
        Map<String, Supplier<Result>> benches = new TreeMap<>(Map.of(
                "afe", () -> afe.orElseThrow().measure(),
                "agent", AgentCost::measure,
                "batch-plan", () -> new BatchPlanStudy().measure(),
                "decision-latency", () -> latency.orElseThrow().measure(),
                "forecast", () -> new ForecastStudy().measure(),
                "forecaster", () -> pace.orElseThrow().measure(),
                "plan", PlanTime::measure,
                "published", () -> new PublishedFigures().measure(),
                "replay", () -> new ReplayTime(runs).measure(),
                "ingest", () -> throughput.orElseThrow().measure()));
        boolean understood = switch (name) {
            case "afe" -> afe.isPresent();
            case "decision-latency" -> latency.isPresent();
            case "forecaster" -> pace.isPresent();
            case "ingest" -> throughput.isPresent();
            default -> options.isEmpty() || counts;
        };
        if (!understood || !benches.containsKey(name)) {
            System.err.printf(
                    "Usage: ./dev bench NAME [RUNS], where NAME is: %s; and RUNS, for replay, how often each is run (%d);%n"
                            + "       ./dev bench afe [--resizes N] [--crashes N] [--seconds-cap S]%n"
                            + "       ./dev bench decision-latency [--samples N] [--warm-up S] [--records N] [--spikes N] [--crowd NODES] [--setting GUARANTEE_MILLIS]%n"
                            + "       ./dev bench forecaster [--services N] [--delivery GUARANTEE] [--windows N] [--rounds N]%n"
                            + "       ./dev bench ingest [--guarantee at_least_once|exactly_once_v2] [--records N]%n",
                    String.join(", ", benches.keySet()), RUNS);
            System.exit(2);
        }
        Result result = benches.getOrDefault(name, () -> Result.NONE).get();
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("name", name);
        line.put("metrics", result.metrics());
        line.put("reference", result.reference());
        line.put("ratio", result.ratio());
        line.put(
                "machine",
                "%d cores, Java %s, %s %s"
                        .formatted(
                                Runtime.getRuntime().availableProcessors(),
                                Runtime.version(),
                                System.getProperty("os.name"),
                                System.getProperty("os.arch")));
        line.put("commit", commit());
        System.out.println(new ObjectMapper().writeValueAsString(line));
        result.misses().forEach(miss -> System.err.printf("%s misses its bound: %s%n", name, miss));
        System.exit(result.misses().isEmpty() ? 0 : 1);
    }

    /**
     * Figures by name: what was measured, what it is compared with, and the one over the other.
     *
     * @param misses bounds that were not kept, in words; with any, the command ends with 1
     */
    record Result(
            Map<String, Double> metrics,
            Map<String, Double> reference,
            Map<String, Double> ratio,
            List<String> misses) {
        static final Result NONE = new Result(Map.of(), Map.of(), Map.of());

        /** Figures that are held to no bound. */
        Result(Map<String, Double> metrics, Map<String, Double> reference, Map<String, Double> ratio) {
            this(metrics, reference, ratio, List.of());
        }
    }

    private static String commit() throws IOException {
        try {
            Process git = new ProcessBuilder("git", "rev-parse", "--short", "HEAD").start();
            return new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
