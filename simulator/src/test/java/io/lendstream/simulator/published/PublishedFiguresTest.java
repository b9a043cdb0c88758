package io.lendstream.simulator.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.results.Summary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Published figures, on the published workloads where they are available: in LENDSTREAM_DATA, or in shared/data beside
 * the project. Policies that do not fit anything must give them to the second.
 */
@Tag("long")
class PublishedFiguresTest {
    private static final int STARTS = 5;

    private final Path data =
            Optional.ofNullable(System.getenv("LENDSTREAM_DATA")).map(Path::of).orElse(Path.of("../../shared/data"));

    private Path needed(String path) {
        Path file = data.resolve(path);
        assumeThat(Files.exists(file))
                .as("published workloads in %s; set LENDSTREAM_DATA to the directory that has them", data)
                .isTrue();
        return file;
    }

    private Summary run(String workload, boolean lending, PublishedSettings settings, long seed) {
        Path file = needed(workload);
        return Summary.of(new PublishedReplay(settings.policy().info().name(), lending, 8, settings)
                .withSeed(seed)
                .run(PublishedWorkload.read(file), needed("deepboot/traces")));
    }

    @ParameterizedTest
    @CsvSource({
        // policy, lending, workload, AISS, AFE, ARYL: average, p50, p95, p99, makespan, restarts
        "tiresias, false, small,  true,  false, false, 7017, 1664,  16612,  90358, 154714,   31",
        "afs,      false, small,  true,  false, false, 5932, 1258,  17360, 100700, 127634,  367",
        "optimus,  false, small,  true,  false, false, 7814, 4724,  28305, 100521, 125113,  492",
        "tiresias, true,  small,  false, false, false, 2618,  716,   5358,  49758,  85120,  137",
        "tiresias, true,  small,  true,  false, false, 2740,  704,   6317,  50361,  87334,  181",
        "tiresias, true,  small,  true,  true,  false, 2713,  704,   5306,  50181,  85800,  190",
        "afs,      true,  small,  false, false, true,  2785,  938,   6946,  50622,  82567, 2372",
        "afs,      true,  small,  true,  true,  true,  2662,  834,   6593,  48844,  77067, 2359",
        "optimus,  true,  small,  false, false, true,  4808, 2076,  17088,  57194,  81744, 2767",
        "optimus,  true,  small,  true,  true,  true,  4598, 2012,  17015,  54358,  79529, 2802",
        "tiresias, true,  middle, true,  false, false, 4192,  852,   9848,  61887, 110274,  598",
        "afs,      true,  middle, true,  false, true,  4044, 1011,  11793,  63023,  89569, 2726",
        "optimus,  true,  middle, true,  false, true,  5929, 2506,  24191,  66253,  92188, 3349"
    })
    void jobsOfPoliciesWithoutFits(
            String policy,
            boolean lending,
            String workload,
            boolean keepsWarm,
            boolean afe,
            boolean halves,
            double average,
            double p50,
            double p95,
            double p99,
            double makespan,
            int restarts) {
        Summary summary = run(
                "deepboot/workload/%s.csv".formatted(workload),
                lending,
                PublishedSettings.of(policy, 16, 4)
                        .withWarmReplicas(keepsWarm)
                        .withAfe(afe)
                        .withHalves(halves),
                1);

        Distribution jct = summary.jobs().jctSeconds();
        assertThat(Math.rint(jct.mean())).isEqualTo(average);
        assertThat(Math.rint(jct.quantile(.5))).isEqualTo(p50);
        assertThat(Math.rint(jct.quantile(.95))).isEqualTo(p95);
        assertThat(Math.rint(jct.quantile(.99))).isEqualTo(p99);
        assertThat(summary.jobs().makespanSeconds()).contains(makespan);
        assertThat(summary.jobs().restarts()).isEqualTo(restarts);
    }

