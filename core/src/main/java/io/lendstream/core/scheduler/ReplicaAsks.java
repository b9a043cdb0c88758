package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Gives services that lack replicas the nominal quota of their queue, from services of queues that have more than
 * theirs. A service gives replicas above its floor only: protected ones first, then serving ones, and none that warms
 * up. Those of one unit come before those of several, which are given whole. Free GPUs, sleeping replicas and loans are
 * used before, see {@link ReplicaSupply}. Services with shapes ask after the others, see {@link GroupAsks}.
 */
final class ReplicaAsks {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final Inference inference;
    private final QuotaGuard guard;
    private final InferencePool pool;
    private final AbilityGuard abilities;
    private final GroupAsks groups;
    /** The use of quotas, which follows the replicas that are taken here; empty until a service asks. */
    private Optional<QueueLedger> ledger = Optional.empty();

    ReplicaAsks(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.inference = new Inference(builder, policy, settings);
        this.guard = new QuotaGuard(builder);
        this.pool = new InferencePool(builder);
        this.abilities = new AbilityGuard(builder);
        this.groups = new GroupAsks(builder, policy, settings);
    }

    /** Whether the service of the event lacks replicas. */
    boolean isShort() {
        return builder.heard()
                .filter(service -> missing(service) > 0 || groups.isShort(service))
                .isPresent();
    }

    void run() {
        List<GpuState> coming = new ArrayList<>(pool.coming());
        coming.removeIf(unit -> builder.promises().has(unit.gpuId()));
        int kept = 0;
        for (ServiceState service : builder.services().values()) {
            int missing = missing(service);
            int covered = covered(service, missing, coming);
            kept += covered;
            Optional<ClusterQueue> queue =
                    builder.entities().queueOf(new Tenant.Service(service.spec().service()));
            if (missing > covered && queue.isPresent()) {
                int left = ask(service, queue.get(), missing - covered);
                if (left > 0 && haveGroups()) {
                    askForGroups(service, queue.get(), left);
                }
            }
        }
        groups.run(kept);
    }

    /** How many missing replicas get GPUs that are about to be free; removes these from {@code coming}. */
    private int covered(ServiceState service, int missing, List<GpuState> coming) {
        int covered = 0;
        Iterator<GpuState> units = coming.iterator();
        while (covered < missing && units.hasNext()) {
            if (pool.fits(service, units.next())) {
                units.remove();
                covered++;
            }
        }
        return covered;
    }

