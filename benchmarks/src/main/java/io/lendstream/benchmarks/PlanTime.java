package io.lendstream.benchmarks;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * The planning time of a policy, and the value of its plan compared with the exact optimum ({@link PlanValue}). The
 * cluster has four GPUs per node and a job per five GPUs.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class PlanTime {
    static final TrainingJob.Scaling SCALING = new TrainingJob.Scaling(1, 1, 64, true);

    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final int GPUS_PER_NODE = 4;
    /** The time limit of a plan in milliseconds, by the number of GPUs. */
    private static final Map<Integer, Double> BUDGET = Map.of(64, 0.2, 1000, 5.0, 10_000, 50.0);
    /** The most time that a plan of four kinds may take in milliseconds, and compared with one of one kind. */
    private static final double KINDS_BUDGET = 60;

    private static final double KINDS_RATIO = 1.2;

    /** What a step of a cluster of {@link QueuePlanTime} is compared with. */
    private static final Map<String, String> COMPARED = new TreeMap<>(Map.of(
            "kinds4", "kind1",
            "kinds4_queues20", "kind1_queues20",
            "speeds4_queues20_later", "kind1_queues20_later"));

    @Param({"deepboot", "lendstream"})
    public String planner = "deepboot";

    @Param({"64", "1000", "10000"})
    public int gpus;

    private Policy policy = Policies.parse(planner);
    private ClusterView cluster = draw(0);

    @Setup
    public void prepare() {
        policy = Policies.parse(planner);
        cluster = draw(gpus);
    }

    static ClusterView draw(int gpus) {
        SplittableRandom random = new SplittableRandom(gpus);
        List<GpuState> all = new ArrayList<>();
        for (int i = 0; i < gpus; i++) {
            NodeId node = new NodeId("node-%05d".formatted(i / GPUS_PER_NODE));
            all.add(GpuState.free(gpu(i), node, Pool.TRAINING, NOW, 0));
        }
        List<JobView> jobs = new ArrayList<>();
        int next = 0;
        for (int i = 0; i < gpus / 5; i++) {
            List<GpuId> held = new ArrayList<>();
            for (int size = 1 << random.nextInt(4); size > 0 && next < gpus; size--) {
                held.add(gpu(next++));
            }
            jobs.add(job(random, i, held));
        }
        return new ClusterView(NOW, jobs, all, Set.of(), all.size() / GPUS_PER_NODE, GPUS_PER_NODE, 0);
    }

    @Benchmark
    public Plan plan() {
        return policy.plan(cluster);
    }

    private static GpuId gpu(int number) {
        return new GpuId("gpu-%05d".formatted(number));
    }

    /** The number of the node that a GPU is on. */
    static int node(GpuId gpu) {
        return Integer.parseInt(gpu.value().substring("gpu-".length())) / GPUS_PER_NODE;
    }

    private static JobView job(SplittableRandom random, int number, List<GpuId> held) {
        var throughput = new ThroughputParameters(
                random.nextDouble(0.01, 0.1),
                random.nextDouble(0.0001, 0.001),
                random.nextDouble(0.02, 0.2),
                random.nextDouble(0.001, 0.01),
                random.nextDouble(0.01, 0.1),
                random.nextDouble(0.001, 0.005),
                random.nextDouble(1, 3));
        var model = new GoodputModel(
                throughput,
                new GradientNoise(1, random.nextDouble(1, 50)),
                new BatchRange(128, 4096, 32, 1024, Optional.empty()));
        return new DescribedJob(
                new JobId("job-%05d".formatted(number)),
                NOW.minus(Duration.ofSeconds(random.nextInt(60, 20_000))),
                SCALING,
                held,
                new DescribedJob.Usage(Math.max(1, held.size()), random.nextInt(20), random.nextDouble(100_000)),
                Optional.of(new Modelled(model)),
                new NoPace(),
                Optional.empty(),
                new RescaleCosts(Duration.ofSeconds(30), Duration.ofSeconds(3)));
    }

    /** The goodput of a model, worked out whenever it is asked for. */
    record Modelled(GoodputModel model) implements Goodput {
        @Override
        public double on(int nodes, int count) {
            return model.best(nodes, count).goodput();
        }
    }

    /** Not used: the policy needs no durations. */
    private record NoPace() implements Pace {
        @Override
        public double iterationSeconds(int count) {
            return 1;
        }

        @Override
        public int iterationSamples(int count) {
            return 1;
        }

        @Override
        public double remainingIterations() {
            return 1;
        }
    }

    static BenchReport measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        Map<String, Double> budgets = new LinkedHashMap<>();
        Map<Integer, Double> optima = new HashMap<>();
        List<String> table = new ArrayList<>();
        table.add("planner      GPUs   median   budget       worth   optimum  worth/optimum");
        for (RunResult result : timed(PlanTime.class)) {
            String planner = result.getParams().getParam("planner");
            int gpus = Integer.parseInt(result.getParams().getParam("gpus"));
            String name = "%s_%d_gpus".formatted(planner, gpus);
            double median = result.getPrimaryResult().getStatistics().getPercentile(50);
            double budget = Objects.requireNonNull(BUDGET.get(gpus), "the budget of a size that is not measured");
            metrics.put(name + "_p50_ms", median);
            reference.put(name + "_p50_ms", budget);
            budgets.put(name + "_p50_ms", budget);
            ratio.put(name + "_p50_ms", median / budget);

            ClusterView cluster = draw(gpus);
            PlanValue value = new PlanValue(cluster, GPUS_PER_NODE);
            double worth = value.of(Policies.parse(planner).plan(cluster));
            double optimum = optima.computeIfAbsent(gpus, any -> value.optimum());
            metrics.put(name + "_worth", worth);
            reference.put(name + "_worth", optimum);
            ratio.put(name + "_worth", worth / optimum);
            table.add("%-10s %6d %5.2f ms %5.1f ms  %10.3f %9.3f  %13.9f"
                    .formatted(planner, gpus, median, budget, worth, optimum, worth / optimum));
        }
        table.add(fourKinds(metrics, reference, ratio, budgets));
        Map<String, Double> steps = stepTimes();
        table.add(steps(steps, metrics, reference, ratio, budgets));
        table.add(firstMoves(steps));
        table.add(
                "worth: what ATS sizes jobs by, without their placement; optimum: exact, by ojAlgo's mixed-integer solver");
        table.forEach(System.out::println);
        return new BenchReport(metrics, reference, ratio, StatedBounds.above(metrics, budgets));
    }

    /** Adds the figures of four kinds; returns them in a line. */
    private static String fourKinds(
            Map<String, Double> metrics,
            Map<String, Double> reference,
            Map<String, Double> ratio,
            Map<String, Double> budgets) {
        Map<String, Double> kinds = new HashMap<>();
        for (RunResult result : timed(KindPlanTime.class)) {
            kinds.put(
                    result.getPrimaryResult().getLabel(),
                    result.getPrimaryResult().getStatistics().getPercentile(50));
        }
        double one = kinds.getOrDefault("planOfOneKind", Double.NaN);
        double four = kinds.getOrDefault("planOfFourKinds", Double.NaN);
        String name = "deepboot_%d_gpus_of_4_kinds".formatted(KindPlanTime.GPUS);
        metrics.put(name + "_p50_ms", four);
        metrics.put(name + "_to_one_kind", four / one);
        reference.put(name + "_p50_ms", one);
        ratio.put(name + "_p50_ms", four / one);
        budgets.put(name + "_p50_ms", KINDS_BUDGET);
        budgets.put(name + "_to_one_kind", KINDS_RATIO);
        return "deepboot   %6d %5.2f ms for four kinds, %5.2f ms for one: %.2f times as long"
                .formatted(KindPlanTime.GPUS, four, one, four / one);
    }

    private static String firstMoves(Map<String, Double> steps) {
        return "deepboot   %6d %5.2f ms for a step with %s, which moves nearly all jobs: no bound"
                .formatted(
                        QueuePlanTime.GPUS,
                        steps.getOrDefault("speeds4_queues20", Double.NaN),
                        QueuePlanTime.inWords("speeds4_queues20"));
    }

    /** The median time of a step in milliseconds, by cluster. */
    private static Map<String, Double> stepTimes() {
        Map<String, Double> steps = new HashMap<>();
        for (RunResult result : timed(QueuePlanTime.class)) {
            steps.put(
                    result.getParams().getParam("cluster"),
                    result.getPrimaryResult().getStatistics().getPercentile(50));
        }
        return steps;
    }

    /** Adds the figures of steps with four kinds and with 20 queues; returns them in lines. */
    private static String steps(
            Map<String, Double> steps,
            Map<String, Double> metrics,
            Map<String, Double> reference,
            Map<String, Double> ratio,
            Map<String, Double> budgets) {
        String name = "deepboot_%d_gpus_".formatted(QueuePlanTime.GPUS);
        steps.forEach((cluster, median) -> metrics.put(name + cluster + "_p50_ms", median));
        metrics.put(
                name + "kinds4_queues20_to_kind1",
                steps.getOrDefault("kinds4_queues20", Double.NaN) / steps.getOrDefault("kind1", Double.NaN));
        List<String> lines = new ArrayList<>();
        COMPARED.forEach((cluster, other) -> {
            double median = steps.getOrDefault(cluster, Double.NaN);
            double base = steps.getOrDefault(other, Double.NaN);
            metrics.put(name + cluster + "_to_" + other, median / base);
            reference.put(name + cluster + "_p50_ms", base);
            ratio.put(name + cluster + "_p50_ms", median / base);
            budgets.put(name + cluster + "_to_" + other, KINDS_RATIO);
            if (cluster.contains("queues20")) {
                budgets.put(name + cluster + "_p50_ms", KINDS_BUDGET);
            }
            lines.add("deepboot   %6d %5.2f ms for a step with %s, %5.2f ms with %s: %.2f times as long"
                    .formatted(
                            QueuePlanTime.GPUS,
                            median,
                            QueuePlanTime.inWords(cluster),
                            base,
                            QueuePlanTime.inWords(other),
                            median / base));
        });
        return String.join(System.lineSeparator(), lines);
    }

    private static Iterable<RunResult> timed(Class<?> benchmark) {
        try {
            return new Runner(new OptionsBuilder()
                            .include("^" + Pattern.quote(benchmark.getName() + "."))
                            .build())
                    .run();
        } catch (RunnerException e) {
            throw new IllegalStateException("the benchmark could not be run: " + e.getMessage(), e);
        }
    }
}
