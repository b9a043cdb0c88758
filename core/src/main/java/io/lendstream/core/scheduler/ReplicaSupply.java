package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Finds GPUs for the replicas that services lack: free GPUs first, then the GPUs of sleeping replicas of other
 * services, then lent GPUs whose loss costs training least.
 */
final class ReplicaSupply {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    /** The replicas of each service before this step. */
    private final Map<ServiceId, List<GpuState>> replicas;
    /** The needs of services that count by kinds; they count each unit that is found for them. */
    private final Map<ServiceId, KindNeed> byKind;
    /** The quotas of queues, with the replicas that this step is about to start. */
    private final QuotaGuard quotas;

    /** The replicas that services by kind lack beside those that this step starts. */
    private final Map<ServiceId, MissingReplicas> lacks = new TreeMap<>();

    private final ReplicaReasons reasons;

    private final AbilityGuard abilities;
    private final Function<ServiceState, ReplicaNeed> usual;

    /** @param usual the need of a service whose replicas are alike */
    ReplicaSupply(
            StepBuilder builder,
            Policy policy,
            SchedulerSettings settings,
            Map<ServiceId, List<GpuState>> replicas,
            Map<ServiceId, KindNeed> byKind,
            Function<ServiceState, ReplicaNeed> usual) {
        this.usual = usual;
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.replicas = replicas;
        this.byKind = byKind;
        this.quotas = new QuotaGuard(builder);
        this.abilities = new AbilityGuard(builder);
        this.reasons = new ReplicaReasons(builder, policy, replicas, byKind);
    }

    /** The reasons of changes, which count the replicas that are started here. */
    ReplicaReasons reasons() {
        return reasons;
    }

