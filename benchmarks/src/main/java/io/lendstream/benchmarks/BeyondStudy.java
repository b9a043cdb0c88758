package io.lendstream.benchmarks;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The policy {@code lendstream} against {@code deepboot} in the same engine, on 16 nodes of 4 GPUs: the five workloads
 * of Pollux, each with DeepBoot's small and middle stream of requests; the first one with a heavier stream; and, on the
 * first with the small stream, what each part of the policy does. A ratio below 1 means that {@code lendstream} is
 * better. The constants of the policy were tuned on the first workload with the small and the middle stream.
 */
final class BeyondStudy implements Bench {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final int NODES = 16;
    private static final int GPUS_PER_NODE = 4;
    private static final int TRAINING_NODES = 8;
    private static final int WORKLOADS = 5;
    private static final double LONGER = 1.5;

    /** The bounds on ratios of average JCT, of the share of cold starts, and of p99 JCT. */
    private static final double MOST_JCT = 0.93;

    private static final double MOST_MEAN_JCT = 0.86;
    private static final double MOST_COLD = 0.25;
    private static final double MOST_COLD_HEAVY = 0.8;
    private static final double MOST_P99 = 1.2;

    private static final List<String> PARTS = List.of(
            "lendstream:plan-after-jobs=60s",
            "lendstream:scaling=0",
            "lendstream:payback=100s",
            "lendstream:payback=1000s",
            "lendstream:protect-scale=1",
            "lendstream:wait-price=0",
            "lendstream:wait-price=1",
            "lendstream:wait-price=1000000",
            "clairvoyant");

    private final boolean isShort;
    private final Path data = PublicData.with(
            "beyond",
            "deepboot/workload/small.csv",
            "deepboot/workload/middle.csv",
            "deepboot/traces",
            "pollux/workloads");
    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private final Map<String, Double> ratios = new LinkedHashMap<>();
    private final Map<String, Double> bounds = new LinkedHashMap<>();

    /**
     * Figures of a run.
     *
     * @param cold requests of a hundred that waited for a replica to start
     * @param waited requests of a hundred that waited for a GPU
     * @param gpuHoursRescaling GPU hours of changes, without first starts
     */
    private record Figures(
            double jct,
            double p95,
            double p99,
            double cold,
            double overhead,
            double waited,
            double slo,
            double changes,
            double gpuHoursRescaling,
            double gpuHoursLent) {
        static Figures of(Summary summary) {
            Summary.Requests requests = summary.requests();
            double offered = Math.max(1, requests.offered());
            Distribution delays = requests.startDelaySeconds();
            return new Figures(
                    summary.jct(Distribution::mean).orElse(Double.POSITIVE_INFINITY),
                    summary.jct(all -> all.quantile(.95)).orElse(Double.POSITIVE_INFINITY),
                    summary.jct(all -> all.quantile(.99)).orElse(Double.POSITIVE_INFINITY),
                    100 * requests.coldStarts() / offered,
                    requests.overheadSeconds().mean(),
                    100 * (1 - delays.upTo(0) / Math.max(1, delays.count())),
                    100 * requests.sloAttainment().orElse(1.0),
                    summary.jobs().restarts(),
                    summary.gpuHoursRescaling() - summary.gpuHoursFirstStarts().orElse(0),
                    summary.lending().gpuHours());
        }
    }

    private BeyondStudy(boolean isShort) {
        this.isShort = isShort;
    }

    /** Reads {@code [--short]}: the first workload only, without parts; empty if the arguments are different. */
    static Optional<BeyondStudy> parse(List<String> arguments) {
        boolean shortened = arguments.equals(List.of("--short"));
        return arguments.isEmpty() || shortened ? Optional.of(new BeyondStudy(shortened)) : Optional.empty();
    }

