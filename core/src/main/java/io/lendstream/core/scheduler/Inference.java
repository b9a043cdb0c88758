package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Gives inference the replicas that it needs, at once: warm replicas first, then others by {@link ReplicaSupply}.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, ATS for inference</a>
 */
final class Inference {
    /** The order in which warm replicas that are alike are woken. */
    private static final Comparator<GpuState> WARMEST = Comparator.<GpuState>comparingInt(
                    gpu -> gpu.owner().isProtected() ? 0 : 1)
            .thenComparing(Comparator.comparingInt(GpuState::warmHits).reversed())
            .thenComparing(GpuState::gpuId);

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    private final Map<ServiceId, List<GpuState>> replicas = new LinkedHashMap<>();
    /** The needs of services that count by kinds. */
    private final Map<ServiceId, KindNeed> byKind = new LinkedHashMap<>();

    private final SingleNeeds singles;
    private final PresentNeeds present;
    private final GroupInference groups;
    /** Made when replicas start: most rates need none. */
    private Optional<ReplicaSupply> supply = Optional.empty();

    private boolean someSleep;

    Inference(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.singles = new SingleNeeds(builder, policy, settings);
        this.present = new PresentNeeds(builder, singles);
        this.groups = new GroupInference(builder, policy, settings);
    }

    private ReplicaSupply supply() {
        ReplicaSupply made =
                supply.orElseGet(() -> new ReplicaSupply(builder, policy, settings, replicas, byKind, present));
        supply = Optional.of(made);
        return made;
    }

    /**
     * Whether the service has exactly the replicas that it needs, all on whole GPUs, so that this rate update cannot
     * cause a decision. Other services are handled by their own updates, and deadlines by ticks.
     */
    boolean isContent(ServiceState service) {
        if (service.spec().hasGroups()) {
            return groups.isContent(service);
        }
        if (KindNeed.isFor(builder, service)) {
            return isContentByKind(service);
        }
        int active = 0;
        for (Map.Entry<Replica, GpuState> replica : pool.replicas(service)) {
            GpuState unit = replica.getValue();
            if (!unit.isWhole() || isActivePart(unit)) {
                return false;
            }
            active += unit.owner().isActiveReplica() ? 1 : 0;
        }
        return active == singles.alike(service).replicas();
    }