    /**
     * Starts missing replicas on free GPUs, and frees GPUs for the others. Returns how many wait for a GPU.
     *
     * @param missing how many replicas each service lacks; it is changed
     * @param someSleep whether some replica sleeps
     */
    int supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs, boolean someSleep) {
        FreeUnits free = new FreeUnits(pool.free(), this::mayTake, name -> StartLead.nodes(builder, name));
        Map<ServiceId, List<GpuId>> given = new LinkedHashMap<>();
        missing.forEach((name, count) -> give(given, name, Math.min(count, underFloor(needs, name)), free));
        if (isWaitingFirst()) {
            missing.forEach((name, count) -> give(given, name, Math.min(count, waiting(needs, name)), free));
        }
        for (Map.Entry<ServiceId, Integer> entry : missing.entrySet()) {
            boolean isByKind = byKind.containsKey(entry.getKey());
            give(given, entry.getKey(), isByKind ? Integer.MAX_VALUE : entry.getValue(), free);
            List<GpuId> taken = given.getOrDefault(entry.getKey(), List.of());
            ServiceState service = builder.services().require(entry.getKey());
            if (!taken.isEmpty()) {
                start(service, needOf(entry.getKey(), needs), taken);
            }
            entry.setValue(left(entry.getKey(), entry.getValue() - taken.size()));
        }
        if (quotas.isOn()) {
            quotas.withhold(missing);
        }
        int waiting = MissingReplicas.sum(missing.values());
        List<ServiceId> lacking = List.copyOf(missing.keySet());
        int claimed = freeForSelective(missing, needs, someSleep);
        long others = MissingReplicas.sum(missing.values()) - (pool.coming().size() - (long) claimed);
        if (others > 0) {
            ServiceState service = latest(missing);
            int count = (int) Math.min(Integer.MAX_VALUE, others);
            free(service, needOf(service.spec().service(), needs), MissingReplicas.of(count), someSleep, false);
        }
        if (isWaitingFirst()) {
            takeExpected(lacking, needs);
        }
        return waiting;
    }

    /** Whether requests that wait come before those that the policy expects. */
    private boolean isWaitingFirst() {
        return settings.changeLimits().slo().waitingFirst() && policy.info().looksAhead();
    }

    /** Replicas that a service lacks for the requests that there are. */
    private int waiting(Map<ServiceId, ReplicaNeed> needs, ServiceId name) {
        ReplicaReasons.Shortage now = reasons.shortage(builder.services().require(name), needNow(name, needs));
        return Math.max(0, WaitingFirst.present(now.need()) - now.serving() - now.starting());
    }

    /** Stops replicas that only expected requests need, for those that wait. */
    private void takeExpected(List<ServiceId> lacking, Map<ServiceId, ReplicaNeed> needs) {
        Map<ServiceId, Integer> waiting = new LinkedHashMap<>();
        lacking.forEach(name -> waiting.put(name, waiting(needs, name)));
        int left = MissingReplicas.sum(waiting.values()) - pool.coming().size();
        WaitingFirst others = new WaitingFirst(builder, settings, usual, this::suits);
        for (Map.Entry<ServiceId, Integer> entry : waiting.entrySet()) {
            int most = Math.min(entry.getValue(), left);
            if (most > 0) {
                ServiceState service = builder.services().require(entry.getKey());
                left -= others.take(service, reasons, needNow(entry.getKey(), needs), most);
            }
        }
    }

    /** The replicas that a service still lacks: by its capacities if it declares them for kinds. */
    private int left(ServiceId name, int byNumber) {
        KindNeed kinds = byKind.get(name);
        return kinds == null ? byNumber : kinds.missing();
    }

    private MissingReplicas lack(ServiceId name, int count) {
        KindNeed kinds = byKind.get(name);
        if (kinds == null || count <= 0) {
            return MissingReplicas.of(count);
        }
        MissingReplicas lack = MissingReplicas.of(kinds, quotas.most(name));
        lacks.put(name, lack);
        return lack;
    }

    /**
     * Frees GPUs for the services that can use only some of them, and removes these services from {@code missing}.
     * Returns how many of the GPUs that are about to be free they will get.
     */
    private int freeForSelective(
            Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs, boolean someSleep) {
        Map<ServiceId, Integer> selective = new TreeMap<>(missing);
        selective.keySet().removeIf(name -> !isSelective(builder.services().require(name)));
        Set<GpuId> claimed = new HashSet<>();
        selective.forEach((name, count) -> {
            ServiceState service = builder.services().require(name);
            MissingReplicas lack = lack(name, count);
            ReplicaNeed need = needNow(name, needs);
            claim(service, lack, claimed);
            int left = lack.left();
            free(service, need, lack, someSleep, true);
            if (byKind.containsKey(name)) {
                lack.found().stream()
                        .filter(unit -> builder.gpu(unit).owner().isReleasing())
                        .forEach(claimed::add);
            } else {
                claim(service, MissingReplicas.of(left), claimed);
            }
            missing.remove(name);
        });
        return claimed.size();
    }

    /** Claims GPUs that are about to be free for a service. */
    private void claim(ServiceState service, MissingReplicas lack, Set<GpuId> claimed) {
        for (GpuState unit : pool.coming()) {
            if (lack.isAny() && !claimed.contains(unit.gpuId()) && suits(service, unit)) {
                claimed.add(unit.gpuId());
                lack.found(unit);
            }
        }
    }

    /**
     * Frees GPUs that a service can use.
     *
     * @param selective whether it can use only some of them
     */
    private void free(
            ServiceState service, ReplicaNeed need, MissingReplicas lack, boolean someSleep, boolean selective) {
        if (lack.isAny() && someSleep) {
            stopSleeping(service, need, lack);
        }
        if (lack.isAny()) {
            reclaim(service, need, lack, selective);
        }
    }

    /**
     * Whether a service cannot use every GPU: its queue has quotas, it declares the kinds that it uses, or a replica
     * needs more memory than some of several kinds of GPUs have.
     */
    private boolean isSelective(ServiceState service) {
        if (isLimited(service) || byKind.containsKey(service.spec().service())) {
            return true;
        }
        Optional<Long> memory = service.spec().sliceMemoryBytes();
        if (memory.isEmpty() || areAlike()) {
            return false;
        }
        for (Map.Entry<KindId, Integer> kind :
                builder.clusterIndex().trainingCapacity().kinds()) {
            if (!kind.getKey().hasMemory(memory.get())) {
                return true;
            }
        }
        return false;
    }

    private boolean isLimited(ServiceState service) {
        return quotas.queueOf(new Tenant.Service(service.spec().service())).isPresent();
    }

    /** Whether a service could use a GPU once its present tenant has released it. */
    private boolean suits(ServiceState service, GpuState unit) {
        return fits(service, unit)
                && abilities.isUsable(unit)
                && !isPromisedToOther(service, unit)
                && quotas.couldTake(service.spec().service(), unit, foundInQueue(service));
    }

    /** The units that are found for services by kind in the queue of a service. */
    private List<GpuId> foundInQueue(ServiceState service) {
        Optional<QueueId> queue = service.spec().queue();
        if (queue.isEmpty() || !byKind.containsKey(service.spec().service())) {
            return List.of();
        }
        List<GpuId> found = new ArrayList<>();
        lacks.forEach((name, lack) -> {
            if (builder.services().require(name).spec().queue().equals(queue)) {
                found.addAll(lack.found());
            }
        });
        return found;
    }

    private boolean isPromisedToOther(ServiceState service, GpuState unit) {
        return pool.isPromisedToOther(service.spec().service(), unit, quotas);
    }

    private boolean areAlike() {
        return builder.clusterIndex().trainingCapacity().kinds().size() < 2;
    }

    /** Whether a GPU is of a kind that a service uses, and has the memory that a replica needs. */
    private boolean fits(ServiceState service, GpuState unit) {
        return pool.fits(service, unit);
    }

    private boolean mayTake(ServiceState service, GpuState unit) {
        return fits(service, unit)
                && !isPromisedToOther(service, unit)
                && quotas.allows(service.spec().service(), unit);
    }

    /** Replicas that a service lacks to its floor; floors come before needs above the floor. */
    private int underFloor(Map<ServiceId, ReplicaNeed> needs, ServiceId name) {
        List<GpuState> mine = replicas.getOrDefault(name, List.of());
        KindNeed kinds = byKind.get(name);
        int has = kinds == null ? mine.size() : kinds.used(mine);
        ReplicaNeed need = needs.get(name);
        return need == null ? 0 : Math.max(0, need.floor() - has);
    }

    /** Gives a service free GPUs until it has {@code count} of them. */
    private void give(Map<ServiceId, List<GpuId>> given, ServiceId name, int count, FreeUnits free) {
        ServiceState service = builder.services().require(name);
        List<GpuId> taken = given.computeIfAbsent(name, any -> new ArrayList<>());
        KindNeed kinds = byKind.get(name);
        int most = Math.min(count, taken.size() + quotas.room(name));
        for (int size = taken.size(); size < most && (kinds == null || kinds.missing() > 0); size++) {
            Optional<GpuState> unit = free.take(service);
            if (unit.isEmpty()) {
                break;
            }
            taken.add(unit.get().gpuId());
            quotas.promise(name, unit.get());
            if (kinds != null) {
                kinds.count(unit.get());
            }
        }
    }

    /** The service named in the reclaim: of those short of replicas, the one with the newest rate or forecast. */
    private ServiceState latest(Map<ServiceId, Integer> missing) {
        return missing.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(entry -> builder.services().require(entry.getKey()))
                .max(Comparator.comparingLong(ReplicaSupply::latestUpdate))
                .orElseThrow();
    }

    private static long latestUpdate(ServiceState service) {
        return Math.max(service.demand().event(), service.forecastEvent());
    }

    private void start(ServiceState service, ReplicaNeed need, List<GpuId> gpus) {
        String what = "starts " + Reason.counted(gpus.size(), "replica") + reasons.kindsOf(service, gpus);
        new ReplicaChanges(builder, settings).start(service, gpus, reasons.of(service, need, what));
        reasons.started(service, gpus.size());
    }

    /**
     * Stops sleeping replicas of other services. These keep their needs and floors, because {@link Inference} has
     * already woken the sleeping replicas that they need. Of its own it stops those of several units only.
     */
    private void stopSleeping(ServiceState forService, ReplicaNeed need, MissingReplicas lack) {
        ReplicaReasons.Shortage shortage = reasons.shortage(forService, need);
        for (ServiceState other : builder.services().values()) {
            ServiceId name = other.spec().service();
            boolean isOwn = name.equals(forService.spec().service());
            List<GpuId> sleeping = new ArrayList<>();
            for (GpuState replica : replicas.getOrDefault(name, List.of())) {
                GpuState gpu = builder.gpu(replica.gpuId());
                boolean isStopped =
                        gpu.owner().isSleeping() && !(isOwn && gpu.part().isEmpty());
                if (lack.isAny() && isStopped && suits(forService, gpu)) {
                    sleeping.add(gpu.gpuId());
                    lack.found(gpu);
                }
            }
            if (!sleeping.isEmpty()) {
                new ReplicaChanges(builder, settings)
                        .stop(
                                name,
                                sleeping,
                                reasons.of(
                                        forService,
                                        need,
                                        shortage,
                                        name + " " + Wording.idles(sleeping.size())
                                                + forService.spec().service() + ", which "
                                                + shortage.inWords(" (", ")"),
                                        Map.of("idled", (double) sleeping.size())));
            }
        }
    }

    private void reclaim(ServiceState service, ReplicaNeed need, MissingReplicas lack, boolean selective) {
        ClusterView whole = new TrainingView(builder, settings).view();
        ClusterView view = selective || abilities.isOn() ? whole.ofGpus(unit -> suits(service, unit)) : whole;
        int count = lack.left();
        List<GpuId> victims = policy.victims(view, count);
        int weighed = count;
        if (byKind.containsKey(service.spec().service())) {
            List<GpuState> enough = enough(service, victims, lack);
            weighed = enough.size();
            victims = helpful(enough, lack);
            count = victims.size();
        }
        victims = new BundleReclaim(builder).enough(victims, count, unit -> suits(service, unit));
        builder.listener().reclaimed(view, weighed, victims);
        ReplicaReasons.Shortage shortage = reasons.shortage(service, need);
        String cause = ": " + service.spec().service() + " " + shortage.inWords(" (", ")") + "; policy "
                + policy.info().name() + " takes these loans first"
                + (selective ? among(service) : "");
        new JobChanges(builder, settings)
                .takeBack(
                        victims,
                        back -> reasons.of(service, need, shortage, back.inWords() + cause, back.numbers(Map.of())));
    }

    /** The first of these loans that make up for missing replicas. */
    private List<GpuState> enough(ServiceState service, List<GpuId> loans, MissingReplicas lack) {
        List<GpuState> enough = new ArrayList<>();
        for (GpuId loan : loans) {
            GpuState unit = builder.gpu(loan);
            if (lack.isAny() && suits(service, unit)) {
                enough.add(unit);
                lack.found(unit);
            }
        }
        return enough;
    }

    /** The loans among these that help: not a slow GPU where a faster one behind it is enough. */
    private static List<GpuId> helpful(List<GpuState> loans, MissingReplicas lack) {
        Deque<GpuId> helpful = new ArrayDeque<>();
        for (int i = loans.size() - 1; i >= 0; i--) {
            if (!lack.leaveOut(loans.get(i))) {
                helpful.addFirst(loans.get(i).gpuId());
            }
        }
        return List.copyOf(helpful);
    }

    /** The loans that a reclaim chooses from, where it is not all of them. */
    private String among(ServiceState service) {
        if (isLimited(service)) {
            return " of those that the quota of its queue allows";
        }
        return byKind.containsKey(service.spec().service())
                ? " of those of the kinds that it declares"
                : " of those with the memory that a replica needs";
    }

    /** The need of a service; if it counts by kinds, with the replicas that this step has started. */
    private ReplicaNeed needNow(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        KindNeed kinds = byKind.get(service);
        return kinds == null ? needOf(service, needs) : kinds.inCounted();
    }

    private static ReplicaNeed needOf(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        return Objects.requireNonNull(needs.get(service), "no need is known for the service");
    }
}