    @Override
    public BenchReport measure() {
        System.out.printf(
                "%-44s %8s %6s %6s %6s %7s %6s %8s %7s %7s %8s %9s %7s%n",
                "",
                "JCT, s",
                "ratio",
                "p95",
                "p99",
                "cold, %",
                "ratio",
                "overhead",
                "wait, %",
                "SLO, %",
                "changes",
                "rescaling",
                "lent");
        try {
            Path directory = Files.createTempDirectory("lendstream-beyond-");
            for (String stream : List.of("small", "middle")) {
                compare(stream, stream(directory, stream, 1, 1));
            }
            if (!isShort) {
                heavier(directory);
                parts(stream(directory, "small", 1, 1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BenchReport(metrics, Map.of(), ratios, StatedBounds.above(ratios, bounds));
    }

    /** Each workload of jobs with a stream of requests. */
    private void compare(String stream, Path requests) {
        double sum = 0;
        int workloads = isShort ? 1 : WORKLOADS;
        for (int i = 1; i <= workloads; i++) {
            String name = stream + ", workload " + i;
            sum += compare(name, requests, i, MOST_COLD);
            bounds.put(name + ", JCT", MOST_JCT);
        }
        ratios.put(stream + ", mean of JCT ratios", sum / workloads);
        bounds.put(stream + ", mean of JCT ratios", MOST_MEAN_JCT);
    }

    private void heavier(Path directory) throws IOException {
        compare("heavier, workload 1", stream(directory, "middle", 2, LONGER), 1, MOST_COLD_HEAVY);
        bounds.put("heavier, workload 1, JCT", MOST_JCT);
    }

    private double compare(String name, Path requests, int workload, double mostCold) {
        Figures base = replay("deepboot", requests, workload);
        print(name + ", deepboot", base, base);
        Figures own = replay("lendstream", requests, workload);
        print(name + ", lendstream", own, base);
        keep(name, own, base);
        bounds.put(name + ", cold starts", mostCold);
        bounds.put(name + ", p99 JCT", MOST_P99);
        return own.jct / base.jct;
    }

    /** What changes if a part of the policy is left out or set in another way. */
    private void parts(Path requests) {
        Figures base = replay("deepboot", requests, 1);
        for (String policy : PARTS) {
            Figures figures = replay(policy, requests, 1);
            print("small, workload 1, " + policy, figures, base);
            keep("small, workload 1, " + policy, figures, base);
        }
    }

    private void keep(String name, Figures own, Figures base) {
        metrics.put(name + ", JCT s", own.jct);
        metrics.put(name + ", cold starts %", own.cold);
        ratios.put(name + ", JCT", own.jct / base.jct);
        ratios.put(name + ", p95 JCT", own.p95 / base.p95);
        ratios.put(name + ", p99 JCT", own.p99 / base.p99);
        ratios.put(name + ", cold starts", own.cold / base.cold);
        ratios.put(name + ", changes", own.changes / base.changes);
        ratios.put(name + ", GPU-hours rescaling", own.gpuHoursRescaling / base.gpuHoursRescaling);
    }

    private static void print(String name, Figures own, Figures base) {
        System.out.printf(
                "%-44s %8.0f %6.3f %6.3f %6.3f %7.2f %6.3f %8.2f %7.2f %7.2f %8.0f %9.1f %7.1f%n",
                name,
                own.jct,
                own.jct / base.jct,
                own.p95 / base.p95,
                own.p99 / base.p99,
                own.cold,
                own.cold / base.cold,
                own.overhead,
                own.waited,
                own.slo,
                own.changes,
                own.gpuHoursRescaling,
                own.gpuHoursLent);
    }

    private Figures replay(String policy, Path requests, int workload) {
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, NODES, GPUS_PER_NODE, TRAINING_NODES, 1);
        Scene scene = new Scene(
                DOMAIN,
                Workload.EPOCH,
                1,
                TRAINING_NODES * GPUS_PER_NODE,
                (NODES - TRAINING_NODES) * GPUS_PER_NODE,
                Optional.of(data.resolve("deepboot/traces")),
                Optional.empty(),
                false,
                List.of());
        Path jobs = data.resolve("pollux/workloads/workload-%d.csv".formatted(workload));
        Workload played = Workloads.load(jobs + "," + requests, scene);
        ReplaySettings settings = ReplaySettings.of(policy, true, true, layout).withoutLog();
        return Figures.of(Summary.of(Replay.run(played, settings).outcome()));
    }

    /**
     * The requests of one of DeepBoot's workloads, without its jobs.
     *
     * @param times how many requests each becomes, which are spread up to the next one
     * @param longer factor on their duration
     */
    private Path stream(Path directory, String name, int times, double longer) throws IOException {
        List<String> lines = Files.readAllLines(data.resolve("deepboot/workload/" + name + ".csv"));
        List<String[]> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] row = line.split(",", -1);
            if (row[2].startsWith("infer-")) {
                rows.add(row);
            }
        }
        List<String> written = new ArrayList<>(List.of(lines.get(0)));
        for (int i = 0; i < rows.size(); i++) {
            String[] row = rows.get(i);
            int at = Integer.parseInt(row[1]);
            int next = i + 1 < rows.size() ? Integer.parseInt(rows.get(i + 1)[1]) : at;
            for (int copy = 0; copy < times; copy++) {
                String[] other = row.clone();
                other[0] = row[0] + (copy == 0 ? "" : "-" + copy);
                other[1] = String.valueOf(at + (next - at) * copy / times);
                other[5] = String.valueOf(Double.parseDouble(row[5]) * longer);
                written.add(String.join(",", other));
            }
        }
        Path file = directory.resolve("%s-%d.csv".formatted(name, times));
        Files.write(file, written);
        return file;
    }
}
