package io.lendstream.benchmarks;

import io.lendstream.simulator.published.PublishedReplay;
import io.lendstream.simulator.published.PublishedSettings;
import io.lendstream.simulator.published.PublishedWorkload;
import io.lendstream.simulator.results.Summary;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;

/**
 * Published figures of policies compared with ours in published timing. From DeepBoot's simulator: average JCT,
 * quantiles, restarts, cold starts and response overhead; from the artefact of Pollux: averages. Policies that fit
 * step times online run from several starts in DeepBoot's simulator; their mean counts.
 */
final class PublishedFigures implements Bench {
    private static final int STARTS = 5;
    /** Policies whose runs depend on the last bit of a fit. */
    private static final Set<String> CHAOTIC = Set.of("deepboot", "pollux");

    /** The range of a figure in runs of the reference that differ by chance alone. */
    private record Range(double least, double most) {
        private static final double MARGIN = .05;

        static Range parse(String text) {
            String[] ends = text.split("-", -1);
            return new Range(Double.parseDouble(ends[0]), Double.parseDouble(ends[ends.length - 1]));
        }

        /** Whether a figure is in the range or close to it. */
        boolean has(double figure) {
            return figure >= (1 - MARGIN) * least && figure <= (1 + MARGIN) * most;
        }

        String beside(double figure) {
            String text = most < 10 ? "%.2f" : "%.0f";
            String published = least == most ? text.formatted(least) : (text + "-" + text).formatted(least, most);
            return "%s of %s%s".formatted(text.formatted(figure), published, has(figure) ? "" : " !");
        }
    }

