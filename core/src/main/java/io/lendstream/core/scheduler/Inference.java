package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.StreamSupport;

/**
 * Gives inference the GPUs it needs, at once: warm replicas first, then free GPUs, then the sleeping replicas of others,
 * then what was lent, where its loss hurts least.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, ATS for inference</a>
 */
final class Inference {
    /** Time to drain a sleeping replica before it is stopped by force. */
    private static final Duration DRAIN = Duration.ofSeconds(30);

    /** How often a replica may be put to work while it is protected before that counts as demand that swings. */
    private static final int SWINGS = 3;

    /**
     * How long a replica works at least before it may rest again where demand swings, so that swings faster than sources usually report
     * are no decision each. What inference needs more is given at once all the same.
     */
    private static final Duration SHORTEST_WORK = Duration.ofSeconds(10);

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Map<ServiceId, List<GpuState>> replicas = new TreeMap<>();
    private boolean someSleep;

    Inference(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
    }

    /**
     * Whether a service has just what it needs, on whole GPUs, so that another word of its demand calls for nothing: what others
     * need, and what time brings, is seen to by their own words and by ticks.
     */
    boolean isContent(ServiceState service) {
        int active = 0;
        for (Map.Entry<Replica, GpuState> replica : replicas(service)) {
            GpuState unit = replica.getValue();
            if (!unit.isWhole()) {
                return false;
            }
            active += unit.owner() instanceof Owner.Serving || unit.owner() instanceof Owner.Binding ? 1 : 0;
        }
        return active == need(service).replicas();
    }

    private ReplicaNeed need(ServiceState service) {
        return ReplicaNeed.of(
                service, builder.now(), lead(service), policy.info().looksAhead());
    }

    void serve() {
        serve(builder.clusterIndex().replicas(), builder.services().values());
    }

    /**
     * Whether a service that was heard of can be served without a look at the others: nothing is on its way that another waits for,
     * nobody has a sleeping replica to spare, and nothing else has happened or is due. The others are seen to by their own words and
     * by ticks.
     */
    boolean isAlone() {
        return builder.slices().isEmpty()
                && !builder.matters()
                && builder.clusterIndex().sleeping().isEmpty()
                && coming() == 0
                && !isPlanDue();
    }

    private boolean isPlanDue() {
        return builder.nextPlanAt().filter(builder.now()::isBefore).isEmpty();
    }

    /**
     * Whether no service waits for what a report has brought. To one that lacks GPUs is given what is free, and what was lent is taken
     * back for it; so where some of inference's were free before, or on loan, all that anybody lacks is on its way already, and
     * only what comes free calls for more. What time has brought is seen to by others' own words, by ticks, and before a plan.
     */
    boolean nobodyWaits() {
        return builder.slices().isEmpty()
                && !builder.changesPlans()
                && !isPlanDue()
                && !builder.hasFreed(Pool.INFERENCE)
                && (freeGpus().hasNext() || (settings.lending() && builder.hadLoans()));
    }

    /** Gives one service what it needs. */
    void serve(ServiceState service) {
        serve(replicas(service), List.of(service));
    }

