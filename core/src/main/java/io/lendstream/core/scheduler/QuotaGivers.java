package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.WarmReplica;
import io.lendstream.core.state.WarmReplicas;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The replicas that services of other queues may give to a service which asks for the nominal quota of its queue: whole
 * ones that are warm, and none that its service, or its role, needs for the floor. Those that are protected come first,
 * then small ones, then those that became what they are last. Nothing is decided before {@link #stop}.
 */
final class QuotaGivers implements ReplicaGivers {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final QuotaGuard guard;
    private final AbilityGuard abilities;
    private final ServiceState service;
    private final ClusterQueue queue;
    /** The use of quotas, which follows what is given here. */
    private final QueueLedger kept;

    private final Map<ServiceId, WarmReplicas> warm = new HashMap<>();
    private final Map<ServiceId, QueueId> queues = new HashMap<>();
    private final List<WarmReplica> candidates = new ArrayList<>();
    private final List<WarmReplica> given = new ArrayList<>();

    /**
     * @param service the service that asks, of a queue
     * @param kept the use of quotas once all releases are reported and all promises are kept; it is changed
     */
    QuotaGivers(
            StepBuilder builder,
            SchedulerSettings settings,
            ServiceState service,
            ClusterQueue queue,
            QueueLedger kept) {
        this.builder = builder;
        this.settings = settings;
        this.guard = new QuotaGuard(builder);
        this.abilities = new AbilityGuard(builder);
        this.service = service;
        this.queue = queue;
        this.kept = kept;
        if (kept.uses(queue.queue()).stream().noneMatch(use -> use.isNominalWith(1))) {
            return;
        }
        for (ServiceState other : builder.services().values()) {
            builder.entities()
                    .queueOf(new Tenant.Service(other.spec().service()))
                    .filter(theirs -> isAskedBy(queue, theirs) && hasExcess(theirs.queue()))
                    .ifPresent(theirs -> add(other, theirs.queue()));
        }
        candidates.sort(LEAST_FIRST);
    }

    /** Whether services of a queue may ask services of another one. */
    static boolean isAskedBy(ClusterQueue queue, ClusterQueue other) {
        return queue.inCohort() == Preemption.ANY
                && queue.cohort().isPresent()
                && queue.cohort().equals(other.cohort())
                && !queue.queue().equals(other.queue());
    }

    private boolean hasExcess(QueueId other) {
        return kept.uses(other).stream().anyMatch(use -> use.excess() > 0);
    }

    private void add(ServiceState other, QueueId theirs) {
        ServiceId name = other.spec().service();
        WarmReplicas replicas = WarmReplicas.of(builder.clusterIndex(), other.spec());
        warm.put(name, replicas);
        queues.put(name, theirs);
        for (WarmReplica replica : replicas.all()) {
            boolean mayMove = isOfOneQuota(theirs, replica.first().kind()) && mayGain(List.of(replica.first()));
            if (mayMove && !replica.isSleeping() && ReplicaGivers.isUsable(builder, abilities, replica)) {
                candidates.add(replica);
            }
        }
    }

    /** Whether a kind counts in quotas of both queues that lend to each other. */
    private boolean isOfOneQuota(QueueId theirs, Optional<KindId> kind) {
        Optional<QuotaUse> gains = use(kind);
        Optional<QuotaUse> loses = kept.use(theirs, kind);
        return gains.isPresent()
                && loses.isPresent()
                && gains.get().kind().equals(loses.get().kind());
    }

    @Override
    public List<WarmReplica> candidates() {
        return candidates;
    }

    @Override
    public List<WarmReplica> given() {
        return given;
    }

    /**
     * Gives a replica, if its service may lose it and its queue has more than its nominal quota. By a replica of
     * several units the queue may come below that, as by a job that cannot shrink.
     */
    @Override
    public boolean give(WarmReplica replica) {
        double least = replica.group().isPresent() ? 0 : 1;
        boolean isBeyond = kept.use(queueOf(replica), replica.first().kind())
                .filter(use -> use.excess() > 0 && use.excess() >= least)
                .isPresent();
        if (given.contains(replica) || !isBeyond || !warmOf(replica).mayStop(replica)) {
            return false;
        }
        warmOf(replica).stop(replica);
        replica.units().forEach(unit -> kept.remove(unit.gpuId()));
        given.add(replica);
        return true;
    }

    @Override
    public void takeBack(WarmReplica replica) {
        given.remove(replica);
        warmOf(replica).keep(replica);
        replica.units().forEach(unit -> kept.add(unit.gpuId(), queueOf(replica), unit.kind(), 1, false));
    }

    /** Those of several units, and all others of services with shapes; {@link ReplicaAsks} asks for the rest. */
    @Override
    public boolean isForSingles(WarmReplica replica) {
        return replica.group().isPresent()
                || builder.services().require(replica.service()).spec().hasGroups();
    }

    private WarmReplicas warmOf(WarmReplica replica) {
        return Objects.requireNonNull(warm.get(replica.service()), "the service of a candidate is known");
    }

    private QueueId queueOf(WarmReplica replica) {
        return Objects.requireNonNull(queues.get(replica.service()), "the queue of a candidate is known");
    }

    /** Whether the queue of the service that asks has at most its nominal quota with units more, and keeps floors. */
    @Override
    public boolean mayGain(List<GpuState> units) {
        Tenant tenant = new Tenant.Service(service.spec().service());
        int floors = guard.floors(tenant, queue.queue());
        int gained = 0;
        for (GpuState unit : units) {
            gained += kept.keeps(unit.gpuId(), queue.queue()) ? 0 : 1;
        }
        double all = gained + (double) floors;
        return units.stream()
                .allMatch(unit ->
                        use(unit.kind()).filter(use -> use.isNominalWith(all)).isPresent());
    }

    @Override
    public void gain(List<GpuState> units) {
        units.forEach(unit -> kept.add(unit.gpuId(), queue.queue(), unit.kind(), 1, false));
    }

    private Optional<QuotaUse> use(Optional<KindId> kind) {
        return kept.use(queue.queue(), kind);
    }

    @Override
    public void stop(String lacks) {
        ReplicaGivers.byService(given).forEach(theirs -> stop(lacks, theirs));
    }

    private void stop(String lacks, List<WarmReplica> theirs) {
        ServiceId name = theirs.get(0).service();
        Optional<KindId> kind = theirs.get(0).first().kind();
        List<GpuId> units = new ArrayList<>();
        theirs.forEach(replica -> replica.units().forEach(unit -> units.add(unit.gpuId())));
        QueueLedger before = guard.kept();
        QueueId of = queueOf(theirs.get(0));
        QuotaUse gains = before.use(queue.queue(), kind).orElseThrow();
        QuotaUse loses = before.use(of, kind).orElseThrow();
        String text = "%s stops %s on %s: %s of queue %s is short of %s, its queue uses %s, and queue %s uses %s"
                .formatted(
                        name,
                        Reason.counted(theirs.size(), "replica"),
                        Reason.counted(units.size(), "GPU"),
                        service.spec().service(),
                        queue.queue(),
                        lacks,
                        gains.inWords(),
                        of,
                        loses.inWords());
        Map<String, Double> numbers = Map.of(
                "stopped",
                (double) units.size(),
                "replicas",
                (double) theirs.size(),
                "nominal",
                loses.nominal(),
                "used",
                loses.used());
        new ReplicaChanges(builder, settings)
                .stop(
                        name,
                        units,
                        builder.because(
                                ReasonCode.QUOTA,
                                text,
                                numbers,
                                List.of(service.demand().event())));
    }
}