    @ParameterizedTest
    @CsvSource({
        // policy, workload, AISS, AFE, ARYL: start delay (mean, max), cold starts, response overhead (mean, p99, max)
        "tiresias, small,  false, false, false, 0.1375, 37, 3200, 5.81, 9, 43",
        "tiresias, small,  true,  false, false, 0.0028,  1,  435, 0.76, 8,  9",
        "tiresias, small,  true,  true,  false, 0.0028,  2,  410, 0.72, 8,  8",
        "afs,      small,  false, false, true,  0.1375, 37, 3200, 5.81, 9, 43",
        "afs,      small,  true,  true,  true,  0.0091,  4, 1582, 2.81, 8, 10",
        "optimus,  small,  false, false, true,  0.0000,  0, 3200, 5.67, 8,  8",
        "optimus,  small,  true,  true,  true,  0.0000,  0, 1112, 1.91, 8,  8",
        "tiresias, middle, true,  false, false, 0.0030,  4, 3273, 1.15, 8,  9",
        "afs,      middle, true,  false, true,  0.0056,  3, 6058, 2.15, 8,  9",
        "optimus,  middle, true,  false, true,  0.0000,  0, 4217, 1.47, 8,  8"
    })
    void requestsBesidePoliciesWithoutFits(
            String policy,
            String workload,
            boolean keepsWarm,
            boolean afe,
            boolean halves,
            double delay,
            double longestDelay,
            int coldStarts,
            double overhead,
            double overheadP99,
            double longestOverhead) {
        Summary summary = run(
                "deepboot/workload/%s.csv".formatted(workload),
                true,
                PublishedSettings.of(policy, 16, 4)
                        .withWarmReplicas(keepsWarm)
                        .withAfe(afe)
                        .withHalves(halves),
                1);

        assertThat(summary.requests().startDelaySeconds().mean()).isEqualTo(delay, within(.00006));
        assertThat(summary.requests().startDelaySeconds().max()).isEqualTo(longestDelay);
        assertThat(summary.requests().coldStarts()).isEqualTo(coldStarts);
        assertThat(summary.requests().overheadSeconds().mean()).isEqualTo(overhead, within(.0051));
        assertThat(summary.requests().overheadSeconds().quantile(.99)).isEqualTo(overheadP99, within(.01));
        assertThat(summary.requests().overheadSeconds().max()).isEqualTo(longestOverhead);
    }

    @ParameterizedTest
    @CsvSource({
        // Averages of workloads 1 to 5 at each load
        "workloads-0.5, 1450.9,  2333.3,  1869.9,  1946.8,  1425.4",
        "workloads,     2473.7,  5145.0,  3876.3,  3280.3,  3501.0",
        "workloads-1.5, 5520.3,  6333.8,  6562.0,  5577.3,  6832.4",
        "workloads-2.0, 10138.2, 8656.0, 10727.8,  9664.7, 12098.1"
    })
    void tiresiasInTheArtefactOfPollux(
            String load, double first, double second, double third, double fourth, double fifth) {
        double[] published = {first, second, third, fourth, fifth};

        for (int i = 0; i < published.length; i++) {
            assertThat(pollux("tiresias", load, i + 1))
                    .as("%s %d", load, i + 1)
                    .isCloseTo(published[i], withPercentage(.004));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "workloads-0.5, 1309.7,  3124.6, 1986.8,  2173.9,  1324.5",
        "workloads,     4087.1,  6913.9, 3944.0,  5967.8,  5656.2",
        "workloads-1.5, 7673.8,  6678.2, 5683.6,  7683.8,  7899.7",
        "workloads-2.0, 10806.6, 8515.4, 8363.4, 10312.9, 11830.0"
    })
    void optimusInTheArtefactOfPollux(
            String load, double first, double second, double third, double fourth, double fifth) {
        double[] published = {first, second, third, fourth, fifth};

        for (int i = 0; i < published.length; i++) {
            assertThat(pollux("optimus", load, i + 1))
                    .as("%s %d", load, i + 1)
                    .isCloseTo(published[i], withPercentage(.004));
        }
    }

    /** The lightest load, which takes least; {@code ./dev bench published} has all. */
    @ParameterizedTest
    @CsvSource({"3, 1310.5", "5, 976.8"})
    void polluxInItsOwnArtefact(int workload, double published) {
        assertThat(pollux("pollux", "workloads-0.5", workload)).isCloseTo(published, withPercentage(5));
    }

    private double pollux(String policy, String load, int workload) {
        PublishedSettings settings = PublishedSettings.of(policy, 16, 4).withTiming(PublishedSettings.Timing.POLLUX);
        return run("pollux/%s/workload-%d.csv".formatted(load, workload), true, settings, 1)
                .jobs()
                .jctSeconds()
                .mean();
    }

