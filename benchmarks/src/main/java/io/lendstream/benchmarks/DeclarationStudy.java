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
import io.lendstream.simulator.workload.WrongDeclarations;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.LongStream;

/**
 * What wrong declarations cost, by replays of a preset: start-up times that are declared three times too long or too
 * short, and jobs without profiles, against right declarations. Means over seeds of the average JCT and of the share of
 * requests within their SLO. What is learned must keep both near those of right declarations; figures without learning
 * are for comparison.
 */
final class DeclarationStudy implements Bench {
    /** The seeds by default. */
    static final String SEEDS = "1-10";

    /** Bounds of the ratio of JCTs and of the difference of SLO attainment, in points. */
    static final double MOST_JCT = 0.02;

    static final double MOST_POINTS = 0.1;

    private static final DomainId DOMAIN = new DomainId("replay");
    private static final int NODES = 8;
    private static final int GPUS_PER_NODE = 4;
    private static final int TRAINING_NODES = 4;
    /** The case in which everything is declared as it is. */
    static final String RIGHT = "right";

    private static final Map<String, WrongDeclarations> CASES = cases();
    private static final List<String> POLICIES = List.of("deepboot", "lendstream");

    private final String workload;
    private final List<Long> seeds;

    /** Average JCT in seconds, and SLO attainment in points. */
    record Figures(double jctSeconds, double sloPoints) {
        /** The mean of several. */
        static Figures mean(List<Figures> all) {
            return new Figures(
                    all.stream().mapToDouble(Figures::jctSeconds).average().orElse(0),
                    all.stream().mapToDouble(Figures::sloPoints).average().orElse(0));
        }

        /** Whether they are within the bounds of those with right declarations; better ones count as different too. */
        boolean isLike(Figures right) {
            return Math.abs(jctSeconds / right.jctSeconds - 1) <= MOST_JCT
                    && Math.abs(sloPoints - right.sloPoints) <= MOST_POINTS;
        }
    }

    /** @param workload the name of a preset */
    DeclarationStudy(String workload, List<Long> seeds) {
        this.workload = workload;
        this.seeds = List.copyOf(seeds);
    }

    private static Map<String, WrongDeclarations> cases() {
        Map<String, WrongDeclarations> cases = new LinkedHashMap<>();
        cases.put(RIGHT, WrongDeclarations.NONE);
        cases.put("start-ups x 3", new WrongDeclarations(3, true));
        cases.put("start-ups / 3", new WrongDeclarations(1.0 / 3, true));
        cases.put("no profiles", new WrongDeclarations(1, false));
        cases.put("x 3, no profiles", new WrongDeclarations(3, false));
        cases.put("/ 3, no profiles", new WrongDeclarations(1.0 / 3, false));
        return cases;
    }

    /** Reads {@code [--workload PRESET] [--seeds FIRST-LAST]}; empty if the arguments are different. */
    static Optional<DeclarationStudy> parse(List<String> arguments) {
        Map<String, String> options = new TreeMap<>(Map.of("--workload", "day", "--seeds", SEEDS));
        for (int i = 0; i + 1 < arguments.size(); i += 2) {
            if (options.replace(arguments.get(i), arguments.get(i + 1)) == null) {
                return Optional.empty();
            }
        }
        String seeds = options.getOrDefault("--seeds", SEEDS);
        if (arguments.size() % 2 != 0 || !seeds.matches("\\d{1,6}-\\d{1,6}")) {
            return Optional.empty();
        }
        String[] bounds = seeds.split("-", -1);
        List<Long> all = LongStream.rangeClosed(Long.parseLong(bounds[0]), Long.parseLong(bounds[1]))
                .boxed()
                .toList();
        return all.isEmpty()
                ? Optional.empty()
                : Optional.of(new DeclarationStudy(options.getOrDefault("--workload", "day"), all));
    }

    @Override
    public BenchReport measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> ratios = new LinkedHashMap<>();
        List<String> misses = new ArrayList<>();
        System.out.printf(
                "%s on %d nodes of %d GPUs, seeds %s; ! is outside %.0f %% of JCT or %.1f points of SLO%n",
                workload, NODES, GPUS_PER_NODE, seeds, 100 * MOST_JCT, MOST_POINTS);
        for (String policy : POLICIES) {
            System.out.printf("%-40s %10s %8s %9s %8s%n", policy, "JCT, s", "ratio", "SLO, %", "points");
            for (boolean learns : List.of(true, false)) {
                Figures right = figures(policy, learns, RIGHT);
                CASES.keySet().forEach(name -> {
                    Figures each = name.equals(RIGHT) ? right : figures(policy, learns, name);
                    String key = "%s, %s, %s".formatted(policy, learns ? "learned" : "as declared", name);
                    boolean isOff = learns && !each.isLike(right);
                    System.out.printf(
                            "%-40s %10.1f %8.4f %9.3f %+8.3f%s%n",
                            (learns ? "learned: " : "as declared: ") + name,
                            each.jctSeconds,
                            each.jctSeconds / right.jctSeconds,
                            each.sloPoints,
                            each.sloPoints - right.sloPoints,
                            isOff ? " !" : "");
                    metrics.put(key + ", JCT s", each.jctSeconds);
                    metrics.put(key + ", SLO points", each.sloPoints);
                    ratios.put(key, each.jctSeconds / right.jctSeconds);
                    if (isOff) {
                        misses.add("%s: JCT %.4f of that with right declarations, SLO %+.3f points"
                                .formatted(key, each.jctSeconds / right.jctSeconds, each.sloPoints - right.sloPoints));
                    }
                });
            }
        }
        return new BenchReport(metrics, Map.of(), ratios, misses);
    }

    /** The figures of a case with a policy, means over the seeds. */
    Figures figures(String policy, boolean learns, String name) {
        WrongDeclarations wrong = CASES.getOrDefault(name, WrongDeclarations.NONE);
        return Figures.mean(
                seeds.stream().map(seed -> replay(policy, learns, wrong, seed)).toList());
    }

    private Figures replay(String policy, boolean learns, WrongDeclarations wrong, long seed) {
        SimulatedNodes.Layout layout = new SimulatedNodes.Layout(DOMAIN, NODES, GPUS_PER_NODE, TRAINING_NODES, seed);
        Scene scene = new Scene(
                DOMAIN,
                Workload.EPOCH,
                seed,
                TRAINING_NODES * GPUS_PER_NODE,
                (NODES - TRAINING_NODES) * GPUS_PER_NODE,
                Optional.empty(),
                Optional.empty(),
                false,
                List.of());
        ReplaySettings settings =
                ReplaySettings.of(policy, true, true, layout).withLearn(learns).withoutLog();
        Summary summary = Summary.of(Replay.run(Workloads.load(workload, scene).declared(wrong), settings)
                .outcome());
        return new Figures(
                summary.jct(Distribution::mean).orElse(Double.POSITIVE_INFINITY),
                100 * summary.requests().sloAttainment().orElse(1.0));
    }
}
