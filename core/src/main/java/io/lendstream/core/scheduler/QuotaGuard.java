package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.QuotaUse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Keeps decisions within the quotas of queues: none raises the use of a queue above its limit. The part of the limit
 * that the floors of the queue's services still need is kept for them. Tenants without a declared queue have no limit.
 */
final class QuotaGuard {
    private static final int NAMES_SHOWN = 3;
    /** More GPUs than a domain has. */
    private static final int UNLIMITED = 1_000_000_000;

    private final StepBuilder builder;
    private final QueueFloors lacking;

    QuotaGuard(StepBuilder builder) {
        this.builder = builder;
        this.lacking = new QueueFloors(builder);
    }

    /** Whether a queue is declared; without one nothing is limited. */
    boolean isOn() {
        return !builder.entities().queues().isEmpty();
    }

    /** The declared queue of a tenant. */
    Optional<QueueId> queueOf(Tenant tenant) {
        return isOn() ? builder.entities().queueOf(tenant).map(ClusterQueue::queue) : Optional.empty();
    }

    /** The cause why a tenant must not get these units now; empty if it may. */
    Optional<QuotaRefusal> against(Tenant tenant, List<GpuId> gained) {
        return against(tenant, gained, List.of());
    }

    /** The same once it has given back others. */
    Optional<QuotaRefusal> against(Tenant tenant, List<GpuId> gained, List<GpuId> lost) {
        Optional<QueueId> queue = gained.isEmpty() ? Optional.empty() : queueOf(tenant);
        return queue.flatMap(of -> against(builder.ledger(), tenant, of, gained, lost));
    }

    /** The same by another ledger, for a tenant of a queue. */
    Optional<QuotaRefusal> against(
            QueueLedger ledger, Tenant tenant, QueueId queue, List<GpuId> gained, List<GpuId> lost) {
        if (gained.isEmpty()) {
            return Optional.empty();
        }
        int floors = floors(tenant, queue);
        Map<Optional<KindId>, Optional<QuotaUse>> uses = new HashMap<>();
        Map<Optional<KindId>, QuotaUse> left = new HashMap<>();
        Map<Optional<KindId>, Double> asked = new HashMap<>();
        for (GpuId id : gained) {
            GpuState unit = builder.gpu(id);
            Optional<QuotaUse> use = uses.computeIfAbsent(unit.kind(), kind -> ledger.use(queue, kind));
            if (use.isEmpty()) {
                return Optional.of(new QuotaRefusal(queue, List.of(), 0));
            }
            double sum = asked.merge(use.get().kind(), gpus(unit), Double::sum);
            QuotaUse after = left.computeIfAbsent(
                    unit.kind(),
                    kind -> use.get().freeing(freed(ledger, queue, kind, lost)).keeping(floors));
            if (!after.takes(sum)) {
                return Optional.of(new QuotaRefusal(queue, List.of(use.get()), floors));
            }
        }
        return Optional.empty();
    }

    /** What units that are given back count in the quota of a queue for a kind. */
    private double freed(QueueLedger ledger, QueueId queue, Optional<KindId> kind, List<GpuId> lost) {
        double freed = 0;
        for (GpuId gone : lost) {
            freed += ledger.counts(gone, queue, kind) ? gpus(builder.gpu(gone)) : 0;
        }
        return freed;
    }

    private double gpus(GpuState unit) {
        return QueueLedger.gpus(builder.entities(), unit);
    }

    /** The units of each service that its kinds and its queue allow; without services that they allow none. */
    SortedMap<ServiceId, List<GpuId>> allowed(Map<ServiceId, List<GpuId>> units) {
        SortedMap<ServiceId, List<GpuId>> allowed = new TreeMap<>();
        units.forEach((service, theirs) -> {
            for (GpuId unit : theirs) {
                boolean isUsed = builder.services()
                        .require(service)
                        .spec()
                        .uses(builder.gpu(unit).kind());
                if (isUsed && allows(service, builder.gpu(unit))) {
                    promise(service, builder.gpu(unit));
                    allowed.computeIfAbsent(service, any -> new ArrayList<>()).add(unit);
                }
            }
        });
        return allowed;
    }

    /** Whether a service may get a unit now. */
    boolean allows(ServiceId service, GpuState unit) {
        return !isOn()
                || against(new Tenant.Service(service), List.of(unit.gpuId())).isEmpty();
    }

    /** Counts a unit for a service before the decision that binds it. */
    void promise(ServiceId service, GpuState unit) {
        queueOf(new Tenant.Service(service)).ifPresent(queue -> {
            builder.promise(unit, queue);
            lacking.found(service);
        });
    }

    /**
     * Whether a service could get a unit once its present tenant has released it.
     *
     * @param found units that services of its queue get besides
     */
    boolean couldTake(ServiceId service, GpuState unit, List<GpuId> found) {
        Optional<QueueId> queue = queueOf(new Tenant.Service(service));
        return queue.isEmpty()
                || builder.ledger().counts(unit.gpuId(), queue.get(), unit.kind())
                || (againstTaking(service, queue.get(), unit, found).isEmpty()
                        && !isOfOthersShare(service, queue.get(), unit));
    }

