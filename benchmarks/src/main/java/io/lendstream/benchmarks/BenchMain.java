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
    /** Reads the options of a benchmark; empty if it does not know them. */
    private interface Reader {
        Optional<? extends Bench> read(List<String> options);
    }

    private static final Map<String, Reader> BENCHES = new TreeMap<>(Map.ofEntries(
            entry("afe", ElasticTraining::parse),
            entry("agent", withoutOptions(() -> AgentCost::measure)),
            entry("batch-plan", withoutOptions(BatchPlanStudy::new)),
            entry("beyond", BeyondStudy::parse),
            entry("decision-latency", ReclaimLatency::parse),
            entry("declarations", DeclarationStudy::parse),
            entry("forecast", withoutOptions(ForecastStudy::new)),
            entry("forecaster", ForecasterPace::parse),
            entry("ingest", SchedulerThroughput::parse),
            entry("history", withoutOptions(HistoryCost::new)),
            entry("pairs", PairedRuns::parse),
            entry("plan", withoutOptions(() -> PlanTime::measure)),
            entry("published", withoutOptions(PublishedFigures::new)),
            entry("replay", ReplayTime::parse)));

    private BenchMain() {}

    public static void main(String[] arguments) throws IOException {
        String name = arguments.length == 0 ? "" : arguments[0];
        List<String> options = List.of(arguments).subList(Math.min(1, arguments.length), arguments.length);
        Optional<? extends Bench> bench =
                Optional.ofNullable(BENCHES.get(name)).flatMap(reader -> reader.read(options));
        if (bench.isEmpty()) {
            explain();
            System.exit(2);
        }
        BenchReport report = bench.orElseThrow().measure();
        System.out.println(new ObjectMapper().writeValueAsString(line(name, report)));
        report.misses().forEach(miss -> System.err.printf("%s misses its bound: %s%n", name, miss));
        System.exit(report.misses().isEmpty() ? 0 : 1);
    }

    private static Map.Entry<String, Reader> entry(String name, Reader reader) {
        return Map.entry(name, reader);
    }

    private static Reader withoutOptions(Supplier<Bench> bench) {
        return options -> options.isEmpty() ? Optional.of(bench.get()) : Optional.empty();
    }

    private static void explain() {
        System.err.printf(
                "Usage: ./dev bench NAME [RUNS], where NAME is: %s; and RUNS, for replay, how often each is run (%d);%n"
                        + "       ./dev bench afe [--resizes N] [--crashes N] [--seconds-cap S] [--gpus N]%n"
                        + "       ./dev bench beyond [--short]%n"
                        + "       ./dev bench decision-latency [--samples N] [--warm-up S] [--records N] [--spikes N] [--crowd NODES] [--setting GUARANTEE_MILLIS]%n"
                        + "       ./dev bench declarations [--workload PRESET] [--seeds FIRST-LAST]%n"
                        + "       ./dev bench forecaster [--services N] [--delivery GUARANTEE] [--windows N] [--rounds N]%n"
                        + "       ./dev bench pairs [--pairs N, else %d] [--only WORD] BASE NAME [OPTIONS], with the times that have WORD in their names;%n"
                        + "       ./dev bench ingest [--guarantee at_least_once|exactly_once_v2] [--records N]%n",
                String.join(", ", BENCHES.keySet()), ReplayTime.RUNS, PairedRuns.PAIRS);
    }

    /** The report as it is kept, with the machine and the commit that it is of. */
    private static Map<String, Object> line(String name, BenchReport report) throws IOException {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("name", name);
        line.put("metrics", report.metrics());
        line.put("reference", report.reference());
        line.put("ratio", report.ratio());
        line.put(
                "machine",
                "%d cores, Java %s, %s %s"
                        .formatted(
                                Runtime.getRuntime().availableProcessors(),
                                Runtime.version(),
                                System.getProperty("os.name"),
                                System.getProperty("os.arch")));
        line.put("commit", commit());
        return line;
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