    /**
     * A published run: policy, workload and options of the simulator.
     *
     * @param keepsWarm AISS
     * @param halves ARYL
     */
    private record Run(
            String policy, boolean lending, String workload, boolean keepsWarm, boolean afe, boolean halves) {
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

    /**
     * A published run and its figures.
     *
     * @param average JCT in seconds; so are p50 and p95
     */
    private record Row(
            Run run, double average, Range p50, Range p95, Range restarts, Range coldStarts, Range overhead) {
        static Row of(String line) {
            String[] parts = line.split(",", -1);
            var run = new Run(parts[0], isYes(parts[1]), parts[2], isYes(parts[3]), isYes(parts[4]), isYes(parts[5]));
            return new Row(
                    run,
                    Double.parseDouble(parts[6]),
                    Range.parse(parts[7]),
                    Range.parse(parts[8]),
                    Range.parse(parts[9]),
                    Range.parse(parts[10]),
                    Range.parse(parts[11]));
        }

        private static boolean isYes(String text) {
            return text.equals("yes");
        }
    }

    /** Averages of the artefact of Pollux, for its workloads 1 to 5 at a load. */
    private record Load(String policy, String workloads, List<Double> averages) {}

    private static final List<Load> LOADS = List.of(
            new Load("tiresias", "workloads-0.5", List.of(1450.9, 2333.3, 1869.9, 1946.8, 1425.4)),
            new Load("tiresias", "workloads", List.of(2473.7, 5145.0, 3876.3, 3280.3, 3501.0)),
            new Load("tiresias", "workloads-1.5", List.of(5520.3, 6333.8, 6562.0, 5577.3, 6832.4)),
            new Load("tiresias", "workloads-2.0", List.of(10138.2, 8656.0, 10727.8, 9664.7, 12098.1)),
            new Load("optimus", "workloads-0.5", List.of(1309.7, 3124.6, 1986.8, 2173.9, 1324.5)),
            new Load("optimus", "workloads", List.of(4087.1, 6913.9, 3944.0, 5967.8, 5656.2)),
            new Load("optimus", "workloads-1.5", List.of(7673.8, 6678.2, 5683.6, 7683.8, 7899.7)),
            new Load("optimus", "workloads-2.0", List.of(10806.6, 8515.4, 8363.4, 10312.9, 11830.0)),
            new Load("pollux", "workloads-0.5", List.of(1059.5, 1826.3, 1310.5, 1497.8, 976.8)),
            new Load("pollux", "workloads", List.of(2088.8, 3322.9, 2188.5, 2721.0, 2673.7)),
            new Load("pollux", "workloads-1.5", List.of(3855.8, 3380.6, 3299.9, 3902.7, 4007.3)),
            new Load("pollux", "workloads-2.0", List.of(6186.3, 4190.8, 5131.8, 5262.4, 6590.8)));

    private final Path data = PublicData.with("published", "deepboot", "pollux");
    private final Map<String, Double> ours = new LinkedHashMap<>();
    private final Map<String, Double> published = new LinkedHashMap<>();
    private final Map<String, Double> ratio = new LinkedHashMap<>();

    @Override
    public BenchReport measure() {
        System.out.println(
                "Our figures against the published ones; ! is more than 5 percent outside the range of the reference.");
        PublicData.reference("published-reference.csv").map(Row::of).forEach(this::measure);
        LOADS.forEach(this::measure);
        return new BenchReport(ours, published, ratio);
    }

    private void measure(Row row) {
        Run run = row.run;
        PublishedSettings settings = PublishedSettings.of(run.policy, 16, 4)
                .withWarmReplicas(run.keepsWarm)
                .withAfe(run.afe)
                .withHalves(run.halves);
        Path workload = data.resolve("deepboot/workload").resolve(run.workload + ".csv");
        List<Summary> runs = LongStream.rangeClosed(1, CHAOTIC.contains(run.policy) ? STARTS : 1)
                .mapToObj(seed -> run(run.policy, run.lending, settings, workload, seed))
                .toList();
        took(run.name(), mean(runs, each -> each.jobs().jctSeconds().mean()), row.average);
        System.out.printf(
                "    p50 %s, p95 %s, restarts %s%n",
                row.p50.beside(mean(runs, each -> each.jobs().jctSeconds().quantile(.5))),
                row.p95.beside(mean(runs, each -> each.jobs().jctSeconds().quantile(.95))),
                row.restarts.beside(mean(runs, each -> each.jobs().restarts())));
        if (run.lending) {
            System.out.printf(
                    "    cold starts %s, response overhead %s%n",
                    row.coldStarts.beside(mean(runs, each -> each.requests().coldStarts())),
                    row.overhead.beside(
                            mean(runs, each -> each.requests().overheadSeconds().mean())));
        }
    }

    private void measure(Load load) {
        PublishedSettings settings =
                PublishedSettings.of(load.policy, 16, 4).withTiming(PublishedSettings.Timing.POLLUX);
        for (int i = 0; i < load.averages.size(); i++) {
            String name = "workload-%d.csv".formatted(i + 1);
            Path workload = data.resolve("pollux").resolve(load.workloads).resolve(name);
            double average = run(load.policy, true, settings, workload, 1)
                    .jobs()
                    .jctSeconds()
                    .mean();
            took("artefact-%s-%s-%d".formatted(load.policy, load.workloads, i + 1), average, load.averages.get(i));
        }
    }

    private void took(String name, double average, double reference) {
        System.out.printf(
                "%-36s average JCT %7.1f s of %7.1f s %+6.2f %%%n",
                name, average, reference, 100 * (average / reference - 1));
        ours.put(name, average);
        published.put(name, reference);
        ratio.put(name, average / reference);
    }

    private Summary run(String policy, boolean lending, PublishedSettings settings, Path workload, long seed) {
        return Summary.of(new PublishedReplay(policy, lending, 8, settings)
                .withSeed(seed)
                .run(PublishedWorkload.read(workload), data.resolve("deepboot/traces")));
    }

    private static double mean(List<Summary> runs, ToDoubleFunction<Summary> figure) {
        return runs.stream().mapToDouble(figure).average().orElseThrow();
    }
}
