package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Gives inference the GPUs that it needs, at once: warm replicas first, then free GPUs, then the GPUs of sleeping
 * replicas of other services, then lent GPUs whose loss costs training least.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023, ATS for inference</a>
 */
final class Inference {
    /** Wake-ups of a protected replica in a row from which its demand counts as swinging. */
    private static final int SWINGS = 3;

    /**
     * The shortest time that a replica works if its demand swings, so that fast swings are not a decision each. A
     * rising need is still served at once.
     */
    private static final Duration SHORTEST_WORK = Duration.ofSeconds(10);

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    private final Map<ServiceId, List<GpuState>> replicas = new LinkedHashMap<>();
    /** Replicas that this step has started, by service. */
    private final Map<ServiceId, Integer> started = new LinkedHashMap<>();

    private boolean someSleep;

    Inference(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
    }

    /**
     * Whether the service has exactly the replicas that it needs, all on whole GPUs, so that this rate update cannot
     * cause a decision. Other services are handled by their own updates, and deadlines by ticks.
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

    /** The need of a service at a time, on whole GPUs. */
    static ReplicaNeed need(Policy policy, SchedulerSettings settings, ServiceState service, Instant now) {
        return ReplicaNeed.of(
                service, now, lead(settings, service), policy.info().looksAhead());
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
        Map<ServiceId, Integer> missing = new LinkedHashMap<>();
        Map<ServiceId, ReplicaNeed> needs = new LinkedHashMap<>();
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

    /** The time from a decision to a replica that answers, in the worst usual case: notice, then warm-up. */
    private static Duration lead(SchedulerSettings settings, ServiceState service) {
        return settings.notice().plus(service.spec().warmUp());
    }

    private double planned(ServiceId service) {
        return builder.slices()
                .flatMap(plan -> plan.demand(service))
                .map(SlicePlan.Demand::ratePerSecond)
                .orElse(0.0);
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

    /** Protects the running replicas beyond the need, except those whose demand swings. Starting ones do not count. */
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
                .wake(name, warm, reason(service, need, "wakes " + Reason.counted(warm.size(), "warm replica")));
    }

    private static ReplicaNeed needOf(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        return Objects.requireNonNull(needs.get(service), "no need is known for the service");
    }

    private void supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs) {
        Iterator<GpuState> free = pool.free();
        int coming = pool.coming();
        Map<ServiceId, List<GpuId>> given = new LinkedHashMap<>();
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

    /** Replicas that a service lacks to its floor; floors come before needs above the floor. */
    private int underFloor(Map<ServiceId, ReplicaNeed> needs, ServiceId name) {
        int has = replicas.getOrDefault(name, List.of()).size();
        return Math.max(0, floor(needs, name) - has);
    }

    private static int floor(Map<ServiceId, ReplicaNeed> needs, ServiceId name) {
        ReplicaNeed need = needs.get(name);
        return need == null ? 0 : need.floor();
    }

    /** Gives a service free GPUs until it has {@code count} of them. */
    private static void give(Map<ServiceId, List<GpuId>> given, ServiceId name, int count, Iterator<GpuState> free) {
        List<GpuId> taken = given.computeIfAbsent(name, any -> new ArrayList<>());
        while (taken.size() < count && free.hasNext()) {
            taken.add(free.next().gpuId());
        }
    }

    /** The service named in the reclaim: of those short of replicas, the one with the newest rate or forecast. */
    private ServiceState latest(Map<ServiceId, Integer> missing) {
        return missing.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(entry -> builder.services().require(entry.getKey()))
                .max(Comparator.comparingLong(Inference::latestUpdate))
                .orElseThrow();
    }

    private static long latestUpdate(ServiceState service) {
        return Math.max(service.demand().event(), service.forecastEvent());
    }

    private void start(ServiceState service, ReplicaNeed need, List<GpuId> gpus) {
        new ReplicaChanges(builder, settings)
                .start(service, gpus, reason(service, need, "starts " + Reason.counted(gpus.size(), "replica")));
        started.merge(service.spec().service(), gpus.size(), Integer::sum);
    }

    /**
     * Stops sleeping replicas of other services. These keep their needs and floors, because {@link #adjust} has already
     * woken the sleeping replicas that they need.
     */
    private int stopSleeping(ServiceState forService, ReplicaNeed need, int count) {
        int stopped = 0;
        Shortage shortage = shortage(forService, need);
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
                                        shortage,
                                        name + " " + Wording.idles(sleeping.size())
                                                + forService.spec().service() + ", which "
                                                + shortage.inWords(" (", ")"),
                                        Map.of("idled", (double) sleeping.size())));
                stopped += sleeping.size();
            }
        }
        return stopped;
    }

    private void reclaim(ServiceState service, ReplicaNeed need, int count) {
        ClusterView view = new TrainingView(builder, settings).view();
        List<GpuId> victims = policy.victims(view, count);
        builder.listener().reclaimed(view, count, victims);
        Shortage shortage = shortage(service, need);
        String cause = ": " + service.spec().service() + " " + shortage.inWords(" (", ")") + "; policy "
                + policy.info().name() + " takes these loans first";
        new JobChanges(builder, settings)
                .takeBack(
                        victims,
                        back -> reason(service, need, shortage, back.inWords() + cause, back.numbers(Map.of())));
    }

    /** The reason for a change of the service's own replicas, such as {@code starts 1 replica}. */
    private Reason reason(ServiceState service, ReplicaNeed need, String what) {
        Shortage shortage = shortage(service, need);
        String text = service.spec().service() + " " + shortage.inWords(": ", "") + "; it " + what;
        return reason(service, need, shortage, text, Map.of());
    }

    private Shortage shortage(ServiceState service, ReplicaNeed need) {
        int serving = 0;
        int starting = started.getOrDefault(service.spec().service(), 0);
        for (GpuState gpu : replicas.getOrDefault(service.spec().service(), List.of())) {
            Owner owner = builder.gpu(gpu.gpuId()).owner();
            serving += owner.isServing() ? 1 : 0;
            starting += owner.isBinding() ? 1 : 0;
        }
        return new Shortage(need, serving, starting);
    }

    /**
     * The replicas that a service lacks.
     *
     * @param serving replicas that answer
     * @param starting replicas that come up
     */
    private record Shortage(ReplicaNeed need, int serving, int starting) {
        int replicas() {
            return Math.max(0, need.replicas() - serving - starting);
        }

        /** Concatenated by hand, because a formatter takes a tenth of the step. */
        String inWords(String open, String close) {
            return "is short of " + Reason.counted(replicas(), "replica") + open + need.explained() + ", " + serving
                    + " running" + (starting == 0 ? "" : ", " + starting + " starting") + close;
        }
    }

    private Reason reason(
            ServiceState service, ReplicaNeed need, Shortage shortage, String text, Map<String, Double> more) {
        ReasonCode code = need.isAhead() ? ReasonCode.FORECAST : ReasonCode.DEMAND;
        List<GpuState> mine = replicas.getOrDefault(service.spec().service(), List.of());
        Map<String, Double> numbers = new TreeMap<>(more);
        numbers.put("short", (double) shortage.replicas());
        numbers.put("running", (double) shortage.serving());
        numbers.put("starting", (double) shortage.starting());
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
        return builder.because(code, text, numbers, inputs);
    }
}
