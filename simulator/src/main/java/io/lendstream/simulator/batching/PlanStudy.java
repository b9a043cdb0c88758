package io.lendstream.simulator.batching;

import io.lendstream.core.batching.BatchLatency;
import io.lendstream.core.batching.BatchPlan;
import io.lendstream.core.batching.Capacity;
import io.lendstream.core.batching.LearnedLatency;
import io.lendstream.core.batching.Mix;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.PackingPlanner;
import io.lendstream.core.batching.PlannedService;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.core.latency.LatencyFit;
import io.lendstream.core.latency.LatencyModel;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Plans batches and MIG instances for services, from tables of measured latencies or from a few probes of them,
 * compares that with simpler ways, and plays the plan with what batches really take.
 *
 * <p>Where a model was measured at several input sizes, what it really takes is a latency model that was fitted to all
 * rows: no public table has every batch at every size.
 *
 * @param gpu with the profiles that were measured
 * @param tables by model
 * @param known models that were measured before, from which is learned what to expect of others; none for what we ship
 */
public record PlanStudy(
        MigGpu gpu,
        Map<String, LatencyTable> tables,
        List<LatencyTable> known,
        List<ServiceLine> lines,
        Settings settings) {
    private static final double NOISE = .02;
    /** An instance of a model that was only probed is given less, as it might be slower than thought. */
    private static final double PROBED_LOAD = .95;

    private static final int EXPECTED_REQUESTS = 40_000;

    /**
     * What may be chosen.
     *
     * @param probes of each model; all rows where there are none
     * @param margin by how much longer batches are planned with, at least: 0.05 for 5 %
     * @param buckets of every service; as many as are worth it where there are none
     * @param seeds how often the plan is played; 0 for not at all
     * @param requests played on each instance for each seed
     */
    public record Settings(
            OptionalInt probes, double margin, OptionalInt buckets, int seeds, int requests, long seed) {}

    /**
     * What came of it.
     *
     * @param expected what the planner expects of each instance
     * @param played what came of each instance; empty where the plan was not played
     * @param probesUsed of all models together
     * @param capacityMillis for finding out what instances can do
     * @param planMillis for the plan itself
     */
    public record Result(
            BatchPlan plan,
            List<PlanPlayer.Outcome> expected,
            List<PlanPlayer.Outcome> played,
            Comparison comparison,
            int probesUsed,
            double capacityMillis,
            double planMillis) {
        /** The p99 of a service's slowest instance, as a share of its objective. */
        public double worst(int service, List<PlanPlayer.Outcome> outcomes) {
            double worst = 0;
            for (int i = 0; i < plan.instances().size(); i++) {
                if (plan.instances().get(i).service() == service) {
                    worst = Math.max(worst, outcomes.get(i).upperMillis());
                }
            }
            return worst / plan.services().get(service).service().sloMillis();
        }

        /** The greatest of all services. */
        public double worst(List<PlanPlayer.Outcome> outcomes) {
            double worst = 0;
            for (int service = 0; service < plan.services().size(); service++) {
                worst = Math.max(worst, worst(service, outcomes));
            }
            return worst;
        }
    }

    /**
     * What simpler ways need for the same.
     *
     * @param migOff GPUs without MIG, each for one service; empty where whole GPUs were not measured
     * @param migOffFractional GPUs without MIG, if services could share them without loss
     * @param uniform GPUs that are all cut into instances of one profile; profiles on which not all services are in
     *     time are left out
     * @param greedy GPUs of the plan's first step
     * @param halfObjective GPUs if each batch may take half the objective, the usual rule
     * @param halfObjectiveWorst the worst p99 that comes of that, as a share of the objective; 0 where it was not
     *     played
     */
    public record Comparison(
            OptionalInt migOff,
            OptionalDouble migOffFractional,
            Map<String, Integer> uniform,
            int greedy,
            int halfObjective,
            double halfObjectiveWorst) {}

    /**
     * Makes the plan, and compares it with others.
     *
     * @param progress receives the present step and the share that is done, from 0 to 1
     * @throws IllegalArgumentException if a service cannot be in time on any instance
     */
    public Result run(BiConsumer<String, Double> progress) {
        Map<String, ProbedModel> probed = probed();
        long begun = System.nanoTime();
        List<ServiceCapacity> capacities = new ArrayList<>();
        for (ServiceLine line : lines) {
            progress.accept("capacities", (double) capacities.size() / lines.size());
            capacities.add(capacity(service(line, believed(line.model(), probed)), gpu));
        }
        double capacityMillis = (System.nanoTime() - begun) / 1e6;
        progress.accept("plan", 0.0);
        begun = System.nanoTime();
        BatchPlan plan = BatchPlan.of(gpu, capacities, settings.seed());
        double planMillis = (System.nanoTime() - begun) / 1e6;
        progress.accept("expectations", 0.0);
        List<PlanPlayer.Outcome> expected = new PlanPlayer(EXPECTED_REQUESTS, 1, NOISE)
                .play(plan, capacity -> capacity.service().latency());
        progress.accept("playing the plan", 0.0);
        return new Result(
                plan,
                expected,
                settings.seeds() == 0 ? List.of() : player().play(plan, capacity -> truth(model(capacity))),
                comparison(plan),
                probed.values().stream()
                        .mapToInt(model -> model.probes().size())
                        .sum(),
                capacityMillis,
                planMillis);
    }

    private PlanPlayer player() {
        return new PlanPlayer(settings.requests(), settings.seeds(), NOISE);
    }

    private String model(ServiceCapacity capacity) {
        return lines.stream()
                .filter(line -> line.service().equals(capacity.service().name()))
                .findFirst()
                .orElseThrow()
                .model();
    }

    private static PlannedService service(ServiceLine line, ModelLatency latency) {
        return new PlannedService(
                line.service(), line.ratePerSecond(), line.sloMillis(), line.cv2(), latency, line.sizes());
    }

    private ServiceCapacity capacity(PlannedService service, MigGpu on) {
        double load = settings.probes().isPresent() ? PROBED_LOAD : 1;
        return settings.buckets().isPresent()
                ? ServiceCapacity.ofBuckets(
                        service, on, load, settings.buckets().getAsInt())
                : ServiceCapacity.of(service, on, load);
    }

    private Map<String, ProbedModel> probed() {
        if (settings.probes().isEmpty()) {
            return Map.of();
        }
        Map<String, LatencyTable> used = new TreeMap<>();
        Map<String, String> models = new TreeMap<>();
        List<PlannedService> services = new ArrayList<>();
        for (ServiceLine line : lines) {
            used.put(line.model(), tables.get(line.model()));
            models.put(line.service(), line.model());
            services.add(service(line, ModelLatency.UNKNOWN));
        }
        return new ProbeCampaign(gpu, services, models)
                .run(used, this::prior, settings.probes().getAsInt());
    }

    /** From known models, but not from the one that is probed. */
    private LatencyPrior prior(LatencyTable table) {
        return LatencyPrior.of(known.stream()
                .filter(other -> !other.model().equals(table.model()))
                .map(LatencyTable::samples)
                .toList());
    }

    private ModelLatency believed(String model, Map<String, ProbedModel> probed) {
        return probed.isEmpty()
                ? truth(model).times(1 + settings.margin())
                : Objects.requireNonNull(probed.get(model), "a model that was not probed")
                        .latency(settings.margin());
    }

    /** What batches really take. */
    private ModelLatency truth(String model) {
        LatencyTable table = Objects.requireNonNull(tables.get(model), "a model without a table");
        if (table.rows().stream()
                        .mapToInt(LatencyTable.Row::inputSize)
                        .distinct()
                        .count()
                == 1) {
            return new MeasuredLatency(table);
        }
        LatencyModel fitted = LatencyFit.of(table.samples(), LatencyPrior.WIDE);
        return new LearnedLatency(fitted, table.gpu(), table.largestInput(), table.memory(), (slice, batch, size) -> 0);
    }

    private Comparison comparison(BatchPlan plan) {
        List<Double> off = withoutMig(plan);
        BatchPlan half =
                BatchPlan.of(gpu, plan.services().stream().map(this::half).toList(), settings.seed());
        double worst = 0;
        if (settings.seeds() > 0) {
            List<PlanPlayer.Outcome> outcomes = player().play(half, capacity -> truth(model(capacity)));
            for (int i = 0; i < outcomes.size(); i++) {
                PlannedService service =
                        half.services().get(half.instances().get(i).service()).service();
                worst = Math.max(worst, outcomes.get(i).p99Millis() / service.sloMillis());
            }
        }
        return new Comparison(
                off.isEmpty()
                        ? OptionalInt.empty()
                        : OptionalInt.of(off.stream()
                                .mapToInt(gpus -> (int) Math.ceil(gpus))
                                .sum()),
                off.isEmpty()
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(
                                off.stream().mapToDouble(Double::doubleValue).sum()),
                uniform(plan),
                new PackingPlanner(
                                plan.gpu(),
                                plan.services().stream()
                                        .map(ServiceCapacity::demand)
                                        .toList())
                        .greedy()
                        .gpus()
                        .size(),
                half.gpus(),
                worst);
    }

    /**
     * GPUs of each service without MIG, which have a few more multiprocessors; none where whole GPUs were not measured.
     */
    private List<Double> withoutMig(BatchPlan plan) {
        Optional<MigProfile> whole = gpu.profiles().stream()
                .filter(profile -> profile.computeSlices() == gpu.computeSlices())
                .findFirst();
        if (whole.isEmpty()) {
            return List.of();
        }
        double faster = whole.get().sms().isPresent() && gpu.sms() > 0
                ? (double) gpu.sms() / whole.get().sms().getAsInt()
                : 1;
        List<Double> gpus = new ArrayList<>();
        for (ServiceCapacity planned : plan.services()) {
            PlannedService service = planned.service();
            ServiceCapacity off =
                    capacity(service.withLatency(service.latency().times(1 / faster)), gpu.only(whole.get()::equals));
            if (off.byProfile().isEmpty()) {
                return List.of();
            }
            gpus.add(service.ratePerSecond()
                    / Objects.requireNonNull(off.byProfile().get(whole.get())).ratePerSecond());
        }
        return gpus;
    }

    /** As if an instance could always answer as many as in batches of half the objective. */
    private ServiceCapacity half(ServiceCapacity capacity) {
        PlannedService service = capacity.service();
        Map<MigProfile, Capacity> capacities = new LinkedHashMap<>();
        for (MigProfile profile : capacity.byProfile().keySet()) {
            double millis = 0;
            for (Mix.Part part :
                    capacity.mix(service.latency(), profile).orElseThrow().parts()) {
                millis += part.share() * leastMillis(part.latency(), service.sloMillis() / 2);
            }
            if (Double.isFinite(millis)) {
                capacities.put(profile, new Capacity(1000 / millis, service.sloMillis()));
            }
        }
        return new ServiceCapacity(service, capacity.edges(), capacities);
    }

    /** Of a request in batches that take no longer than some time; infinite where there are none. */
    private static double leastMillis(BatchLatency latency, double most) {
        double least = Double.POSITIVE_INFINITY;
        for (int batch = 1; batch <= latency.largestBatch() && latency.millis(batch) <= most; batch++) {
            least = Math.min(least, latency.millis(batch) / batch);
        }
        return least;
    }

    private static Map<String, Integer> uniform(BatchPlan plan) {
        Map<String, Integer> uniform = new LinkedHashMap<>();
        for (MigProfile profile : plan.gpu().profiles()) {
            int instances = 0;
            boolean serves = true;
            for (ServiceCapacity capacity : plan.services()) {
                double rate = capacity.demand().capacities().getOrDefault(profile, 0.0);
                serves &= rate > 0;
                instances += serves ? (int) Math.ceil(capacity.service().ratePerSecond() / rate) : 0;
            }
            if (serves) {
                uniform.put(profile.name(), (instances + profile.most() - 1) / profile.most());
            }
        }
        return uniform;
    }
}