    /**
     * Replicas of one unit that a service lacks and that are not promised to it; 0 if it runs on MIG instances or
     * declares shapes.
     */
    private int missing(ServiceState service) {
        if (builder.slices().isPresent() || service.spec().hasGroups() || pool.isHeldBack(service)) {
            return 0;
        }
        List<GpuState> has = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica : pool.replicas(service)) {
            if (!replica.getValue().isWhole()) {
                return 0;
            }
            if (replica.getValue().owner().isActiveReplica()
                    && replica.getValue().part().isEmpty()) {
                has.add(replica.getValue());
            }
        }
        for (GpuId promised : builder.promises().units(service.spec().service())) {
            builder.gpus().get(promised).ifPresent(has::add);
        }
        return inference.missing(service, has);
    }

    /** Asks for replicas of one unit; returns how many the service still lacks. */
    private int ask(ServiceState service, ClusterQueue queue, int replicas) {
        QueueLedger kept = ledger.orElseGet(guard::kept);
        ledger = Optional.of(kept);
        int left = replicas;
        for (ServiceState other : builder.services().values()) {
            Optional<ClusterQueue> theirs =
                    builder.entities().queueOf(new Tenant.Service(other.spec().service()));
            boolean isAsked = left > 0 && !other.spec().hasGroups();
            if (isAsked && theirs.isPresent() && QuotaGivers.isAskedBy(queue, theirs.get())) {
                List<GpuId> given = given(kept, service, other, left);
                left -= given.size();
                if (!given.isEmpty()) {
                    stop(service, queue, other, given);
                }
            }
        }
        return left;
    }

    /** Whether services declare shapes, or have replicas in shapes that they do not declare any more. */
    private boolean haveGroups() {
        return builder.entities().startsGroups()
                || !builder.clusterIndex().gpus().groups().isEmpty();
    }

    /** Asks for replicas of several units, each of which gives as many units as the service can use. */
    private void askForGroups(ServiceState service, ClusterQueue queue, int replicas) {
        QuotaGivers givers = new QuotaGivers(builder, settings, service, queue, ledger.orElseGet(guard::kept));
        List<GpuState> gained = givers.giveUnits(unit -> pool.fits(service, unit), replicas);
        if (gained.isEmpty()) {
            return;
        }
        givers.stop(Reason.counted(gained.size(), "replica"));
        gained.forEach(unit -> promise(service, unit.gpuId()));
    }

    private void promise(ServiceState service, GpuId unit) {
        Tenant tenant = new Tenant.Service(service.spec().service());
        builder.promises().add(unit, tenant, new ReplicaChanges(builder, settings).promisedUntil());
    }

    /** Replicas that a service without shapes gives, and counts them for the other. */
    private List<GpuId> given(QueueLedger kept, ServiceState service, ServiceState other, int most) {
        List<GpuState> running = new ArrayList<>();
        int warm = 0;
        for (Map.Entry<Replica, GpuState> replica : pool.replicas(other)) {
            GpuState unit = replica.getValue();
            warm += countsInFloor(other, unit) ? 1 : 0;
            boolean isRunning = unit.part().isEmpty()
                    && (unit.owner().isProtected() || unit.owner().isServing());
            boolean isUsable = unit.isWhole() && builder.isReachable(unit) && abilities.isUsable(unit);
            if (isRunning && isUsable && pool.fits(service, unit)) {
                running.add(unit);
            }
        }
        running.sort(Comparator.comparing(unit -> !unit.owner().isProtected()));
        List<GpuId> given = new ArrayList<>();
        ServiceId name = service.spec().service();
        for (GpuState unit : running) {
            boolean isAboveFloor =
                    !countsInFloor(other, unit) || warm > other.spec().floorReplicas();
            if (given.size() < most && isAboveFloor && mayMove(kept, service, other, unit)) {
                given.add(unit.gpuId());
                warm -= countsInFloor(other, unit) ? 1 : 0;
                kept.remove(unit.gpuId());
                guard.queueOf(new Tenant.Service(name))
                        .ifPresent(queue -> kept.add(unit.gpuId(), queue, unit.kind(), 1, false));
            }
        }
        return given;
    }

    /** Whether a replica of a service is warm, on a kind that the service uses. */
    private static boolean countsInFloor(ServiceState service, GpuState unit) {
        return !unit.owner().isBinding()
                && unit.part().isEmpty()
                && service.spec().uses(unit.kind());
    }

    /** Whether a unit moves from beyond a nominal quota into another one of the same kind. */
    private boolean mayMove(QueueLedger kept, ServiceState service, ServiceState other, GpuState unit) {
        Optional<QuotaUse> gains = use(kept, service, unit);
        Optional<QuotaUse> loses = use(kept, other, unit);
        return gains.isPresent()
                && loses.isPresent()
                && gains.get().kind().equals(loses.get().kind())
                && gains.get().isNominalWith(1)
                && loses.get().excess() >= 1;
    }

    private Optional<QuotaUse> use(QueueLedger ledger, ServiceState service, GpuState unit) {
        return guard.queueOf(new Tenant.Service(service.spec().service()))
                .flatMap(queue -> ledger.use(queue, unit.kind()));
    }

    private void stop(ServiceState service, ClusterQueue queue, ServiceState other, List<GpuId> given) {
        ServiceId name = other.spec().service();
        GpuState first = builder.gpu(given.get(0));
        QueueLedger before = guard.kept();
        String text = "%s stops %s: %s of queue %s is short, its queue uses %s, and the queue of %s uses %s"
                .formatted(
                        name,
                        Reason.counted(given.size(), "replica"),
                        service.spec().service(),
                        queue.queue(),
                        words(use(before, service, first)),
                        name,
                        words(use(before, other, first)));
        new ReplicaChanges(builder, settings)
                .stop(
                        name,
                        given,
                        builder.because(
                                ReasonCode.QUOTA,
                                text,
                                Map.of("stopped", (double) given.size()),
                                List.of(service.demand().event())));
        given.forEach(unit -> promise(service, unit));
    }

    private static String words(Optional<QuotaUse> use) {
        return use.map(QuotaUse::inWords).orElse("no quota");
    }
}