    private Iterable<Map.Entry<Replica, GpuState>> replicas(ServiceState service) {
        ServiceId name = service.spec().service();
        List<Map.Entry<Replica, GpuState>> mine = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().replicas().from(key -> key.service().compareTo(name) >= 0)) {
            if (!replica.getKey().service().equals(name)) {
                break;
            }
            mine.add(replica);
        }
        return mine;
    }

    private void serve(Iterable<Map.Entry<Replica, GpuState>> theirs, Iterable<ServiceState> services) {
        Map<ServiceId, Double> onInstances = new TreeMap<>();
        Map<ServiceId, Double> coming = new TreeMap<>();
        Optional<ServiceId> last = Optional.empty();
        List<GpuState> mine = List.of();
        for (Map.Entry<Replica, GpuState> replica : theirs) {
            ServiceId name = replica.getKey().service();
            GpuState unit = replica.getValue();
            if (last.isEmpty() || !last.get().equals(name)) {
                last = Optional.of(name);
                mine = new ArrayList<>();
                replicas.put(name, mine);
            }
            boolean isUp = unit.owner() instanceof Owner.Serving;
            double planned = isUp || unit.owner() instanceof Owner.Binding || !unit.isWhole()
                    ? Repartitioning.capacity(builder, name, unit)
                    : 0;
            if (unit.isWhole() && planned == 0) {
                mine.add(unit);
                someSleep |= unit.owner() instanceof Owner.Sleeping;
            } else {
                (isUp ? onInstances : coming).merge(name, planned, Double::sum);
            }
        }
        Map<ServiceId, Integer> missing = new TreeMap<>();
        Map<ServiceId, ReplicaNeed> needs = new TreeMap<>();
        for (ServiceState service : services) {
            ServiceId name = service.spec().service();
            ReplicaNeed usual = need(service);
            double up = onInstances.getOrDefault(name, 0.0);
            double soon = up + coming.getOrDefault(name, 0.0);
            boolean isPlanned = soon > 0;
            ReplicaNeed need = isPlanned ? ReplicaNeed.beside(service, soon, 0) : usual;
            ReplicaNeed kept = isPlanned ? ReplicaNeed.beside(service, up, planned(name)) : usual;
            needs.put(name, need);
            int short_ = adjust(service, need, kept);
            if (short_ > 0) {
                missing.put(name, short_);
            }
        }
        builder.listener().needed(needs);
        if (!missing.isEmpty()) {
            supply(missing, needs);
        }
    }

    /** From a decision to a replica that answers, in the worst usual case: notice, then warm-up. */
    private Duration lead(ServiceState service) {
        return settings.notice().plus(service.spec().warmUp());
    }

    private double planned(ServiceId service) {
        return builder.slices()
                .flatMap(plan -> plan.demand(service))
                .map(SlicePlan.Demand::ratePerSecond)
                .orElse(0.0);
    }

    /** Wakes warm replicas, or lets those rest that need not be kept; returns how many replicas are still missing. */
    private int adjust(ServiceState service, ReplicaNeed need, ReplicaNeed kept) {
        ServiceId name = service.spec().service();
        List<GpuState> mine = replicas.getOrDefault(name, List.of());
        List<GpuState> active = new ArrayList<>(mine.size());
        for (GpuState gpu : mine) {
            if (gpu.owner() instanceof Owner.Serving || gpu.owner() instanceof Owner.Binding) {
                active.add(gpu);
            }
        }
        if (active.size() > kept.replicas()) {
            rest(name, active, kept.replicas());
        }
        int gap = need.replicas() - active.size();
        if (gap <= 0) {
            return 0;
        }
        List<GpuState> warm = mine.stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Protected || gpu.owner() instanceof Owner.Sleeping)
                .sorted(Comparator.<GpuState>comparingInt(gpu -> gpu.owner() instanceof Owner.Protected ? 0 : 1)
                        .thenComparing(
                                Comparator.comparingInt(GpuState::warmHits).reversed())
                        .thenComparing(GpuState::gpuId))
                .limit(gap)
                .toList();
        if (!warm.isEmpty()) {
            wake(service, need, warm);
        }
        return gap - warm.size();
    }

    /**
     * Protects the replicas beyond the need that are up, save those for which demand swings; those still coming up do not count as there
     * yet.
     */
    private void rest(ServiceId service, List<GpuState> active, int needed) {
        List<GpuState> idle = active.stream()
                .filter(gpu -> gpu.owner() instanceof Owner.Serving)
                .sorted(Comparator.comparing(GpuState::gpuId))
                .skip(needed)
                .filter(gpu -> !swings(gpu))
                .toList();
        for (GpuState gpu : idle) {
            Instant until = builder.now().plus(policy.protectFor(gpu.warmHits()));
            builder.own(gpu.gpuId(), new Owner.Protected(service, until, gpu.warmHits()));
        }
    }

    private boolean swings(GpuState gpu) {
        return gpu.warmHits() >= SWINGS && gpu.since().plus(SHORTEST_WORK).isAfter(builder.now());
    }

    private void wake(ServiceState service, ReplicaNeed need, List<GpuState> warm) {
        ServiceId name = service.spec().service();
        wake(
                builder,
                settings,
                name,
                warm,
                reason(service, need, Reason.counted(warm.size(), "warm replica") + " put to work"));
    }

    /** Puts warm replicas to work. */
    static void wake(
            StepBuilder builder, SchedulerSettings settings, ServiceId name, List<GpuState> warm, Reason reason) {
        List<GpuId> gpus = warm.stream().map(GpuState::gpuId).toList();
        builder.decide(builder.now().plus(settings.notice()), reason, new Action.Serve(name, gpus, true));
        for (GpuState gpu : warm) {
            int hits = gpu.owner() instanceof Owner.Protected ? gpu.warmHits() + 1 : 0;
            builder.put(gpu.withWarmHits(hits));
            builder.own(gpu.gpuId(), new Owner.Serving(name));
        }
    }

    private void supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs) {
        Iterator<GpuState> free = freeGpus();
        int coming = coming();
        Map<ServiceId, List<GpuId>> given = new TreeMap<>();
        missing.forEach((name, count) -> give(given, name, Math.min(count, underFloor(needs, name)), free));
        int stillMissing = 0;
        for (Map.Entry<ServiceId, Integer> entry : missing.entrySet()) {
            give(given, entry.getKey(), entry.getValue(), free);
            List<GpuId> taken = given.getOrDefault(entry.getKey(), List.of());
            ServiceState service = builder.services().require(entry.getKey());
            if (!taken.isEmpty()) {
                start(service, needs.get(entry.getKey()), taken);
            }
            entry.setValue(entry.getValue() - taken.size());
            stillMissing = (int) Math.min(Integer.MAX_VALUE, (long) stillMissing + entry.getValue());
        }
        int toFree = stillMissing - coming;
        if (toFree > 0) {
            ServiceState service = latest(missing);
            ReplicaNeed need = needs.get(service.spec().service());
            toFree -= someSleep ? stopSleeping(service, need, toFree) : 0;
            if (toFree > 0) {
                reclaim(service, need, toFree);
            }
        }
    }

    /** Of inference, where they can be reached, node by node. */
    private Iterator<GpuState> freeGpus() {
        return StreamSupport.stream(builder.clusterIndex().free().values().spliterator(), false)
                .filter(gpu -> gpu.pool() == Pool.INFERENCE && builder.isReachable(gpu))
                .iterator();
    }

    /** How many GPUs of inference are about to be free. */
    private int coming() {
        int coming = 0;
        for (GpuId id : builder.clusterIndex().owed().values()) {
            GpuState gpu = builder.gpu(id);
            if (gpu.owner() instanceof Owner.Releasing
                    && gpu.pool() == Pool.INFERENCE
                    && gpu.isWhole()
                    && builder.isReachable(gpu)) {
                coming++;
            }
        }
        return coming;
    }

    /** Replicas that a service lacks to its floor: they come before what others would like beyond theirs. */
    private int underFloor(Map<ServiceId, ReplicaNeed> needs, ServiceId name) {
        int has = replicas.getOrDefault(name, List.of()).size();
        return Math.max(0, floor(needs, name) - has);
    }

    private static int floor(Map<ServiceId, ReplicaNeed> needs, ServiceId name) {
        ReplicaNeed need = needs.get(name);
        return need == null ? 0 : need.floor();
    }

    /** Gives a service free GPUs until it has been given so many. */
    private static void give(Map<ServiceId, List<GpuId>> given, ServiceId name, int count, Iterator<GpuState> free) {
        List<GpuId> taken = given.computeIfAbsent(name, any -> new ArrayList<>());
        while (taken.size() < count && free.hasNext()) {
            taken.add(free.next().gpuId());
        }
    }

    /** For whom more is freed: of those that lack replicas, the one that was heard of last; for the others it is under way. */
    private ServiceState latest(Map<ServiceId, Integer> missing) {
        return missing.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(entry -> builder.services().require(entry.getKey()))
                .max(Comparator.comparingLong(Inference::lastHeardOf))
                .orElseThrow();
    }

    private static long lastHeardOf(ServiceState service) {
        return Math.max(service.demand().event(), service.forecastEvent());
    }

    private void start(ServiceState service, ReplicaNeed need, List<GpuId> gpus) {
        start(builder, service, gpus, reason(service, need, Reason.counted(gpus.size(), "replica") + " started"));
    }

    /** Starts replicas on units that are free. */
    static void start(StepBuilder builder, ServiceState service, List<GpuId> gpus, Reason reason) {
        Instant deadline = builder.now().plus(bindTime(service));
        DecisionId id = builder.nextId();
        builder.decide(deadline, reason, new Action.Serve(service.spec().service(), gpus, false));
        Tenant tenant = new Tenant.Service(service.spec().service());
        for (GpuId gpu : gpus) {
            int attempt = builder.gpu(gpu).failedBinds() + 1;
            builder.put(builder.gpu(gpu).withWarmHits(0));
            builder.own(gpu, new Owner.Binding(tenant, id, deadline, Optional.empty(), attempt));
        }
    }

    private static Duration bindTime(ServiceState service) {
        Duration twice = service.spec().warmUp().multipliedBy(2);
        return twice.compareTo(Duration.ofSeconds(10)) < 0 ? Duration.ofSeconds(10) : twice;
    }

    /**
     * Stops sleeping replicas of other services. Those keep what they need, and their floors: as far as a service needs its sleeping
     * replicas, {@link #adjust} has woken them by now.
     */
    private int stopSleeping(ServiceState forService, ReplicaNeed need, int count) {
        int stopped = 0;
        for (ServiceState other : builder.services().values()) {
            ServiceId name = other.spec().service();
            List<GpuState> mine = replicas.getOrDefault(name, List.of());
            List<GpuId> sleeping = mine.stream()
                    .map(gpu -> builder.gpu(gpu.gpuId()))
                    .filter(gpu -> gpu.owner() instanceof Owner.Sleeping)
                    .limit(Math.max(0, count - stopped))
                    .map(GpuState::gpuId)
                    .toList();
            if (!sleeping.isEmpty() && !name.equals(forService.spec().service())) {
                stop(
                        builder,
                        settings,
                        name,
                        sleeping,
                        reason(
                                forService,
                                need,
                                "%s of %s stopped to make room"
                                        .formatted(Reason.counted(sleeping.size(), "sleeping replica"), name)));
                stopped += sleeping.size();
            }
        }
        return stopped;
    }

    static void stop(
            StepBuilder builder, SchedulerSettings settings, ServiceId service, List<GpuId> gpus, Reason reason) {
        Instant by = builder.now().plus(DRAIN);
        DecisionId id = builder.nextId();
        builder.decide(by, reason, new Action.Idle(service, gpus, by));
        for (GpuId gpu : gpus) {
            builder.own(gpu, new Owner.Releasing(new Tenant.Service(service), id, by, by.plus(settings.notice())));
        }
    }

    private void reclaim(ServiceState service, ReplicaNeed need, int count) {
        ClusterView view = new Training(builder, policy, settings).view();
        List<GpuId> victims = policy.victims(view, count);
        builder.listener().reclaimed(view, count, victims);
        takeBack(
                builder,
                settings,
                victims,
                job -> reason(
                        service,
                        need,
                        "job " + job + " gives GPUs back: least loss of training speed among the loans"));
    }

    /** Reclaims lent GPUs, job by job; a job left with too few is suspended. */
    static void takeBack(
            StepBuilder builder,
            SchedulerSettings settings,
            List<GpuId> victims,
            java.util.function.Function<JobId, Reason> reason) {
        Map<JobId, List<GpuId>> byJob = new TreeMap<>();
        for (GpuId gpu : victims) {
            if (builder.gpu(gpu).owner() instanceof Owner.Lent lent) {
                byJob.computeIfAbsent(lent.job(), job -> new ArrayList<>()).add(gpu);
            }
        }
        byJob.forEach((name, gpus) -> {
            builder.invalidatePlan();
            JobState job = builder.jobs().require(name);
            List<GpuId> rest = job.allocation().gpus().stream()
                    .filter(gpu -> !gpus.contains(gpu))
                    .toList();
            boolean goesOn = JobChanges.goesOnWith(job, rest.size());
            new JobChanges(builder, settings)
                    .change(job, goesOn ? rest : List.of(), builder.now().plus(settings.notice()), reason.apply(name));
        });
    }

    private Reason reason(ServiceState service, ReplicaNeed need, String what) {
        String code = need.ahead() > Math.max(need.now(), need.floor()) ? "forecast" : "demand";
        List<GpuState> mine = replicas.getOrDefault(service.spec().service(), List.of());
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("needed", (double) need.replicas());
        numbers.put("neededNow", (double) need.now());
        numbers.put("neededAhead", (double) need.ahead());
        numbers.put("floor", (double) need.floor());
        numbers.put("replicas", (double) mine.size());
        numbers.put("requestsPerSecond", service.arrivalsPerSecond());
        List<Long> inputs = new ArrayList<>(service.rateEvents());
        if (policy.info().looksAhead()) {
            inputs.add(service.forecastEvent());
        }
        // Put together by hand: a formatter takes as long as a tenth of the step.
        String text = "service " + service.spec().service() + " needs " + Reason.counted(need.replicas(), "replica")
                + " (" + need.explained() + "), has " + mine.size() + ": " + what;
        return builder.because(code, text, numbers, inputs);
    }
}
