package io.lendstream.benchmarks;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.BatchPlan;
import io.lendstream.core.batching.Capacity;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.Packing;
import io.lendstream.core.batching.PackingPlanner;
import io.lendstream.core.batching.PlannedService;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.simulator.batching.LatencyTable;
import io.lendstream.simulator.batching.LatencyTables;
import io.lendstream.simulator.batching.MeasuredLatency;
import io.lendstream.simulator.batching.PlanPlayer;
import io.lendstream.simulator.batching.PlanStudy;
import io.lendstream.simulator.batching.ServiceLine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntSupplier;

/**
 * A study of plans of batches and MIG instances. It compares GPUs with the exact optimum, bounds and simpler methods,
 * checks that all requests are in time, and measures planning time. It uses ParvaGPU's six scenarios and measurements
 * (SC 2024), MIGPerf's encoders with inputs of many lengths (arXiv 2301.00407), and random services drawn from the
 * former.
 */
final class BatchPlanStudy implements Bench {
    private static final String PARVAGPU = "mig/parvagpu";
    private static final String MIGPERF = "mig/migperf_a100_40gb";
    private static final int SEEDS = 5;
    private static final int REQUESTS = 100_000;
    private static final double MARGIN = .05;
    private static final int PROBES = 5;
    private static final int WARM = 40;
    private static final int RANDOM_SCENARIOS = 6;
    private static final int ENCODER_RUNS = 8;

    private final Path data = PublicData.with("batch-plan", PARVAGPU, MIGPERF);
    private final ParvaGpuData parvaGpu = new ParvaGpuData(data.resolve(PARVAGPU));
    private final Map<String, Double> metrics = new TreeMap<>();
    private final Map<String, Double> reference = new TreeMap<>();
    private final Map<String, Double> ratio = new TreeMap<>();
    private double worst;

    @Override
    public BenchReport measure() {
        MigGpu gpu = MigGpu.named("A100-80GB").orElseThrow().plain();
        List<LatencyTable> tables = parvaGpu.tables(gpu);
        scenarios(gpu, tables);
        random(gpu, tables);
        many(gpu, tables);
        encoders();
        metrics.put("worst p99 over objective", worst);
        return new BenchReport(
                metrics, reference, ratio, StatedBounds.above(metrics, Map.of("worst p99 over objective", 1.0)));
    }

    private static PlanStudy study(
            MigGpu gpu, List<LatencyTable> tables, List<ServiceLine> lines, OptionalInt probes, OptionalInt buckets) {
        Map<String, LatencyTable> byModel = new TreeMap<>();
        tables.forEach(table -> byModel.put(table.model(), table));
        return new PlanStudy(
                gpu, byModel, List.of(), lines, new PlanStudy.Settings(probes, MARGIN, buckets, SEEDS, REQUESTS, 1));
    }

    private PlanStudy.Result run(PlanStudy study) {
        PlanStudy.Result result = study.run((what, share) -> {});
        worst = Math.max(worst, result.worst(result.played()));
        return result;
    }

    private void scenarios(MigGpu gpu, List<LatencyTable> tables) {
        PlannedScenario.printHeader();
        double saved = 0;
        double greedyMillis = 0;
        double improvedMillis = 0;
        int planned = 0;
        int probed = 0;
        for (int number = 1; number <= ParvaGpuData.SCENARIOS; number++) {
            PlannedScenario scenario = plan(number, gpu, tables);
            scenario.print();
            put(scenario);
            saved += 1 - (double) scenario.gpus() / scenario.off();
            planned += scenario.gpus();
            probed += scenario.few().plan().gpus();
            List<ServiceCapacity> services = scenario.all().plan().services();
            List<Packing.Demand> demands =
                    services.stream().map(ServiceCapacity::demand).toList();
            greedyMillis = Math.max(
                    greedyMillis,
                    millis(() ->
                            new PackingPlanner(gpu, demands).greedy().gpus().size()));
            improvedMillis = Math.max(
                    improvedMillis, millis(() -> BatchPlan.of(gpu, services, 1).gpus()));
        }
        System.out.printf(
                "saved against MIG off, a service a GPU: %.1f %% in the mean; %d GPUs from %d probes a model for %d from all measurements%n",
                100 * saved / ParvaGpuData.SCENARIOS, probed, PROBES, planned);
        System.out.printf(
                "the slowest scenario takes %.2f ms to plan by prices alone, %.1f ms improved (median of %d, warm)%n",
                greedyMillis, improvedMillis, WARM);
        metrics.put("saved", saved / ParvaGpuData.SCENARIOS);
        metrics.put("greedy ms", greedyMillis);
        metrics.put("improved ms", improvedMillis);
        ratio.put("GPUs from " + PROBES + " probes", (double) probed / planned);
    }