    /** The same as the cause why its quota would refuse the unit; empty if it would not. */
    Optional<QuotaRefusal> againstTaking(ServiceId service, GpuState unit, List<GpuId> found) {
        return queueOf(new Tenant.Service(service))
                .filter(queue -> !builder.ledger().counts(unit.gpuId(), queue, unit.kind()))
                .flatMap(queue -> againstTaking(service, queue, unit, found));
    }

    private Optional<QuotaRefusal> againstTaking(ServiceId service, QueueId queue, GpuState unit, List<GpuId> found) {
        List<GpuId> gained = new ArrayList<>();
        for (GpuId id : found) {
            if (!builder.ledger().counts(id, queue, builder.gpu(id).kind())) {
                gained.add(id);
            }
        }
        gained.add(unit.gpuId());
        return against(new Tenant.Service(service), gained);
    }

    /**
     * Whether a loan belongs to the nominal quota of another queue, and the service would borrow it. Floors come before
     * quotas, and these before needs.
     */
    private boolean isOfOthersShare(ServiceId service, QueueId queue, GpuState unit) {
        if (!unit.owner().isHeldByJob() || unit.owner().isReleasing() || isUnderFloor(service)) {
            return false;
        }
        Optional<QuotaUse> own = builder.ledger().use(queue, unit.kind());
        Optional<QuotaUse> theirs = unit.owner()
                .holder()
                .flatMap(this::queueOf)
                .flatMap(other -> builder.ledger().use(other, unit.kind()));
        double gpus = gpus(unit);
        return own.filter(use -> !use.isNominalWith(gpus)).isPresent()
                && theirs.filter(use -> use.isNominalWith(0)).isPresent();
    }

    /** Whether the queue of a service has at most its nominal quota with a unit more. */
    boolean isNominalWith(ServiceId service, GpuState unit) {
        return queueOf(new Tenant.Service(service))
                .flatMap(queue -> builder.ledger().use(queue, unit.kind()))
                .filter(use -> use.isNominalWith(gpus(unit)))
                .isPresent();
    }

    /** Whether a service of a queue has fewer replicas than its floor. */
    boolean isUnderFloor(ServiceId service) {
        return lacking(service) > 0;
    }

    /** Replicas that a service of a queue lacks to its floor. */
    int lacking(ServiceId service) {
        return lacking.of(service);
    }

    /** The use of quotas once all releases are reported and all promises are kept. */
    QueueLedger kept() {
        QueueLedger kept = builder.ledger().withoutLeaving();
        for (Promise promise : builder.promises().all()) {
            Optional<GpuState> unit = builder.gpus().get(promise.unit());
            Optional<QueueId> queue = queueOf(promise.tenant());
            if (unit.isPresent() && queue.isPresent()) {
                kept.add(promise.unit(), queue.get(), unit.get().kind(), gpus(unit.get()), false);
            }
        }
        return kept;
    }

    /** Whole GPUs that a service may get now. */
    int room(ServiceId service) {
        Tenant tenant = new Tenant.Service(service);
        return queueOf(tenant)
                .map(queue -> room(tenant, queue, false, any -> true))
                .orElse(UNLIMITED);
    }

    private int room(Tenant tenant, QueueId queue, boolean afterReleases, Predicate<Optional<KindId>> kinds) {
        int floors = floors(tenant, queue);
        long room = 0;
        for (QuotaUse use : uses(queue)) {
            if (use.kind().isEmpty() || kinds.test(use.kind())) {
                room += (afterReleases ? use.freeing(use.leaving()) : use)
                        .keeping(floors)
                        .room();
            }
        }
        return (int) Math.min(UNLIMITED, room);
    }

    /** The quotas of a queue that whole GPUs of the domain count in; all while no whole GPU is known. */
    private List<QuotaUse> uses(QueueId name) {
        return uses(builder.ledger(), name);
    }

    List<QuotaUse> uses(QueueLedger ledger, QueueId name) {
        PersistentMap<KindId, Integer> kinds =
                builder.clusterIndex().trainingCapacity().kinds();
        if (kinds.isEmpty()) {
            Optional<GpuState> unit = builder.gpus().firstKey().flatMap(builder.gpus()::get);
            boolean areAlike = unit.isPresent() && unit.get().kind().isEmpty();
            return areAlike ? ledger.use(name, Optional.empty()).stream().toList() : ledger.uses(name);
        }
        ClusterQueue queue = builder.entities().queues().require(name).spec();
        Set<Optional<KindId>> counted = new HashSet<>();
        for (Map.Entry<KindId, Integer> kind : kinds) {
            queue.quota(Optional.of(kind.getKey())).ifPresent(quota -> counted.add(quota.kind()));
        }
        List<QuotaUse> uses = new ArrayList<>(ledger.uses(name));
        uses.removeIf(use -> !counted.contains(use.kind()));
        return uses;
    }

