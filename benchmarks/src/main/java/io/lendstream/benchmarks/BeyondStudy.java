package io.lendstream.benchmarks;

import io.lendstream.benchmarks.BeyondRuns.Run;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.replay.Replayed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * The policy {@code lendstream} against {@code deepboot} and others in the same engine, on 16 nodes of 4 GPUs. Ratios
 * are to {@code deepboot} of the same jobs and requests; below 1 {@code lendstream} is better. Parts:
 *
 * <ul>
 *   <li>{@code pairs}: the five workloads of Pollux, each with DeepBoot's small and middle stream of requests, and the
 *       first with a heavier stream; medians of five disturbances of the fits
 *   <li>{@code prices}: the first workload at other prices of a wait
 *   <li>{@code peers}: other policies, with lending and without
 *   <li>{@code waits}: how much longer requests wait for a GPU than without lending
 *   <li>{@code ablations}: what each part of the policy does, on the first workload with the small stream
 * </ul>
 *
 * <p>The constants of the policy were tuned on the first workload with the small and the middle stream.
 */
final class BeyondStudy implements Bench {
    private static final int WORKLOADS = 5;
    private static final int SEEDS = 5;
    private static final String BASE = "deepboot";
    private static final String OWN = "lendstream";
    private static final Set<String> PARTS = new TreeSet<>(List.of("pairs", "prices", "peers", "waits", "ablations"));

    /** Average JCT in seconds as DeepBoot's authors publish it, with the first workload. */
    private static final Map<String, Double> PUBLISHED = Map.of("small", 2334.0, "middle", 2674.0);

    /** The bounds on ratios of average JCT, of the share of cold starts, and of p99 JCT. */
    private static final double MOST_JCT = 0.93;

    private static final double MOST_MEAN_JCT = 0.86;
    private static final double MOST_COLD = 0.25;
    private static final double MOST_COLD_HEAVY = 0.8;
    private static final double MOST_P99 = 1.2;
    private static final double MOST_MEAN_P99 = 1.06;
    private static final double MOST_MEAN_P95 = 1;

    private static final List<String> PRICES = List.of(
            "lendstream:wait-price=2.5",
            "lendstream:wait-price=1.7",
            "lendstream:wait-price=1.2",
            "lendstream:wait-price=1");
    private static final List<String> PEERS = List.of("pollux", "optimus", "afs", "tiresias", "clairvoyant");
    private static final List<String> ABLATIONS = List.of(
            "lendstream:plan-after-jobs=60s",
            "lendstream:scaling=0",
            "lendstream:payback=100s",
            "lendstream:payback=1000s",
            "lendstream:protect-scale=1",
            "lendstream:wait-price=0",
            "lendstream:wait-price=1000000");

    private final Set<String> parts;
    private final int workloads;
    private final int seeds;
    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private final Map<String, Double> reference = new LinkedHashMap<>();
    private final Map<String, Double> ratios = new LinkedHashMap<>();
    private final Map<String, Double> bounds = new LinkedHashMap<>();

    /** Figures that are on their way, and what they are compared with. */
    private record Row(String name, CompletableFuture<BeyondFigures> own, CompletableFuture<BeyondFigures> base) {}

    private BeyondStudy(Set<String> parts, boolean isShort) {
        this.parts = parts;
        this.workloads = isShort ? 1 : WORKLOADS;
        this.seeds = isShort ? 1 : SEEDS;
    }

    /**
     * Reads {@code [--short] [--part NAME]}; empty if the arguments are different. Short: one workload, without
     * disturbances.
     */
    static Optional<BeyondStudy> parse(List<String> arguments) {
        List<String> left = new ArrayList<>(arguments);
        boolean isShort = left.remove("--short");
        if (left.isEmpty()) {
            return Optional.of(new BeyondStudy(isShort ? Set.of("pairs") : PARTS, isShort));
        }
        boolean isPart = left.size() == 2 && left.get(0).equals("--part") && PARTS.contains(left.get(1));
        return isPart ? Optional.of(new BeyondStudy(Set.of(left.get(1)), isShort)) : Optional.empty();
    }