    private PlannedScenario plan(int number, MigGpu gpu, List<LatencyTable> tables) {
        List<ServiceLine> lines = parvaGpu.scenario(number, tables);
        PlanStudy.Result all = run(study(gpu, tables, lines, OptionalInt.empty(), OptionalInt.empty()));
        PlanStudy.Result few = run(study(gpu, tables, lines, OptionalInt.of(PROBES), OptionalInt.empty()));
        List<Packing.Demand> demands =
                all.plan().services().stream().map(ServiceCapacity::demand).toList();
        BatchPlan careless = careless(gpu, tables, lines);
        return new PlannedScenario(
                number,
                all,
                few,
                careless,
                worst(careless, tables),
                ExactPacking.gpus(gpu, demands, all.plan().gpus()),
                parvaGpu.published(number));
    }

    private void put(PlannedScenario scenario) {
        String name = "scenario " + scenario.number() + " GPUs";
        String probes = name + " from " + PROBES + " probes";
        metrics.put(name, (double) scenario.gpus());
        metrics.put(probes, (double) scenario.few().plan().gpus());
        scenario.exact().ifPresent(gpus -> reference.put(name, (double) gpus));
        reference.put(probes, (double) scenario.gpus());
    }

    /** By formula without margin: the GPUs of a plan that is just sufficient on paper. */
    private static BatchPlan careless(MigGpu gpu, List<LatencyTable> tables, List<ServiceLine> lines) {
        return BatchPlan.of(
                gpu,
                lines.stream()
                        .map(line -> ServiceCapacity.estimated(service(line, truth(line.model(), tables)), gpu, 1))
                        .toList(),
                1);
    }

    private static double worst(BatchPlan plan, List<LatencyTable> tables) {
        List<PlanPlayer.Outcome> outcomes = new PlanPlayer(REQUESTS, SEEDS, .02)
                .play(plan, capacity -> truth(capacity.service().name(), tables));
        double worst = 0;
        for (int i = 0; i < outcomes.size(); i++) {
            ServiceCapacity service =
                    plan.services().get(plan.instances().get(i).service());
            worst = Math.max(
                    worst, outcomes.get(i).p99Millis() / service.service().sloMillis());
        }
        return worst;
    }

    private static ModelLatency truth(String model, List<LatencyTable> tables) {
        return new MeasuredLatency(tables.stream()
                .filter(table -> table.model().equals(model))
                .findFirst()
                .orElseThrow());
    }

    private static PlannedService service(ServiceLine line, ModelLatency latency) {
        return new PlannedService(
                line.service(), line.ratePerSecond(), line.sloMillis(), line.cv2(), latency, line.sizes());
    }

    private static double millis(IntSupplier work) {
        double[] took = new double[WARM];
        int sum = 0;
        for (int i = 0; i < WARM; i++) {
            long begun = System.nanoTime();
            sum += work.getAsInt();
            took[i] = (System.nanoTime() - begun) / 1e6;
        }
        Arrays.sort(took);
        return sum == 0 ? 0 : took[WARM / 2];
    }

    /**
     * A service with an objective of 4 to 32 times the time of a single input on the smallest instance, and a rate
     * that needs this many whole GPUs; both uniform on a logarithmic scale.
     */
    private static ServiceLine drawn(
            SplittableRandom random, int number, MigGpu gpu, LatencyTable table, double leastGpus, double mostGpus) {
        ModelLatency latency = new MeasuredLatency(table);
        MigProfile largest = gpu.profiles().get(0);
        MigProfile smallest = gpu.profiles().get(gpu.profiles().size() - 1);
        double single = latency.on(smallest, 1).orElseThrow().millis(1);
        double objective = single * between(random, 4, 32);
        BatchLatency whole = latency.on(largest, 1).orElseThrow();
        double rate = between(random, leastGpus, mostGpus)
                * Capacity.of(whole, objective, 1, 1).ratePerSecond();
        return new ServiceLine(
                "%s-%d".formatted(table.model(), number), table.model(), rate, objective, 1, new TreeMap<>());
    }

    private static double between(SplittableRandom random, double least, double most) {
        return least * Math.pow(most / least, random.nextDouble());
    }

    /** Random scenarios, with and without bursts. */
    private void random(MigGpu gpu, List<LatencyTable> tables) {
        SplittableRandom random = new SplittableRandom(11);
        int all = 0;
        int few = 0;
        int bursts = 0;
        for (int run = 0; run < RANDOM_SCENARIOS; run++) {
            List<ServiceLine> lines = new ArrayList<>();
            for (LatencyTable table : tables) {
                if (random.nextInt(4) > 0) {
                    lines.add(drawn(random, run, gpu, table, .1, 4));
                }
            }
            List<ServiceLine> bursty = lines.stream()
                    .map(line -> new ServiceLine(
                            line.service(), line.model(), line.ratePerSecond(), line.sloMillis(), 4, line.sizes()))
                    .toList();
            all += run(study(gpu, tables, lines, OptionalInt.empty(), OptionalInt.empty()))
                    .plan()
                    .gpus();
            few += run(study(gpu, tables, lines, OptionalInt.of(PROBES), OptionalInt.empty()))
                    .plan()
                    .gpus();
            bursts += run(study(gpu, tables, bursty, OptionalInt.empty(), OptionalInt.empty()))
                    .plan()
                    .gpus();
        }
        System.out.printf(
                "%d random scenarios: %d GPUs from all measurements, %d from %d probes, %d with bursts of CV2 = 4; worst p99 so far %.2f%n",
                RANDOM_SCENARIOS, all, few, PROBES, bursts, worst);
        metrics.put("random scenarios GPUs", (double) all);
        metrics.put("random scenarios GPUs from " + PROBES + " probes", (double) few);
        metrics.put("random scenarios GPUs with bursts", (double) bursts);
        ratio.put("random scenarios GPUs from " + PROBES + " probes", (double) few / all);
    }

