package io.lendstream.benchmarks;

import io.lendstream.simulator.published.PublishedReplay;
import io.lendstream.simulator.published.PublishedSettings;
import io.lendstream.simulator.published.PublishedWorkload;
import io.lendstream.simulator.results.Summary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;

/**
 * Published figures of policies beside ours in published timing: average JCT, quantiles and restarts. Policies that fit step
 * times online run from several starts, of which the mean counts.
 */
final class PublishedFigures {
    private static final int STARTS = 5;
    /** Policies whose runs hang on the last bit of a fit. */
    private static final Set<String> CHAOTIC = Set.of("deepboot", "pollux");

    /**
     * A published run.
     *
     * @param keepsWarm AISS
     * @param halves ARYL
     * @param average JCT in seconds; so are p50 and p95
     */
    private record Row(
            String policy,
            boolean lending,
            String workload,
            boolean keepsWarm,
            boolean afe,
            boolean halves,
            double average,
            double p50,
            double p95,
            double restarts) {
        String name() {
            return "%s-%s%s%s%s%s"
                    .formatted(
                            policy,
                            workload,
                            lending ? "" : "-no-lending",
                            keepsWarm ? "" : "-cold",
                            afe ? "-afe" : "",
                            halves ? "-halves" : "");
        }
    }

    private static final List<Row> ROWS = List.of(
            new Row("tiresias", false, "small", true, false, false, 7017, 1664, 16612, 31),
            new Row("afs", false, "small", true, false, false, 5932, 1258, 17360, 367),
            new Row("optimus", false, "small", true, false, false, 7814, 4724, 28305, 492),
            new Row("tiresias", true, "small", false, false, false, 2618, 716, 5358, 137),
            new Row("tiresias", true, "small", true, false, false, 2740, 704, 6317, 181),
            new Row("tiresias", true, "small", true, true, false, 2713, 704, 5306, 190),
            new Row("afs", true, "small", false, false, true, 2785, 938, 6946, 2372),
            new Row("afs", true, "small", true, true, true, 2662, 834, 6593, 2359),
            new Row("optimus", true, "small", false, false, true, 4808, 2076, 17088, 2767),
            new Row("optimus", true, "small", true, true, true, 4598, 2012, 17015, 2802),
            new Row("tiresias", true, "middle", true, false, false, 4192, 852, 9848, 598),
            new Row("afs", true, "middle", true, false, true, 4044, 1011, 11793, 2726),
            new Row("optimus", true, "middle", true, false, true, 5929, 2506, 24191, 3349),
            new Row("pollux", false, "small", true, false, false, 4435, 1074, 12248, 666),
            new Row("pollux", true, "small", true, false, false, 2389, 800, 5510, 1681),
            new Row("deepboot", false, "small", true, false, false, 4222, 1292, 11803, 505),
            new Row("deepboot", false, "small", true, true, false, 4057, 1229, 11890, 485),
            new Row("deepboot", true, "small", true, false, false, 2365, 924, 6517, 1836),
            new Row("deepboot", true, "small", true, true, false, 2334, 917, 6345, 1831),
            new Row("deepboot", true, "middle", true, false, false, 2837, 1040, 7421, 3427),
            new Row("deepboot", true, "middle", true, true, false, 2674, 940, 7378, 3415));

    private final Path data = Optional.ofNullable(System.getenv("LENDSTREAM_DATA"))
            .map(Path::of)
            .orElse(Path.of("../shared/data"))
            .resolve("deepboot");

    BenchMain.Result measure() {
        if (!Files.isDirectory(data)) {
            System.err.printf(
                    "published: %s is no directory; set LENDSTREAM_DATA to the directory that has the published workloads in deepboot/%n",
                    data);
            System.exit(1);
        }
        Map<String, Double> ours = new LinkedHashMap<>();
        Map<String, Double> published = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        System.out.printf("%-38s %23s %23s %23s %19s%n", "", "average JCT (s)", "p50 (s)", "p95 (s)", "restarts");
        for (Row row : ROWS) {
            List<Summary> runs = LongStream.rangeClosed(1, CHAOTIC.contains(row.policy) ? STARTS : 1)
                    .mapToObj(seed -> run(row, seed))
                    .toList();
            double average = mean(runs, run -> run.jctSeconds().mean());
            System.out.printf(
                    "%-38s %s %s %s %s%n",
                    row.name(),
                    beside(average, row.average),
                    beside(mean(runs, run -> run.jctSeconds().quantile(.5)), row.p50),
                    beside(mean(runs, run -> run.jctSeconds().quantile(.95)), row.p95),
                    beside(mean(runs, Summary::restarts), row.restarts));
            ours.put(row.name(), average);
            published.put(row.name(), row.average);
            ratio.put(row.name(), average / row.average);
        }
        return new BenchMain.Result(ours, published, ratio);
    }

    private Summary run(Row row, long seed) {
        PublishedSettings settings = PublishedSettings.of(row.policy, 16, 4)
                .withWarmReplicas(row.keepsWarm)
                .withAfe(row.afe)
                .withHalves(row.halves);
        Path workload = data.resolve("workload").resolve(row.workload + ".csv");
        return Summary.of(new PublishedReplay(row.policy, row.lending, 8, settings)
                .withSeed(seed)
                .run(PublishedWorkload.read(workload), data.resolve("traces")));
    }

    private static double mean(List<Summary> runs, ToDoubleFunction<Summary> figure) {
        return runs.stream().mapToDouble(figure).average().orElseThrow();
    }

    private static String beside(double ours, double published) {
        return "%6.0f of %5.0f %+5.1f %%".formatted(ours, published, 100 * (ours / published - 1));
    }
}