    @Override
    public BenchReport measure() {
        try (BeyondRuns runs = new BeyondRuns()) {
            if (parts.contains("pairs")) {
                pairs(runs);
            }
            if (parts.contains("prices")) {
                others(runs, "at other prices", PRICES);
            }
            if (parts.contains("peers")) {
                peers(runs);
            }
            if (parts.contains("waits")) {
                waits(runs);
            }
            if (parts.contains("ablations")) {
                ablations(runs);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BenchReport(metrics, reference, ratios, StatedBounds.above(ratios, bounds));
    }

    private static void heading(String title) {
        System.out.printf(
                "%n%s%n%-44s %7s %6s %6s %6s %7s %7s %6s %8s %7s %7s %8s %9s %7s%n",
                title,
                "",
                "JCT, s",
                "ratio",
                "p95",
                "p99",
                "slowest",
                "cold, %",
                "ratio",
                "overhead",
                "wait, %",
                "SLO, %",
                "changes",
                "rescaling",
                "lent");
    }

    /** Each workload of jobs with a stream of requests. */
    private void pairs(BeyondRuns runs) {
        heading("each workload with each stream, medians of %d disturbances; slowest: the mean of the slowest twentieth"
                .formatted(seeds));
        List<Row> rows = new ArrayList<>();
        for (String stream : List.of("small", "middle", "heavier")) {
            for (int workload = 1; workload <= (stream.equals("heavier") ? 1 : workloads); workload++) {
                rows.add(new Row(
                        "%s, workload %d".formatted(stream, workload),
                        runs.medians(Run.of(OWN, stream, workload), seeds),
                        runs.medians(Run.of(BASE, stream, workload), seeds)));
            }
        }
        List<BeyondFigures> own = new ArrayList<>();
        List<BeyondFigures> base = new ArrayList<>();
        for (Row row : rows) {
            boolean isHeavy = row.name.startsWith("heavier");
            print(row.name + ", " + BASE, row.base.join(), row.base.join());
            print(row.name + ", " + OWN, row.own.join(), row.base.join());
            keep(row.name, row.own.join(), row.base.join());
            bounds.put(row.name + ", JCT", MOST_JCT);
            bounds.put(row.name + ", p99 JCT", MOST_P99);
            bounds.put(row.name + ", cold starts", isHeavy ? MOST_COLD_HEAVY : MOST_COLD);
            if (!isHeavy) {
                own.add(row.own.join());
                base.add(row.base.join());
            }
        }
        PUBLISHED.forEach((stream, seconds) -> {
            reference.put(stream + ", workload 1, published JCT s", seconds);
            Double measured = metrics.get(stream + ", workload 1, JCT s");
            if (measured != null) {
                ratios.put(stream + ", workload 1, JCT to the published one", measured / seconds);
            }
        });
        means(own, base);
        rows.forEach(row -> applications(row.name, row.own.join(), row.base.join()));
    }

    private void means(List<BeyondFigures> own, List<BeyondFigures> base) {
        double jct = 0;
        double p95 = 0;
        double p99 = 0;
        for (int i = 0; i < own.size(); i++) {
            jct += own.get(i).jct() / base.get(i).jct() / own.size();
            p95 += own.get(i).p95() / base.get(i).p95() / own.size();
            p99 += own.get(i).p99() / base.get(i).p99() / own.size();
        }
        System.out.printf("%-44s %7s %6.3f %6.3f %6.3f%n", "mean of the small and middle rows", "", jct, p95, p99);
        ratios.put("mean of JCT ratios", jct);
        ratios.put("mean of p95 ratios", p95);
        ratios.put("mean of p99 ratios", p99);
        bounds.put("mean of JCT ratios", MOST_MEAN_JCT);
        bounds.put("mean of p95 ratios", MOST_MEAN_P95);
        bounds.put("mean of p99 ratios", MOST_MEAN_P99);
    }

    private static void applications(String name, BeyondFigures own, BeyondFigures base) {
        List<String> all = new ArrayList<>();
        own.byApplication()
                .forEach((application, seconds) -> all.add("%s %.2f"
                        .formatted(application, seconds / base.byApplication().getOrDefault(application, Double.NaN))));
        System.out.printf("%-44s JCT by application: %s%n", name, String.join(", ", all));
    }

    /** Other policies on the first workload, with each stream. */
    private void others(BeyondRuns runs, String title, List<String> policies) {
        heading("the first workload, " + title);
        List<Row> rows = new ArrayList<>();
        for (String stream : List.of("small", "middle", "heavier")) {
            CompletableFuture<BeyondFigures> base = runs.medians(Run.of(BASE, stream, 1), 1);
            for (String policy : policies) {
                rows.add(new Row(stream + ", " + policy, runs.medians(Run.of(policy, stream, 1), 1), base));
            }
        }
        rows.forEach(this::printAndKeep);
    }

    private void printAndKeep(Row row) {
        print(row.name, row.own.join(), row.base.join());
        keep(row.name, row.own.join(), row.base.join());
    }

    /** Other policies; and the better one of two without lending. A run that beats the oracle is marked. */
    private void peers(BeyondRuns runs) {
        others(runs, "other policies", PEERS);
        for (String stream : List.of("small", "middle", "heavier")) {
            CompletableFuture<Replayed> deepboot =
                    runs.begin(Run.of(BASE, stream, 1).withoutLending());
            CompletableFuture<Replayed> pollux =
                    runs.begin(Run.of("pollux", stream, 1).withoutLending());
            Replayed own = runs.begin(Run.of(OWN, stream, 1)).join();
            Replayed none = jct(deepboot.join()) <= jct(pollux.join()) ? deepboot.join() : pollux.join();
            double ratio = jct(own) / jct(none);
            double worst = BeyondFigures.worstJob(
                    own.outcome().results().jobs(), none.outcome().results().jobs());
            double oracle = metrics.getOrDefault(stream + ", clairvoyant, JCT s", Double.NaN);
            System.out.printf(
                    "%s: %.0f s, %.3f of the best without lending (%.0f s, %s), the worst job %.2f; %.3f of clairvoyant%s%n",
                    stream,
                    jct(own),
                    ratio,
                    jct(none),
                    none.outcome().run().policy(),
                    worst,
                    jct(own) / oracle,
                    jct(own) < oracle ? " (beats it: clairvoyant is no bound)" : "");
            ratios.put(stream + ", JCT to the best without lending", ratio);
            ratios.put(stream + ", worst job to the best without lending", worst);
        }
    }

    private static double jct(Replayed replayed) {
        return BeyondFigures.of(replayed).jct();
    }

    /** How much longer requests wait for a GPU with lending than without it, by the same policy. */
    private void waits(BeyondRuns runs) {
        System.out.printf(
                "%nhow much longer requests wait for a GPU than without lending; overhead: wait for a GPU and a start%n");
        for (String stream : List.of("small", "middle", "heavier")) {
            for (String policy : List.of(OWN, BASE)) {
                CompletableFuture<Replayed> with = runs.begin(Run.of(policy, stream, 1));
                CompletableFuture<Replayed> without =
                        runs.begin(Run.of(policy, stream, 1).withoutLending());
                List<RequestResult> requests = with.join().outcome().results().requests();
                double[] more = BeyondFigures.moreWait(
                        requests, without.join().outcome().results().requests());
                long longer = Arrays.stream(more).filter(each -> each > 0).count();
                double share = 100 * longer / (double) Math.max(1, more.length);
                BeyondFigures figures = BeyondFigures.of(with.join());
                System.out.printf(
                        "%-24s %6.2f %% of %d requests wait longer, at most %.1f s; overhead mean %.2f s, p95 %.2f s, above 1 s %.2f %%; worst service %s%n",
                        stream + ", " + policy,
                        share,
                        more.length,
                        more.length == 0 ? 0 : more[more.length - 1],
                        figures.overhead(),
                        figures.p95Overhead(),
                        figures.slow(),
                        worst(requests));
                metrics.put(stream + ", " + policy + ", requests that wait longer %", share);
                metrics.put(stream + ", " + policy + ", longest more s", more.length == 0 ? 0 : more[more.length - 1]);
            }
        }
    }

    /** The service with the greatest mean overhead, and that. */
    private static String worst(List<RequestResult> requests) {
        Map<ServiceId, Distribution> all = new TreeMap<>();
        for (RequestResult one : requests) {
            all.computeIfAbsent(one.service(), any -> new Distribution())
                    .add(one.overhead().toMillis() / 1000.0);
        }
        return all.entrySet().stream()
                .max(Comparator.comparingDouble((Map.Entry<ServiceId, Distribution> each) ->
                        each.getValue().mean()))
                .map(each -> "%s: mean %.2f s, p95 %.2f s, above 1 s %.1f %%"
                        .formatted(
                                each.getKey(),
                                each.getValue().mean(),
                                each.getValue().quantile(.95),
                                100
                                        * (1
                                                - each.getValue().upTo(1)
                                                        / each.getValue().count())))
                .orElse("none");
    }

    /** What changes if a part of the policy is left out or set in another way. */
    private void ablations(BeyondRuns runs) {
        heading("small, workload 1: what parts of the policy do");
        CompletableFuture<BeyondFigures> base = runs.medians(Run.of(BASE, "small", 1), 1);
        Run own = Run.of(OWN, "small", 1);
        List<Row> rows = new ArrayList<>();
        rows.add(new Row(OWN, runs.medians(own, 1), base));
        for (String policy : ABLATIONS) {
            rows.add(new Row(policy, runs.medians(Run.of(policy, "small", 1), 1), base));
        }
        rows.add(new Row(OWN + ", no AFE", runs.medians(own.withoutAfe(), 1), base));
        rows.add(
                new Row(BASE + ", no AFE", runs.medians(Run.of(BASE, "small", 1).withoutAfe(), 1), base));
        rows.forEach(this::printAndKeep);
    }

    private void keep(String name, BeyondFigures own, BeyondFigures base) {
        metrics.put(name + ", JCT s", own.jct());
        metrics.put(name + ", cold starts %", own.cold());
        ratios.put(name + ", JCT", own.jct() / base.jct());
        ratios.put(name + ", p95 JCT", own.p95() / base.p95());
        ratios.put(name + ", p99 JCT", own.p99() / base.p99());
        ratios.put(name + ", cold starts", own.cold() / base.cold());
        ratios.put(name + ", changes", own.changes() / base.changes());
        ratios.put(name + ", GPU-hours rescaling", own.gpuHoursRescaling() / base.gpuHoursRescaling());
    }

    private static void print(String name, BeyondFigures own, BeyondFigures base) {
        System.out.printf(
                "%-44s %7.0f %6.3f %6.3f %6.3f %7.3f %7.2f %6.3f %8.2f %7.2f %7.2f %8.0f %9.1f %7.1f%n",
                name,
                own.jct(),
                own.jct() / base.jct(),
                own.p95() / base.p95(),
                own.p99() / base.p99(),
                own.slowest() / base.slowest(),
                own.cold(),
                own.cold() / base.cold(),
                own.overhead(),
                own.waited(),
                own.slo(),
                own.changes(),
                own.gpuHoursRescaling(),
                own.gpuHoursLent());
    }
}
