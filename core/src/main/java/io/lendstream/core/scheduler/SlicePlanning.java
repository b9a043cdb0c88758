package io.lendstream.core.scheduler;

import io.lendstream.core.batching.BatchPlan;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.batching.Packing;
import io.lendstream.core.batching.PlannedRate;
import io.lendstream.core.batching.PlannedService;
import io.lendstream.core.batching.ServiceCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.repartition.Replanning;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Plans how services share the GPUs that can be cut: every period, and at once if the plan in force no longer suffices.
 */
final class SlicePlanning {
    /** For how long a new plan has to suffice. */
    private static final Duration AHEAD = Duration.ofMinutes(30);
    /** The shortest life of a plan that does not suffice: a new one would not differ. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /**
     * The rate that the plan in force must answer. Plans are made for a higher rate while more is forecast, so that not
     * every step of a rise needs a new plan.
     */
    private static final PlannedRate LEAST = new PlannedRate(0.95, 1.15);
    /** Share of an instance's capacity that is given to it. */
    private static final double LOAD = 0.9;
    /** The rate of a service that must be kept warm without requests. */
    private static final double LEAST_RATE = 0.01;
    /** Requests are taken to come at random. */
    private static final double POISSON = 1;

    private static final long SEED = 1;
    private static final int ATTEMPTS = 20;

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Latencies latencies;