    private boolean isContentByKind(ServiceState service) {
        KindNeed need = singles.byKind(service);
        List<GpuState> active = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica : pool.replicas(service)) {
            GpuState unit = replica.getValue();
            if (!unit.isWhole() || isActivePart(unit) || (unit.owner().isActiveReplica() && !need.uses(unit))) {
                return false;
            }
            if (unit.owner().isActiveReplica()) {
                active.add(unit);
            }
        }
        return active.size() == need.in(active).replicas();
    }

    /** Whether a unit works in a replica of several units, which the service does not declare any more. */
    private static boolean isActivePart(GpuState unit) {
        return unit.part().isPresent() && unit.owner().isActiveReplica();
    }

    /** Replicas that a service lacks beside these units, which run one or will. */
    int missing(ServiceState service, List<GpuState> units) {
        if (!KindNeed.isFor(builder, service)) {
            return Math.max(0, singles.alike(service).replicas() - units.size());
        }
        KindNeed need = singles.byKind(service);
        for (GpuState unit : units) {
            if (need.uses(unit)) {
                need.count(unit);
            }
        }
        return need.missing();
    }

    /** The need of a service at a time, on whole GPUs. */
    static ReplicaNeed need(Policy policy, SchedulerSettings settings, ServiceState service, Instant now) {
        if (service.spec().hasGroups()) {
            return GroupNeed.preferred(policy, settings, service, now);
        }
        InferenceService timed = settings.timed(service);
        Duration lead = new StartLead(settings).ofSingle(timed, timed.warmUp());
        return ReplicaNeed.of(service, now, lead, policy.outlook());
    }

    void serve() {
        serve(builder.clusterIndex().gpus().replicas(), builder.services().values());
    }

    /** Gives one service the replicas that it needs. */
    void serve(ServiceState service) {
        serve(pool.replicas(service), List.of(service));
    }

    private void serve(Iterable<Map.Entry<Replica, GpuState>> theirs, Iterable<ServiceState> services) {
        Map<ServiceId, Double> onInstances = new LinkedHashMap<>();
        Map<ServiceId, Double> coming = new LinkedHashMap<>();
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
            if (unit.part().isPresent() && !unit.owner().isSleeping()) {
                continue;
            }
            boolean isUp = unit.owner().isServing();
            double planned =
                    unit.owner().isActiveReplica() || !unit.isWhole() ? CuttableGpus.capacity(builder, name, unit) : 0;
            if (unit.isWhole() && planned == 0) {
                mine.add(unit);
                someSleep |= unit.owner().isSleeping();
            } else {
                (isUp ? onInstances : coming).merge(name, planned, Double::sum);
            }
        }
        Map<ServiceId, ReplicaNeed> needs = new LinkedHashMap<>();
        Map<ServiceId, Integer> missing = adjust(services, onInstances, coming, needs);
        builder.listener().needed(needs);
        supply(missing, needs);
    }

    /** Finds units for replicas: floors of services with shapes first. */
    private void supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs) {
        groups.supply(Fill.FLOORS, 0);
        boolean isWaitingFirst = WaitingFirst.isOn(settings, policy);
        if (isWaitingFirst && groups.areWaiting()) {
            supplyPresent(missing, needs);
        }
        int waiting = 0;
        if (!missing.isEmpty() || !builder.entities().queues().isEmpty()) {
            waiting = supply().supply(missing, needs, someSleep, true);
            if (!builder.clusterIndex().gpus().groups().isEmpty()) {
                new LeftOutGroups(builder, settings, pool).makeRoom(needs, supply().reasons());
            }
        }
        groups.supply(Fill.ALL, waiting);
        if (isWaitingFirst && builder.entities().startsGroups()) {
            new GroupWaits(builder, policy, settings, present).run(waiting);
        }
    }

    /**
     * Gives units to requests that wait, those for replicas of single GPUs first, before any for expected requests.
     *
     * @param missing the replicas of single GPUs that services lack; less those that start here
     */
    private void supplyPresent(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs) {
        Map<ServiceId, Integer> now = new LinkedHashMap<>();
        missing.forEach((name, count) -> present.of(builder.services().require(name))
                .map(need -> Math.min(count, need.asked() - need.has()))
                .filter(asked -> asked > 0)
                .ifPresent(asked -> now.put(name, asked)));
        int waiting = now.isEmpty() ? 0 : supply().supply(now, needs, someSleep, false);
        groups.supply(Fill.PRESENT, waiting);
        missing.replaceAll((name, count) -> count - (now.isEmpty() ? 0 : supply().started(name)));
        missing.values().removeIf(count -> count <= 0);
    }

    /**
     * Wakes warm replicas, or protects surplus ones; returns the replicas that services without shapes still miss.
     *
     * @param up requests per second that instances answer, by service
     * @param coming the same of units that come up
     * @param needs takes the needs
     */
    private Map<ServiceId, Integer> adjust(
            Iterable<ServiceState> services,
            Map<ServiceId, Double> up,
            Map<ServiceId, Double> coming,
            Map<ServiceId, ReplicaNeed> needs) {
        Map<ServiceId, Integer> missing = new LinkedHashMap<>();
        for (ServiceState service : services) {
            ServiceId name = service.spec().service();
            if (service.spec().hasGroups()) {
                groups.adjust(service, needs);
                continue;
            }
            double there = up.getOrDefault(name, 0.0);
            double soon = there + coming.getOrDefault(name, 0.0);
            int short_ = KindNeed.isFor(builder, service)
                    ? adjustByKind(service, there, soon, needs)
                    : adjustAlike(service, there, soon, needs);
            if (short_ > 0 && !pool.isHeldBack(service)) {
                missing.put(name, short_);
            }
            if (!builder.clusterIndex().gpus().groups().isEmpty()) {
                int needed = Objects.requireNonNull(needs.get(name)).replicas();
                groups.leaveOut(service, soon <= there && serving(name) >= needed);
            }
        }
        return missing;
    }

    /** Replicas of one unit that serve already; those that start do not answer the load of others yet. */
    private int serving(ServiceId name) {
        Optional<KindNeed> kinds = Optional.ofNullable(byKind.get(name));
        int serving = 0;
        for (GpuState gpu : replicas.getOrDefault(name, List.of())) {
            boolean counts = gpu.part().isEmpty() && gpu.owner().isServing();
            serving += counts && kinds.map(need -> need.uses(gpu)).orElse(true) ? 1 : 0;
        }
        return serving;
    }

    private double planned(ServiceId service) {
        return builder.slices()
                .flatMap(plan -> plan.demand(service))
                .map(SlicePlan.Demand::ratePerSecond)
                .orElse(0.0);
    }

    /** Adjusts a service whose replicas answer the same, whatever their kind. */
    private int adjustAlike(ServiceState service, double up, double soon, Map<ServiceId, ReplicaNeed> needs) {
        ServiceId name = service.spec().service();
        ReplicaNeed usual = singles.alike(service);
        boolean isPlanned = soon > 0;
        ReplicaNeed need = isPlanned ? ReplicaNeed.beside(service, soon, 0) : usual;
        ReplicaNeed kept = isPlanned ? ReplicaNeed.beside(service, up, planned(name)) : usual;
        needs.put(name, need);
        if (isPlanned) {
            present.beside(name, kept);
        }
        return adjust(service, need, kept);
    }

    /** Adjusts a service whose replicas answer more or less by kind. */
    private int adjustByKind(ServiceState service, double up, double soon, Map<ServiceId, ReplicaNeed> needs) {
        ServiceId name = service.spec().service();
        KindNeed need = soon > 0 ? singles.byKindBeside(service, soon, 0) : singles.byKind(service);
        KindNeed kept = need;
        if (soon > 0) {
            kept = singles.byKindBeside(service, up, planned(name));
            present.beside(name, kept);
        }
        for (GpuState gpu : replicas.getOrDefault(name, List.of())) {
            if (gpu.owner().isActiveReplica() && need.uses(gpu)) {
                need.count(gpu);
            }
        }
        restByKind(name, kept);
        byKind.put(name, need);
        wakeByKind(service, need);
        needs.put(name, need.inCounted());
        return need.missing();
    }

    /**
     * Protects the running replicas beyond the need, those on preferred kinds last. Those on kinds that the service
     * must not use any more rest as soon as the others answer its load.
     */
    private void restByKind(ServiceId name, KindNeed kept) {
        List<GpuState> serving = new ArrayList<>();
        List<GpuState> leftOut = new ArrayList<>();
        for (GpuState gpu : replicas.getOrDefault(name, List.of())) {
            if (gpu.owner().isServing()) {
                (kept.uses(gpu) ? serving : leftOut).add(gpu);
            }
        }
        serving.sort(kept.preferredFirst(Comparator.comparing(GpuState::gpuId)));
        int needed = kept.in(serving).replicas();
        if (needed <= serving.size()) {
            protect(name, serving.subList(needed, serving.size()));
            protect(name, leftOut);
        }
    }

    /** Wakes warm replicas, those on preferred kinds first, so that the next surplus is not one of them. */
    private void wakeByKind(ServiceState service, KindNeed need) {
        ReplicaNeed before = need.inCounted();
        List<GpuState> warm = new ArrayList<>();
        if (need.missing() > 0) {
            List<GpuState> mine =
                    new ArrayList<>(replicas.getOrDefault(service.spec().service(), List.of()));
            mine.sort(need.preferredFirst(WARMEST));
            for (GpuState gpu : mine) {
                if (gpu.owner().isIdleReplica() && gpu.part().isEmpty() && need.uses(gpu) && need.missing() > 0) {
                    need.count(gpu);
                    warm.add(gpu);
                }
            }
        }
        if (!warm.isEmpty()) {
            wake(service, before, warm);
        }
    }

    /** Wakes warm replicas, or protects surplus ones; returns the number of replicas still missing. */
    private int adjust(ServiceState service, ReplicaNeed need, ReplicaNeed kept) {
        ServiceId name = service.spec().service();
        List<GpuState> mine = replicas.getOrDefault(name, List.of());
        List<GpuState> active = new ArrayList<>(mine.size());
        for (GpuState gpu : mine) {
            if (gpu.owner().isActiveReplica()) {
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
                .filter(gpu -> gpu.owner().isIdleReplica() && gpu.part().isEmpty())
                .sorted(WARMEST)
                .limit(gap)
                .toList();
        if (!warm.isEmpty()) {
            wake(service, need, warm);
        }
        return gap - warm.size();
    }

    /** Protects the running replicas beyond the need, except those whose demand swings. Starting ones do not count. */
    private void rest(ServiceId service, List<GpuState> active, int needed) {
        List<GpuState> idle = active.stream()
                .filter(gpu -> gpu.owner().isServing())
                .sorted(Comparator.comparing(GpuState::gpuId))
                .skip(needed)
                .toList();
        protect(service, idle);
    }

    private void protect(ServiceId service, List<GpuState> idle) {
        for (GpuState gpu : idle) {
            if (ReplicaChanges.swings(gpu, builder.now())) {
                continue;
            }
            Instant until = builder.now().plus(policy.protectFor(gpu.warmHits()));
            builder.own(gpu.gpuId(), new Owner.Protected(service, until, gpu.warmHits()));
        }
    }

    private void wake(ServiceState service, ReplicaNeed need, List<GpuState> warm) {
        ServiceId name = service.spec().service();
        String what = "wakes " + Reason.counted(warm.size(), "warm replica")
                + supply().reasons().kinds(service, warm);
        new ReplicaChanges(builder, settings)
                .wake(name, warm, supply().reasons().of(service, need, what));
    }
}