    /**
     * DeepBoot's figures depend on the last bit of its fits, so that only means over several starts can be compared. Of
     * shared GPUs without AFE one run is published, and for the small workload it lies outside of the range of its
     * own simulator: from twelve starts 2379 to 2529 s, on average 2467 s, which counts here in place of the
     * published 2365 s.
     */
    @ParameterizedTest
    @CsvSource({
        // lending, workload, AFE: average and how near; p50, p95 and restarts; cold starts, mean response overhead
        "false, small,  false, 4222, 3, 1256, 1327, 11581, 12024,  501,  508,    0,    0, 0,    0",
        "true,  small,  true,  2334, 3,  912,  921,  6328,  6361, 1828, 1833, 1577, 1606, 2.80, 2.85",
        "true,  small,  false, 2467, 3,  924, 1092,  5977,  6912, 1830, 1955, 1561, 1628, 2.78, 2.89",
        "true,  middle, false, 2837, 3, 1040, 1040,  7421,  7421, 3427, 3427, 6694, 6694, 2.37, 2.37",
        "true,  middle, true,  2674, 3,  940,  940,  7378,  7378, 3415, 3415, 6634, 6634, 2.35, 2.35"
    })
    void deepBoot(
            boolean lending,
            String workload,
            boolean afe,
            double average,
            double percent,
            double leastP50,
            double mostP50,
            double leastP95,
            double mostP95,
            double leastRestarts,
            double mostRestarts,
            double leastCold,
            double mostCold,
            double leastOverhead,
            double mostOverhead) {
        PublishedSettings settings = PublishedSettings.of("deepboot", 16, 4).withAfe(afe);
        List<Summary> runs = LongStream.rangeClosed(1, STARTS)
                .mapToObj(seed -> run("deepboot/workload/%s.csv".formatted(workload), lending, settings, seed))
                .toList();

        assertThat(mean(runs, run -> run.jobs().jctSeconds().mean())).isCloseTo(average, withPercentage(percent));
        assertThat(mean(runs, run -> run.jobs().jctSeconds().quantile(.5))).isBetween(.95 * leastP50, 1.05 * mostP50);
        assertThat(mean(runs, run -> run.jobs().jctSeconds().quantile(.95))).isBetween(.95 * leastP95, 1.05 * mostP95);
        assertThat(mean(runs, each -> each.jobs().restarts())).isBetween(.95 * leastRestarts, 1.05 * mostRestarts);
        if (lending) {
            assertThat(mean(runs, each -> each.requests().coldStarts())).isBetween(.95 * leastCold, 1.05 * mostCold);
            assertThat(mean(runs, run -> run.requests().overheadSeconds().mean()))
                    .isBetween(.95 * leastOverhead, 1.05 * mostOverhead);
        }
    }

    /**
     * The search draws by chance, and its figures depend on fits as DeepBoot's do: the reference has a run or two of
     * each.
     */
    @ParameterizedTest
    @CsvSource({
        // lending: average; p50, p95 and restarts, one run's where there was one
        "false, 4435, 1070, 1078, 12184, 12312,  664,  667",
        "true,  2389,  800,  800,  5510,  5510, 1681, 1681"
    })
    void pollux(
            boolean lending,
            double average,
            double leastP50,
            double mostP50,
            double leastP95,
            double mostP95,
            double leastRestarts,
            double mostRestarts) {
        PublishedSettings settings = PublishedSettings.of("pollux", 16, 4);
        List<Summary> runs = LongStream.rangeClosed(1, 2)
                .mapToObj(seed -> run("deepboot/workload/small.csv", lending, settings, seed))
                .toList();

        assertThat(mean(runs, run -> run.jobs().jctSeconds().mean())).isCloseTo(average, withPercentage(3));
        assertThat(mean(runs, run -> run.jobs().jctSeconds().quantile(.5))).isBetween(.95 * leastP50, 1.05 * mostP50);
        assertThat(mean(runs, run -> run.jobs().jctSeconds().quantile(.95))).isBetween(.95 * leastP95, 1.05 * mostP95);
        assertThat(mean(runs, each -> each.jobs().restarts())).isBetween(.95 * leastRestarts, 1.05 * mostRestarts);
    }

    @Test
    void deepBootGivesTheSameAgainFromTheSameStart() {
        PublishedSettings settings = PublishedSettings.of("deepboot", 16, 4).withAfe(true);

        Summary first = run("deepboot/workload/small.csv", true, settings, 1);
        Summary second = run("deepboot/workload/small.csv", true, settings, 1);

        assertThat(second.jobs().jctSeconds().mean())
                .isEqualTo(first.jobs().jctSeconds().mean());
        assertThat(second.jobs().restarts()).isEqualTo(first.jobs().restarts());
        assertThat(second.requests().coldStarts()).isEqualTo(first.requests().coldStarts());
    }

    private static double mean(List<Summary> runs, ToDoubleFunction<Summary> figure) {
        return runs.stream().mapToDouble(figure).average().orElseThrow();
    }
}
