package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.ClusterView;
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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Gives inference the GPUs it needs, at once: warm replicas first, then free GPUs, then the sleeping replicas of others,
 * then what was lent, where its loss hurts least.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, ATS for inference</a>
 */
final class Inference {
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
    private final InferencePool pool;
    private final Map<ServiceId, List<GpuState>> replicas = new TreeMap<>();
    private boolean someSleep;

    Inference(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
    }

    /**
     * Whether a service has just what it needs, on whole GPUs, so that another word of its demand calls for nothing: what others
     * need, and what time brings, is seen to by their own words and by ticks.
     */
    boolean isContent(ServiceState service) {
        int active = 0;
        for (Map.Entry<Replica, GpuState> replica : pool.replicas(service)) {
            GpuState unit = replica.getValue();
            if (!unit.isWhole()) {
                return false;
            }
            active += unit.owner().isActiveReplica() ? 1 : 0;
        }
        return active == need(service).replicas();
    }

    private ReplicaNeed need(ServiceState service) {
        return need(policy, settings, service, builder.now());
    }

    /** What a service needs at a time, on whole GPUs. */
    static ReplicaNeed need(Policy policy, SchedulerSettings settings, ServiceState service, Instant now) {
        return ReplicaNeed.of(
                service, now, lead(settings, service), policy.info().looksAhead());
    }

    void serve() {
        serve(builder.clusterIndex().gpus().replicas(), builder.services().values());
    }

    /** Gives one service what it needs. */
    void serve(ServiceState service) {
        serve(pool.replicas(service), List.of(service));
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
    private static Duration lead(SchedulerSettings settings, ServiceState service) {
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
                .filter(gpu -> gpu.owner().isIdleReplica())
                .sorted(Comparator.<GpuState>comparingInt(gpu -> gpu.owner().isProtected() ? 0 : 1)
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
                .filter(gpu -> gpu.owner().isServing())
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
        new ReplicaChanges(builder, settings)
                .wake(name, warm, reason(service, need, Reason.counted(warm.size(), "warm replica") + " put to work"));
    }

    private static ReplicaNeed needOf(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        return Objects.requireNonNull(needs.get(service), "the need of a service that was not looked at");
    }

    private void supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs) {
        Iterator<GpuState> free = pool.free();
        int coming = pool.coming();
        Map<ServiceId, List<GpuId>> given = new TreeMap<>();
        missing.forEach((name, count) -> give(given, name, Math.min(count, underFloor(needs, name)), free));
        int stillMissing = 0;
        for (Map.Entry<ServiceId, Integer> entry : missing.entrySet()) {
            give(given, entry.getKey(), entry.getValue(), free);
            List<GpuId> taken = given.getOrDefault(entry.getKey(), List.of());
            ServiceState service = builder.services().require(entry.getKey());
            if (!taken.isEmpty()) {
                start(service, needOf(entry.getKey(), needs), taken);
            }
            entry.setValue(entry.getValue() - taken.size());
            stillMissing = (int) Math.min(Integer.MAX_VALUE, (long) stillMissing + entry.getValue());
        }
        int toFree = stillMissing - coming;
        if (toFree > 0) {
            ServiceState service = latest(missing);
            ReplicaNeed need = needOf(service.spec().service(), needs);
            toFree -= someSleep ? stopSleeping(service, need, toFree) : 0;
            if (toFree > 0) {
                reclaim(service, need, toFree);
            }
        }
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
        new ReplicaChanges(builder, settings)
                .start(service, gpus, reason(service, need, Reason.counted(gpus.size(), "replica") + " started"));
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
                    .filter(gpu -> gpu.owner().isSleeping())
                    .limit(Math.max(0, count - stopped))
                    .map(GpuState::gpuId)
                    .toList();
            if (!sleeping.isEmpty() && !name.equals(forService.spec().service())) {
                new ReplicaChanges(builder, settings)
                        .stop(
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

    private void reclaim(ServiceState service, ReplicaNeed need, int count) {
        ClusterView view = new TrainingView(builder, settings).view();
        List<GpuId> victims = policy.victims(view, count);
        builder.listener().reclaimed(view, count, victims);
        new JobChanges(builder, settings)
                .takeBack(
                        victims,
                        job -> reason(
                                service,
                                need,
                                "job " + job + " gives GPUs back: least loss of training speed among the loans"));
    }

    private Reason reason(ServiceState service, ReplicaNeed need, String what) {
        ReasonCode code = need.ahead() > Math.max(need.now(), need.floor()) ? ReasonCode.FORECAST : ReasonCode.DEMAND;
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