    /** A random scenario of two hundred services. */
    private void many(MigGpu gpu, List<LatencyTable> tables) {
        SplittableRandom random = new SplittableRandom(12);
        List<ServiceCapacity> capacities = new ArrayList<>();
        for (int number = 0; number < 200; number++) {
            LatencyTable table = tables.get(random.nextInt(tables.size()));
            ServiceLine line = drawn(random, number, gpu, table, 1, 25);
            capacities.add(ServiceCapacity.of(service(line, new MeasuredLatency(table).times(1 + MARGIN)), gpu, 1));
        }
        long begun = System.nanoTime();
        BatchPlan plan = BatchPlan.of(gpu, capacities, 1);
        double seconds = (System.nanoTime() - begun) / 1e9;
        System.out.printf(
                "200 services: %d GPUs in %.2f s; no plan needs fewer than %d (by linear programming %.2f)%n",
                plan.gpus(), seconds, plan.bounds().gpus(), plan.bounds().linear());
        metrics.put("200 services GPUs", (double) plan.gpus());
        metrics.put("200 services seconds", seconds);
        reference.put("200 services GPUs", (double) plan.bounds().linearGpus());
        ratio.put("200 services GPUs", (double) plan.gpus() / plan.bounds().linearGpus());
    }

    /** Encoders of texts with lognormal lengths: 108 tokens on average, 297 at the 95th percentile, at most 512. */
    private void encoders() {
        MigGpu gpu = MigGpu.named("A100-40GB").orElseThrow();
        List<LatencyTable> tables = LatencyTables.read(data.resolve(MIGPERF), gpu);
        MigGpu measured = gpu.only(profile ->
                tables.get(0).rows().stream().anyMatch(row -> row.profile().equals(profile)));
        SplittableRandom random = new SplittableRandom(13);
        NavigableMap<Integer, Double> lengths = lengths(random);
        for (double each : new double[] {100, 1000, 3000}) {
            encoders(measured, tables, lengths, each, random);
        }
    }

    private static NavigableMap<Integer, Double> lengths(SplittableRandom random) {
        NavigableMap<Integer, Double> lengths = new TreeMap<>();
        for (int i = 0; i < 20_000; i++) {
            double length = Math.exp(4.347 + .819 * gaussian(random));
            lengths.merge((int) Math.max(1, Math.min(512, Math.round(length))), 1.0, Double::sum);
        }
        return lengths;
    }

    private void encoders(
            MigGpu gpu,
            List<LatencyTable> tables,
            NavigableMap<Integer, Double> lengths,
            double each,
            SplittableRandom random) {
        int padded = 0;
        int bucketed = 0;
        int paddedOff = 0;
        int bucketedOff = 0;
        for (int run = 0; run < ENCODER_RUNS; run++) {
            List<ServiceLine> lines = tables.stream()
                    .map(table -> new ServiceLine(
                            table.model(), table.model(), each * (.5 + random.nextDouble()), 200, 1, lengths))
                    .toList();
            PlanStudy.Result one = run(study(gpu, tables, lines, OptionalInt.empty(), OptionalInt.of(1)));
            PlanStudy.Result four = run(study(gpu, tables, lines, OptionalInt.empty(), OptionalInt.of(4)));
            padded += one.plan().gpus();
            bucketed += four.plan().gpus();
            paddedOff += one.comparison().migOff().orElseThrow();
            bucketedOff += four.comparison().migOff().orElseThrow();
        }
        System.out.printf(
                "encoders at about %.0f texts/s each, %d runs: padded to 512 %.2f GPUs (without MIG %.2f), 4 buckets %.2f (without MIG %.2f)%n",
                each,
                ENCODER_RUNS,
                (double) padded / ENCODER_RUNS,
                (double) paddedOff / ENCODER_RUNS,
                (double) bucketed / ENCODER_RUNS,
                (double) bucketedOff / ENCODER_RUNS);
        String name = "encoders at %.0f".formatted(each);
        metrics.put(name + " GPUs of 4 buckets", (double) bucketed / ENCODER_RUNS);
        reference.put(name + " GPUs of 4 buckets", (double) padded / ENCODER_RUNS);
        ratio.put(name + " GPUs of 4 buckets to 1", (double) bucketed / padded);
        ratio.put(name + " GPUs of 4 buckets to MIG off", (double) bucketed / bucketedOff);
    }

    private static double gaussian(SplittableRandom random) {
        return Math.sqrt(-2 * Math.log(1 - random.nextDouble())) * Math.cos(2 * Math.PI * random.nextDouble());
    }
}
