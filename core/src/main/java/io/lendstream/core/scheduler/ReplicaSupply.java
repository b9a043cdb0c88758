package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

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
    private final LoanReclaim loans;
    private final WaitingFirst waitingFirst;
    /** The claims before replicas are started, once they were asked for. */
    private Optional<WaitingClaims> claims = Optional.empty();

    /** @param present the needs of services whatever is expected */
    ReplicaSupply(
            StepBuilder builder,
            Policy policy,
            SchedulerSettings settings,
            Map<ServiceId, List<GpuState>> replicas,
            Map<ServiceId, KindNeed> byKind,
            PresentNeeds present) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.replicas = replicas;
        this.byKind = byKind;
        this.quotas = new QuotaGuard(builder);
        this.abilities = new AbilityGuard(builder);
        this.reasons = new ReplicaReasons(builder, policy, replicas, byKind);
        this.loans = new LoanReclaim(builder, policy, settings, byKind, reasons, this::isLimited, this::suits);
        this.waitingFirst = new WaitingFirst(builder, policy, settings, present, this::suits);
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
     * @param areAll whether these are all the replicas that services lack; only then it says what is refused, and stops
     *     replicas for requests that wait
     */
    int supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs, boolean someSleep, boolean areAll) {
        claims = Optional.empty();
        FreeUnits free = new FreeUnits(pool.free(), this::mayTake, name -> StartLead.nodes(builder, name));
        Map<ServiceId, List<GpuId>> given = new LinkedHashMap<>();
        missing.forEach((name, count) -> give(given, name, Math.min(count, underFloor(needs, name)), free));
        if (isWaitingFirst() && missing.size() > 1 && pool.free().hasNext()) {
            giveToWaiting(missing, given, free);
        }
        for (Map.Entry<ServiceId, Integer> entry : missing.entrySet()) {
            boolean isByKind = byKind.containsKey(entry.getKey());
            give(given, entry.getKey(), isByKind ? Integer.MAX_VALUE : entry.getValue(), free);
            List<GpuId> taken = given.getOrDefault(entry.getKey(), List.of());
            ServiceState service = builder.services().require(entry.getKey());
            if (!taken.isEmpty()) {
                start(service, needOf(entry.getKey(), needs), taken, taken.size() < entry.getValue());
            }
            entry.setValue(left(entry.getKey(), entry.getValue() - taken.size()));
        }
        if (quotas.isOn()) {
            quotas.withhold(missing, areAll);
        }
        int waiting = MissingReplicas.sum(missing.values());
        Map<ServiceId, Integer> lacking = Map.copyOf(missing);
        int claimed = freeForSelective(missing, needs, someSleep);
        long others = MissingReplicas.sum(missing.values()) - (pool.coming().size() - (long) claimed);
        if (others > 0) {
            ServiceState service = latest(missing);
            int count = (int) Math.min(Integer.MAX_VALUE, others);
            free(service, needOf(service.spec().service(), needs), MissingReplicas.of(count), someSleep, false);
        }
        if (areAll && isWaitingFirst()) {
            takeForWaiting(lacking, needs);
        }
        return waiting;
    }

    private boolean isWaitingFirst() {
        return WaitingFirst.isOn(settings, policy);
    }

    /** The replicas of a service that this step has started. */
    int started(ServiceId service) {
        return reasons.startedOf(service);
    }

    /** Gives free GPUs to services whose requests wait, before those that lack replicas for expected ones. */
    private void giveToWaiting(Map<ServiceId, Integer> missing, Map<ServiceId, List<GpuId>> given, FreeUnits free) {
        WaitingClaims claims = waitingFirst.claims();
        missing.forEach((name, count) -> {
            int found = given.getOrDefault(name, List.of()).size();
            claims.ask(name, found, count - found);
        });
        for (Optional<PresentNeed> next = claims.next(); next.isPresent(); next = claims.next()) {
            ServiceId name = next.get().name();
            int before = given.getOrDefault(name, List.of()).size();
            give(given, name, before + 1, free);
            if (given.getOrDefault(name, List.of()).size() > before) {
                claims.got(next.get());
            } else {
                claims.giveUp(next.get());
            }
        }
    }

    /** Stops replicas of others for requests that wait, of services that lack so many. */
    private void takeForWaiting(Map<ServiceId, Integer> lacking, Map<ServiceId, ReplicaNeed> needs) {
        waitingFirst.take(lacking, needs.keySet(), (service, words) -> {
            ReplicaNeed need = needNow(service.spec().service(), needs);
            ReplicaReasons.Shortage shortage = reasons.shortage(service, need);
            String text = words.text() + "; " + service.spec().service() + " " + shortage.inWords(" (", ")");
            return reasons.waiting(service, need, shortage, text, words.numbers());
        });
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
            loans.reclaim(service, need, lack, selective);
        }
    }

    /**
     * Whether a service cannot use every GPU: its queue has quotas, it declares the kinds that it uses, a node cannot
     * run its program, or a replica needs more memory than some of several kinds of GPUs have.
     */
    private boolean isSelective(ServiceState service) {
        if (isLimited(service)
                || byKind.containsKey(service.spec().service())
                || service.starts().waitAnywhere()) {
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

    /** @param lacksMore whether the service lacks more replicas than these */
    private void start(ServiceState service, ReplicaNeed need, List<GpuId> gpus, boolean lacksMore) {
        String what = "starts " + Reason.counted(gpus.size(), "replica") + reasons.kindsOf(service, gpus);
        if (lacksMore && isWaitingFirst()) {
            claims = claims.or(() -> Optional.of(waitingFirst.claims()));
        }
        Reason reason = claims.filter(all -> lacksMore && all.exceed())
                .map(all -> reasons.of(service, need, what + ": " + all.inWords(), all.numbers()))
                .orElseGet(() -> reasons.of(service, need, what));
        new ReplicaChanges(builder, settings).start(service, gpus, reason);
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

    /** The need of a service; if it counts by kinds, with the replicas that this step has started. */
    private ReplicaNeed needNow(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        KindNeed kinds = byKind.get(service);
        return kinds == null ? needOf(service, needs) : kinds.inCounted();
    }

    private static ReplicaNeed needOf(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        return Objects.requireNonNull(needs.get(service), "no need is known for the service");
    }
}
