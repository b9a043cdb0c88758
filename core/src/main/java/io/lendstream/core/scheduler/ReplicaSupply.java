package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds GPUs for the replicas that services lack: free GPUs first, then the GPUs of sleeping replicas of other
 * services, then lent GPUs whose loss costs training least. It also gives the reasons of all changes of replicas.
 */
final class ReplicaSupply {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    /** The replicas of each service before this step. */
    private final Map<ServiceId, List<GpuState>> replicas;
    /** The quotas of queues, with the replicas that this step is about to start. */
    private final QuotaGuard quotas;
    /** Replicas that this step has started, by service. */
    private final Map<ServiceId, Integer> started = new LinkedHashMap<>();

    ReplicaSupply(
            StepBuilder builder, Policy policy, SchedulerSettings settings, Map<ServiceId, List<GpuState>> replicas) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.replicas = replicas;
        this.quotas = new QuotaGuard(builder);
    }

    /**
     * Starts missing replicas on free GPUs, and frees GPUs for the others.
     *
     * @param missing how many replicas each service lacks; it is changed
     * @param someSleep whether some replica sleeps
     */
    void supply(Map<ServiceId, Integer> missing, Map<ServiceId, ReplicaNeed> needs, boolean someSleep) {
        FreeUnits free = new FreeUnits(pool.free());
        Map<ServiceId, List<GpuId>> given = new LinkedHashMap<>();
        missing.forEach((name, count) -> give(given, name, Math.min(count, underFloor(needs, name)), free));
        for (Map.Entry<ServiceId, Integer> entry : missing.entrySet()) {
            give(given, entry.getKey(), entry.getValue(), free);
            List<GpuId> taken = given.getOrDefault(entry.getKey(), List.of());
            ServiceState service = builder.services().require(entry.getKey());
            if (!taken.isEmpty()) {
                start(service, needOf(entry.getKey(), needs), taken);
            }
            entry.setValue(entry.getValue() - taken.size());
        }
        if (quotas.isOn()) {
            quotas.withhold(missing);
        }
        int claimed = freeForSelective(missing, needs, someSleep);
        long others = missing.values().stream().mapToLong(count -> count).sum()
                - (pool.coming().size() - claimed);
        if (others > 0) {
            ServiceState service = latest(missing);
            int count = (int) Math.min(Integer.MAX_VALUE, others);
            free(service, needOf(service.spec().service(), needs), count, someSleep, false);
        }
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
            int left = count - claim(service, count, claimed);
            free(service, needOf(name, needs), left, someSleep, true);
            claim(service, left, claimed);
            missing.remove(name);
        });
        return claimed.size();
    }

    /** Claims GPUs that are about to be free for a service; returns how many. */
    private int claim(ServiceState service, int count, Set<GpuId> claimed) {
        List<GpuId> fitting = pool.coming().stream()
                .filter(unit -> !claimed.contains(unit.gpuId()) && suits(service, unit))
                .limit(count)
                .map(GpuState::gpuId)
                .toList();
        claimed.addAll(fitting);
        return fitting.size();
    }

    /**
     * Frees GPUs that a service can use.
     *
     * @param selective whether it can use only some of them
     */
    private void free(ServiceState service, ReplicaNeed need, int count, boolean someSleep, boolean selective) {
        if (count <= 0) {
            return;
        }
        int left = count - (someSleep ? stopSleeping(service, need, count) : 0);
        if (left > 0) {
            reclaim(service, need, left, selective);
        }
    }

    /**
     * Whether a service cannot use every GPU: its queue has quotas, or a replica needs more memory than some of several
     * kinds of GPUs have.
     */
    private boolean isSelective(ServiceState service) {
        if (isLimited(service)) {
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
        return fits(service, unit) && quotas.couldTake(service.spec().service(), unit);
    }

    private boolean areAlike() {
        return builder.clusterIndex().trainingCapacity().kinds().size() < 2;
    }

    /**
     * Whether a GPU has the memory that a replica needs. True if one of the two is not known, or if all GPUs of the
     * domain are alike: then there is no choice.
     */
    private boolean fits(ServiceState service, GpuState unit) {
        return service.spec()
                .sliceMemoryBytes()
                .filter(bytes -> !areAlike()
                        && unit.kind().filter(kind -> !kind.hasMemory(bytes)).isPresent())
                .isEmpty();
    }

    /** Free GPUs, each of which goes to one service at most. */
    private final class FreeUnits {
        private final Iterator<GpuState> next;
        /** Units that a service could not use. */
        private final List<GpuState> passed = new ArrayList<>();

        FreeUnits(Iterator<GpuState> next) {
            this.next = next;
        }

        Optional<GpuState> take(ServiceState service) {
            for (int i = 0; i < passed.size(); i++) {
                if (isFor(service, passed.get(i))) {
                    return Optional.of(passed.remove(i));
                }
            }
            while (next.hasNext()) {
                GpuState unit = next.next();
                if (isFor(service, unit)) {
                    return Optional.of(unit);
                }
                passed.add(unit);
            }
            return Optional.empty();
        }

        private boolean isFor(ServiceState service, GpuState unit) {
            return fits(service, unit) && quotas.allows(service.spec().service(), unit);
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
    private void give(Map<ServiceId, List<GpuId>> given, ServiceId name, int count, FreeUnits free) {
        ServiceState service = builder.services().require(name);
        List<GpuId> taken = given.computeIfAbsent(name, any -> new ArrayList<>());
        int most = Math.min(count, taken.size() + quotas.room(name));
        for (int size = taken.size(); size < most; size++) {
            Optional<GpuState> unit = free.take(service);
            if (unit.isEmpty()) {
                break;
            }
            taken.add(unit.get().gpuId());
            quotas.promise(name, unit.get());
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
        new ReplicaChanges(builder, settings)
                .start(service, gpus, reason(service, need, "starts " + Reason.counted(gpus.size(), "replica")));
        started.merge(service.spec().service(), gpus.size(), Integer::sum);
    }

    /**
     * Stops sleeping replicas of other services. These keep their needs and floors, because {@link Inference} has
     * already woken the sleeping replicas that they need.
     */
    private int stopSleeping(ServiceState forService, ReplicaNeed need, int count) {
        int stopped = 0;
        Shortage shortage = shortage(forService, need);
        for (ServiceState other : builder.services().values()) {
            ServiceId name = other.spec().service();
            List<GpuState> mine = replicas.getOrDefault(name, List.of());
            List<GpuId> sleeping = mine.stream()
                    .map(gpu -> builder.gpu(gpu.gpuId()))
                    .filter(gpu -> gpu.owner().isSleeping() && suits(forService, gpu))
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

    private void reclaim(ServiceState service, ReplicaNeed need, int count, boolean selective) {
        ClusterView whole = new TrainingView(builder, settings).view();
        ClusterView view = selective ? whole.ofGpus(unit -> suits(service, unit)) : whole;
        List<GpuId> victims = policy.victims(view, count);
        builder.listener().reclaimed(view, count, victims);
        Shortage shortage = shortage(service, need);
        String cause = ": " + service.spec().service() + " " + shortage.inWords(" (", ")") + "; policy "
                + policy.info().name() + " takes these loans first"
                + (selective ? among(service) : "");
        new JobChanges(builder, settings)
                .takeBack(
                        victims,
                        back -> reason(service, need, shortage, back.inWords() + cause, back.numbers(Map.of())));
    }

    /** The loans that a reclaim chooses from, where it is not all of them. */
    private String among(ServiceState service) {
        return isLimited(service)
                ? " of those that the quota of its queue allows"
                : " of those with the memory that a replica needs";
    }

    private static ReplicaNeed needOf(ServiceId service, Map<ServiceId, ReplicaNeed> needs) {
        return Objects.requireNonNull(needs.get(service), "no need is known for the service");
    }

    /** The reason for a change of the service's own replicas, such as {@code starts 1 replica}. */
    Reason reason(ServiceState service, ReplicaNeed need, String what) {
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