    /**
     * The most replicas that GPUs should be freed for: the room of the quotas once all releases are reported, and the
     * loans and sleeping replicas of the queue itself. All services of a queue share them.
     */
    int most(ServiceId service) {
        return queueOf(new Tenant.Service(service))
                .map(queue -> most(service, queue, any -> true))
                .orElse(UNLIMITED);
    }

    private int most(ServiceId service, QueueId queue, Predicate<Optional<KindId>> kinds) {
        int most = room(new Tenant.Service(service), queue, true, kinds);
        for (GpuId loan : builder.clusterIndex().gpus().loans().values()) {
            GpuState unit = builder.gpu(loan);
            most += isOf(queue, unit) && kinds.test(unit.kind()) ? 1 : 0;
        }
        for (GpuState sleeping : builder.clusterIndex().gpus().sleeping().values()) {
            most += isOf(queue, sleeping) && kinds.test(sleeping.kind()) ? 1 : 0;
        }
        return most;
    }

    /** The most replicas of a service that GPUs should be freed for where its queue's other services get so many. */
    private int most(InferenceService service, QueueId queue, int others) {
        int most = most(service.service(), queue, any -> true) - others;
        return service.takesKindsAsAlike() ? most : Math.min(most, most(service.service(), queue, service::uses));
    }

    private boolean isOf(QueueId queue, GpuState unit) {
        return unit.isWhole() && builder.ledger().counts(unit.gpuId(), queue, unit.kind());
    }

    /**
     * Removes from {@code missing} the replicas that no release of other tenants would allow, and decides a hold for
     * each queue that refuses another number of replicas than before.
     *
     * @param missing how many replicas each service lacks
     * @param areAll whether these are all that services lack; a part of them decides no hold
     */
    void withhold(Map<ServiceId, Integer> missing, boolean areAll) {
        SortedMap<QueueId, SortedMap<ServiceId, Integer>> refused = new TreeMap<>();
        Map<QueueId, Integer> given = new HashMap<>();
        for (Map.Entry<ServiceId, Integer> entry : missing.entrySet()) {
            Optional<QueueId> queue = queueOf(new Tenant.Service(entry.getKey()));
            if (queue.isEmpty()) {
                continue;
            }
            int before = given.getOrDefault(queue.get(), 0);
            InferenceService spec = builder.services().require(entry.getKey()).spec();
            int most = Math.min(entry.getValue(), Math.max(0, most(spec, queue.get(), before)));
            given.put(queue.get(), before + most);
            if (most < entry.getValue()) {
                refused.computeIfAbsent(queue.get(), any -> new TreeMap<>())
                        .put(entry.getKey(), entry.getValue() - most);
            }
            entry.setValue(most);
        }
        if (areAll) {
            hold(refused);
        }
    }

    private void hold(SortedMap<QueueId, SortedMap<ServiceId, Integer>> refused) {
        for (QueueState queue : builder.entities().queues().values()) {
            QueueId name = queue.spec().queue();
            SortedMap<ServiceId, Integer> theirs = refused.getOrDefault(name, Collections.emptySortedMap());
            int replicas = theirs.values().stream().mapToInt(count -> count).sum();
            if (replicas != queue.refusedReplicas()) {
                builder.put(queue.refusingReplicas(replicas));
                if (!theirs.isEmpty()) {
                    int floors = floors(new Tenant.Service(theirs.firstKey()), name);
                    hold(new QuotaRefusal(name, uses(name), floors), Set.of(), theirs.keySet(), replicas);
                }
            }
        }
    }

    /** GPUs of a queue that are kept for floors; none for a service that is under its own. */
    int floors(Tenant tenant, QueueId queue) {
        boolean isUnderFloor = tenant.serviceId().filter(this::isUnderFloor).isPresent();
        return isUnderFloor ? 0 : keptForFloors(queue);
    }

    /** Replicas that services of a queue lack to their floors. */
    int keptForFloors(QueueId queue) {
        return lacking.of(queue);
    }

    /** Decides a hold that names a queue and its numbers. */
    void hold(QuotaRefusal refusal, Set<JobId> jobs, Set<ServiceId> services, int asked) {
        Map<String, Double> numbers = new TreeMap<>(refusal.numbers());
        numbers.put("asked", (double) asked);
        TreeSet<String> names = new TreeSet<>();
        jobs.forEach(job -> names.add(job.value()));
        services.forEach(service -> names.add(service.value()));
        String shown = names.stream().limit(NAMES_SHOWN).collect(Collectors.joining(", "));
        String text = "%s for %s%s %s refused: %s"
                .formatted(
                        Reason.counted(asked, "more GPU"),
                        shown,
                        names.size() > NAMES_SHOWN ? " and others" : "",
                        asked == 1 ? "is" : "are",
                        refusal.inWords());
        builder.decide(
                builder.now(),
                builder.because(ReasonCode.QUOTA, text, numbers, List.of()),
                new Action.Hold(
                        jobs.size() == 1 ? jobs.stream().findFirst() : Optional.empty(),
                        services.size() == 1 ? services.stream().findFirst() : Optional.empty(),
                        Optional.of(refusal.queue())));
    }
}