    SlicePlanning(StepBuilder builder, Policy policy, SchedulerSettings settings, Latencies latencies) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.latencies = latencies;
    }

    boolean isDue() {
        boolean isUnheard = builder.services().stream()
                .anyMatch(service ->
                        service.lastRateAt().isEmpty() && !service.spec().removed());
        if (isUnheard || new Safety(settings).againstTrust(builder).isPresent()) {
            return false;
        }
        if (builder.slices().isEmpty()) {
            return true;
        }
        SlicePlan plan = builder.slices().get();
        Duration age = Duration.between(plan.at(), builder.now());
        return age.compareTo(settings.repartitionEvery()) >= 0
                || (age.compareTo(PATIENCE) >= 0 && (plan.model().isEmpty() || !covers(plan)));
    }

    /** Whether a plan answers the demand until another plan could be in force. */
    private boolean covers(SlicePlan plan) {
        Optional<MigGpu> kind = CuttableGpus.kind(builder, plan.model());
        for (ServiceState service : builder.services().values()) {
            ServiceId name = service.spec().service();
            boolean planned = plan.demand(name).isPresent();
            Duration lead = settings.repartitionEvery()
                    .plus(settings.notice())
                    .plus(settings.timed(service).warmUp());
            double needed = rate(service, LEAST, lead, 0);
            boolean learned = planned
                    || (needed > 0 && kind.flatMap(gpu -> learned(service, gpu)).isPresent());
            if (learned && plan.capacity(name) < needed) {
                return false;
            }
        }
        return true;
    }

    /**
     * The rate to plan for: the forecast if the policy uses forecasts, else the greater of the present rate and the
     * recent peak.
     */
    private double rate(ServiceState service, PlannedRate planned, Duration ahead, double recentPeak) {
        double present = service.arrivalsPerSecond();
        Optional<DemandForecast> fresh = service.forecast()
                .filter(forecast -> policy.info().looksAhead())
                .filter(forecast -> forecast.isFresh(builder.now()));
        double rate = fresh.map(forecast -> planned.of(forecast, ahead, present, recentPeak))
                .orElse(Math.max(present, recentPeak));
        return Math.max(rate, service.spec().floorReplicas() > 0 ? LEAST_RATE : 0);
    }

    /** Considers a new plan, and stores the plan in force. */
    void plan(Optional<CuttableGpus> gpus) {
        List<ServiceCapacity> services = gpus.map(each -> services(each.kind())).orElse(List.of());
        Set<ServiceId> names = services.stream()
                .map(capacity -> new ServiceId(capacity.service().name()))
                .collect(Collectors.toSet());
        int available = gpus.map(each -> each.servingOnly(names).gpus().size()).orElse(0);
        SlicePlan before = builder.slices().orElse(nothing());
        String model = gpus.map(each -> each.kind().model()).orElse("");
        if (available == 0) {
            builder.slices(before.consideredAt(builder.now()));
            return;
        }
        if (services.isEmpty()) {
            builder.slices(new SlicePlan(
                    builder.now(),
                    model,
                    List.of(),
                    List.of(),
                    0,
                    Instant.EPOCH,
                    before.cutsFrom(),
                    "no service runs on MIG instances"));
            return;
        }
        BatchPlan proposed = fitting(gpus.orElseThrow().kind(), services, available);
        List<SlicePlan.Demand> demands =
                proposed.services().stream().map(SlicePlanning::demand).toList();
        SlicePlan refreshed = new SlicePlan(
                builder.now(),
                model,
                before.cuts(),
                demands,
                before.agreed(),
                before.counted(),
                before.cutsFrom(),
                before.reason());
        boolean covers = before.model().equals(model) && covers(refreshed);
        Replanning.Verdict verdict = replanning(before)
                .consider(builder.now(), new Replanning.Proposal(before.cuts().size(), covers, proposed.gpus(), AHEAD));
        builder.slices(new SlicePlan(
                builder.now(),
                model,
                verdict.changes() ? cuts(proposed) : before.cuts(),
                demands,
                verdict.next().agreed(),
                verdict.next().counted(),
                before.cutsFrom(),
                verdict.changes() ? verdict.reason() : before.reason()));
    }

    private static SlicePlan nothing() {
        return new SlicePlan(Instant.EPOCH, "", List.of(), List.of(), 0, Instant.EPOCH, Instant.EPOCH, "");
    }

    private Replanning replanning(SlicePlan before) {
        Replanning.Settings usual = Replanning.Settings.DEFAULT;
        return new Replanning(
                new Replanning.Settings(
                        settings.repartitionEvery(), usual.periods(), usual.leastSaved(), usual.horizon()),
                before.agreed(),
                before.counted());
    }

    /** The batch times of a service on a kind of GPU that it may use. */
    private Optional<ModelLatency> learned(ServiceState service, MigGpu gpu) {
        return uses(service, gpu) ? latencies.learned(service, gpu) : Optional.empty();
    }

    /** Whether a service may run on instances of a kind; one with shapes runs on whole GPUs only. */
    private boolean uses(ServiceState service, MigGpu gpu) {
        if (service.spec().hasGroups()) {
            return false;
        }
        return service.spec().takesKindsAsAlike()
                || !settings.model().kinds()
                || CuttableGpus.kinds(builder, gpu, settings.model().gpuKinds())
                        .allMatch(kind -> service.spec().uses(Optional.of(kind)));
    }

    /** Services that are in time on some instance. */
    private List<ServiceCapacity> services(MigGpu gpu) {
        List<ServiceCapacity> services = new ArrayList<>();
        for (ServiceState service : builder.services().values()) {
            double rate = rate(service, PlannedRate.DEFAULT, AHEAD, service.recentPeak(builder.now()));
            if (rate > 0) {
                learned(service, gpu)
                        .filter(latency -> runs(latency, gpu))
                        .map(latency -> ServiceCapacity.estimated(planned(service, rate, latency), gpu, LOAD))
                        .filter(capacity -> !capacity.byProfile().isEmpty())
                        .ifPresent(services::add);
            }
        }
        return services;
    }

    private static boolean runs(ModelLatency latency, MigGpu gpu) {
        return gpu.profiles().stream()
                .anyMatch(profile -> latency.on(profile, latency.largestSize()).isPresent());
    }

    private static PlannedService planned(ServiceState service, double rate, ModelLatency latency) {
        return new PlannedService(
                service.spec().service().value(),
                rate,
                service.spec().slo().toMillis(),
                POISSON,
                latency,
                sizes(service));
    }

    /** The sizes of its inputs, as far as its sources report them. */
    private static NavigableMap<Integer, Double> sizes(ServiceState service) {
        NavigableMap<Integer, Double> sizes = new TreeMap<>();
        service.batches()
                .ifPresent(batches -> batches.sizes().bars().forEach(bar -> sizes.put(bar.size(), bar.weight())));
        return sizes;
    }

    /**
     * The plan for the whole demand, or for the same share of the demand of every service if there are too few GPUs.
     */
    private static BatchPlan fitting(MigGpu gpu, List<ServiceCapacity> services, int available) {
        BatchPlan plan = BatchPlan.of(gpu, services, SEED);
        for (int attempt = 0; attempt < ATTEMPTS && plan.gpus() > available; attempt++) {
            double share = 0.97 * available / plan.gpus();
            plan = BatchPlan.of(
                    gpu,
                    plan.services().stream()
                            .map(service -> scaled(service, share))
                            .toList(),
                    SEED);
        }
        return plan;
    }

    private static ServiceCapacity scaled(ServiceCapacity capacity, double share) {
        PlannedService service = capacity.service();
        return new ServiceCapacity(
                new PlannedService(
                        service.name(),
                        share * service.ratePerSecond(),
                        service.sloMillis(),
                        service.cv2(),
                        service.latency(),
                        service.sizes()),
                capacity.edges(),
                capacity.byProfile());
    }

    private static SlicePlan.Demand demand(ServiceCapacity capacity) {
        Map<String, Double> byProfile = new TreeMap<>();
        capacity.byProfile().forEach((profile, each) -> byProfile.put(profile.name(), each.ratePerSecond()));
        return new SlicePlan.Demand(
                new ServiceId(capacity.service().name()), capacity.service().ratePerSecond(), byProfile);
    }

    private static List<SlicePlan.Cut> cuts(BatchPlan plan) {
        List<SlicePlan.Cut> cuts = new ArrayList<>();
        for (Packing.Cut cut : plan.packing().gpus()) {
            cuts.add(new SlicePlan.Cut(
                    cut.profiles().stream().map(profile -> profile.name()).toList(),
                    cut.services().stream()
                            .map(service -> new ServiceId(
                                    plan.services().get(service).service().name()))
                            .toList()));
        }
        return cuts;
    }
}
