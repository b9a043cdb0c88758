package io.lendstream.core.faults;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.ClusterStates;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;

/**
 * A mistake in the steps of a scheduler of a {@link MixedCluster}, to prove that a check finds it. The scheduler sees
 * another state than the real one, and decides by that; everything else of its next state is right.
 */
enum ClusterBug {
    NONE("", ""),
    /** A unit of a node that is lent as a whole is lent while a service has another. */
    LENT_BESIDE_A_REPLICA("bundle", "bundle"),
    /** A service gets units of a node that is lent as a whole before the last job has left it. */
    BOUND_BEFORE_THE_LAST_RELEASE("bundle", "bundle"),
    /** Units that are being bound do not count in the quota of their queue. */
    FORGOTTEN_BINDING("quota", "quota"),
    /** What a queue has counts as its nominal quota, so that it gives nothing back, also when its quota is lowered. */
    EXCESS_KEPT("excess kept", "quota"),
    /** All kinds of GPU are taken for one. */
    EXCLUDED_KIND("excluded kind", "kind"),
    /** Services have no floor when units are taken from them. */
    UNDER_FLOOR("floor", "floor"),
    /** The first of two actuators settles a change; no rule of the record finds that. */
    HALF_SETTLED("half settled", ""),
    /** A replica serves, and a gang trains, as soon as its first unit is bound. */
    HALF_BOUND("half bound", "group"),
    /** A replica that could not be bound is undone without one of its units. */
    UNDONE_IN_PART("left of a replica", "group"),
    /** A replica that has lost a unit goes on. */
    LOST_PART("left of a replica", "group"),
    /**
     * A tenant that was found on another unit than the named one is then taken to be on one of another kind; no rule of
     * the record finds that.
     */
    EXCHANGE_ACROSS_KINDS("one owner", ""),
    /** A tenant that was found on another unit than the named one takes that of another tenant, which gets none. */
    DROPPED_TENANT("one owner", "one owner"),
    /** Of a tenant that left another unit than the named one, the named one is freed. */
    NAMED_UNIT_FREED("named unit", "");

    /** The promise that it breaks, as what really ran shows it. */
    private final String promise;
    /** The rule that finds it in the recorded history; empty if none does. */
    private final String rule;

    ClusterBug(String promise, String rule) {
        this.promise = promise;
        this.rule = rule;
    }

    String promise() {
        return promise;
    }

    String rule() {
        return rule;
    }

    /** The step of a scheduler that makes this mistake. */
    Step step(Scheduler scheduler, ClusterState state, DomainEvent event) {
        return switch (this) {
            case NONE -> scheduler.step(state, event);
            case LENT_BESIDE_A_REPLICA -> withGpusLentAlone(scheduler, state, event);
            case BOUND_BEFORE_THE_LAST_RELEASE ->
                isRelease(event) ? withGpusLentAlone(scheduler, state, event) : scheduler.step(state, event);
            case FORGOTTEN_BINDING -> withQueues(scheduler, state, event, queue -> raised(queue, state));
            case EXCESS_KEPT -> withExcess(scheduler, state, event);
            case EXCLUDED_KIND -> withOneKind(scheduler, state, event);
            case UNDER_FLOOR -> withoutFloors(scheduler, state, event);
            case HALF_SETTLED -> scheduler.step(withOneActuator(state, event), event);
            case HALF_BOUND -> withAllHere(scheduler, state, event);
            case UNDONE_IN_PART -> withoutStops(scheduler, state, event, true);
            case LOST_PART -> withoutStops(scheduler, state, event, false);
            case EXCHANGE_ACROSS_KINDS -> withExchangesAcrossKinds(state, scheduler.step(state, event));
            case DROPPED_TENANT -> withDroppedTenants(state, scheduler.step(state, event));
            case NAMED_UNIT_FREED -> scheduler.step(state, withoutPlacements(event));
        };
    }

    private static boolean isRelease(DomainEvent event) {
        return event.event()
                .asReport()
                .filter(report -> report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED)
                .isPresent();
    }

    private static Step withGpusLentAlone(Scheduler scheduler, ClusterState state, DomainEvent event) {
        ClusterEntities seen = state.entities();
        for (ActuatorDescription actuator : state.entities().actuators().values()) {
            Abilities abilities = actuator.abilities().withGranularity(Granularity.GPU);
            seen = seen.with(new ActuatorDescription(
                    actuator.actuator(),
                    actuator.domain(),
                    actuator.at(),
                    actuator.driver(),
                    actuator.nodes(),
                    abilities));
        }
        Step step = scheduler.step(ClusterStates.with(state, seen), event);
        ClusterEntities after = step.state().entities();
        for (ActuatorDescription actuator : state.entities().actuators().values()) {
            if (!event.event().equals(after.actuators().require(actuator.actuator()))) {
                after = after.with(actuator);
            }
        }
        return with(step, after);
    }

    private static Step withQueues(
            Scheduler scheduler, ClusterState state, DomainEvent event, UnaryOperator<ClusterQueue> other) {
        ClusterEntities seen = state.entities();
        for (QueueState queue : state.entities().queues().values()) {
            seen = seen.with(queue.describedBy(other.apply(queue.spec())));
        }
        Step step = scheduler.step(ClusterStates.with(state, seen), event);
        ClusterEntities after = step.state().entities();
        for (QueueState queue : state.entities().queues().values()) {
            QueueState next = after.queues().require(queue.spec().queue());
            if (!event.event().equals(next.spec())) {
                after = after.with(next.describedBy(queue.spec()));
            }
        }
        return with(step, after);
    }

    private static Step withExcess(Scheduler scheduler, ClusterState state, DomainEvent event) {
        Optional<ClusterQueue> declared = event.event().asQueue();
        DomainEvent seen = declared.isEmpty()
                ? event
                : new DomainEvent(
                        event.domain(),
                        event.epoch(),
                        event.sequence(),
                        event.at(),
                        event.origin(),
                        asUsed(declared.get(), state));
        Step step = withQueues(scheduler, state, seen, queue -> asUsed(queue, state));
        if (declared.isEmpty()) {
            return step;
        }
        ClusterEntities after = step.state().entities();
        QueueState queue = after.queues().require(declared.get().queue());
        return with(step, after.with(queue.describedBy(declared.get())));
    }

    private static ClusterQueue raised(ClusterQueue queue, ClusterState state) {
        return with(queue, quota -> quota.nominalQuota() + binding(queue, quota, state));
    }

    private static ClusterQueue asUsed(ClusterQueue queue, ClusterState state) {
        QueueLedger ledger = QueueLedger.of(state.entities());
        return with(
                queue,
                quota -> ledger.use(queue.queue(), quota.kind())
                        .map(use -> Math.max(use.nominal(), use.used()))
                        .orElse(quota.nominalQuota()));
    }

    private static ClusterQueue with(ClusterQueue queue, ToDoubleFunction<KindQuota> nominal) {
        return new ClusterQueue(
                queue.queue(),
                queue.domain(),
                queue.at(),
                queue.cohort(),
                queue.weight(),
                queue.quotas().stream()
                        .map(quota -> new KindQuota(
                                quota.kind(),
                                nominal.applyAsDouble(quota),
                                quota.borrowingLimit(),
                                quota.lendingLimit()))
                        .toList(),
                queue.withinClusterQueue(),
                queue.reclaimWithinCohort(),
                queue.priorityClasses());
    }

    private static long binding(ClusterQueue queue, KindQuota quota, ClusterState state) {
        return state.gpus().stream()
                .filter(unit -> unit.owner().isBinding())
                .filter(unit -> unit.owner()
                        .holder()
                        .flatMap(state.entities()::queueOf)
                        .filter(queue::equals)
                        .flatMap(of -> of.quota(unit.kind()))
                        .filter(quota::equals)
                        .isPresent())
                .count();
    }

    private static Step withOneKind(Scheduler scheduler, ClusterState state, DomainEvent event) {
        Optional<KindId> first =
                state.gpus().stream().flatMap(unit -> unit.kind().stream()).findFirst();
        ClusterEntities seen = state.entities();
        for (GpuState unit : state.gpus().values()) {
            seen = seen.with(unit.of(first));
        }
        Step step = scheduler.step(ClusterStates.with(state, seen), event);
        ClusterEntities after = step.state().entities();
        for (GpuState unit : state.gpus().values()) {
            Optional<GpuState> next = after.gpus().get(unit.gpuId());
            if (next.isPresent()) {
                after = after.with(next.get().of(unit.kind()));
            }
        }
        return with(step, after);
    }

    private static Step withoutFloors(Scheduler scheduler, ClusterState state, DomainEvent event) {
        ClusterEntities seen = state.entities();
        for (ServiceState service : state.entities().services().values()) {
            seen = seen.with(service.describedBy(withoutFloor(service.spec())));
        }
        Step step = scheduler.step(ClusterStates.with(state, seen), event);
        ClusterEntities after = step.state().entities();
        for (ServiceState service : state.entities().services().values()) {
            ServiceState next = after.services().require(service.spec().service());
            if (!event.event().equals(next.spec())) {
                after = after.with(next.describedBy(service.spec()));
            }
        }
        return with(step, after);
    }

    private static InferenceService withoutFloor(InferenceService service) {
        return new InferenceService(
                service.service(),
                service.domain(),
                service.at(),
                service.models(),
                service.slo(),
                service.replicaCapacityPerSecond(),
                service.replicaConcurrency(),
                0,
                service.warmUp(),
                service.sliceMemoryBytes(),
                service.queue(),
                service.hardware());
    }

    private static ClusterState withOneActuator(ClusterState state, DomainEvent event) {
        Optional<ActuationReport> applied =
                event.event().asReport().filter(report -> report.outcome() == Outcome.APPLIED);
        Optional<JobState> job =
                applied.flatMap(ActuationReport::tenant).flatMap(Tenant::jobId).flatMap(state.jobs()::get);
        return job.filter(known -> !known.change().awaited().isEmpty())
                .map(known -> ClusterStates.with(
                        state,
                        state.entities()
                                .with(known.awaiting(
                                        List.of(applied.orElseThrow().actuator())))))
                .orElse(state);
    }

    /** With each unit seen as bound that is to be. */
    private static Step withAllHere(Scheduler scheduler, ClusterState state, DomainEvent event) {
        ClusterEntities seen = state.entities();
        for (GpuState unit : state.gpus().values()) {
            if (unit.owner().isBinding() && unit.part().isPresent()) {
                seen = seen.with(unit.in(unit.part().get().arrived()));
            }
        }
        Step step = scheduler.step(ClusterStates.with(state, seen), event);
        ClusterEntities after = step.state().entities();
        List<GpuId> bound = event.event()
                .asReport()
                .filter(report -> report.outcome() == Outcome.BOUND)
                .map(ActuationReport::gpus)
                .orElse(List.of());
        for (GpuState unit : state.gpus().values()) {
            Optional<GpuState> next =
                    after.gpus().get(unit.gpuId()).filter(each -> each.part().isPresent());
            boolean isSame = next.flatMap(GpuState::part)
                    .map(GroupPart::replica)
                    .equals(unit.part().map(GroupPart::replica));
            if (next.isPresent() && isSame && !bound.contains(unit.gpuId())) {
                after = after.with(next.get().in(unit.part().orElseThrow()));
            }
        }
        return with(step, after);
    }

    /** Without a part of the decisions that stop what is left of a replica. */
    private static Step withoutStops(Scheduler scheduler, ClusterState state, DomainEvent event, boolean ofUnbound) {
        Step step = scheduler.step(state, event);
        ClusterEntities after = step.state().entities();
        List<Decision> decisions = new ArrayList<>();
        for (Decision decision : step.decisions()) {
            List<GpuId> kept =
                    decision.reason().is(ReasonCode.LOST) || decision.reason().is(ReasonCode.TIMEOUT)
                            ? kept(decision, state, ofUnbound)
                            : List.of();
            for (GpuId unit : kept) {
                after = after.with(state.gpus().require(unit));
            }
            without(decision, kept).ifPresent(decisions::add);
        }
        Step changed = with(step, after);
        return new Step(changed.state(), decisions, changed.changed());
    }

    private static List<GpuId> kept(Decision decision, ClusterState state, boolean ofUnbound) {
        List<GpuId> kept = new ArrayList<>();
        for (ReplicaUnits replica :
                decision.action().asIdle().map(Action.Idle::replicas).orElse(List.of())) {
            replica.units().stream()
                    .filter(unit -> state.gpus()
                            .get(unit)
                            .filter(known -> known.part().isPresent() && known.isHere())
                            .filter(known -> ofUnbound
                                    ? known.owner().isBinding()
                                    : known.owner().isUp())
                            .isPresent())
                    .limit(ofUnbound ? 1 : replica.units().size())
                    .forEach(kept::add);
        }
        return kept;
    }

    private static Optional<Decision> without(Decision decision, List<GpuId> kept) {
        Optional<Action.Idle> idle = decision.action().asIdle().filter(any -> !kept.isEmpty());
        if (idle.isEmpty()) {
            return Optional.of(decision);
        }
        List<GpuId> left = without(idle.get().gpus(), kept);
        List<ReplicaUnits> replicas = idle.get().replicas().stream()
                .map(each -> new ReplicaUnits(each.replica(), each.shape(), each.role(), without(each.units(), kept)))
                .filter(each -> !each.units().isEmpty())
                .toList();
        return left.isEmpty()
                ? Optional.empty()
                : Optional.of(new Decision(
                        decision.id(),
                        decision.at(),
                        decision.deadline(),
                        decision.advisory(),
                        decision.reason(),
                        new Action.Idle(idle.get().service(), left, idle.get().by(), replicas)));
    }

    private static List<GpuId> without(List<GpuId> units, List<GpuId> others) {
        return units.stream().filter(unit -> !others.contains(unit)).toList();
    }

    /** Units of which a step has exchanged the owners: one by one, the unit on which a tenant was found after the named. */
    private static List<List<GpuState>> exchanges(ClusterState before, Step step) {
        List<List<GpuState>> exchanges = new ArrayList<>();
        for (GpuId found : step.changed().owners()) {
            for (GpuId named : step.changed().owners()) {
                Optional<GpuState> from = before.gpus().get(named);
                Optional<GpuState> to = step.state().gpus().get(found);
                boolean hasMoved = !named.equals(found)
                        && from.isPresent()
                        && to.isPresent()
                        && from.get().owner().holder().isPresent()
                        && from.get().nodeId().equals(to.get().nodeId())
                        && from.get().owner().holder().equals(to.get().owner().holder())
                        && !from.get().owner().holder().equals(holder(before, found))
                        && holder(step.state(), named).equals(holder(before, found));
                if (hasMoved) {
                    exchanges.add(List.of(step.state().gpus().require(named), to.get()));
                }
            }
        }
        return exchanges;
    }

    private static Optional<Tenant> holder(ClusterState state, GpuId unit) {
        return state.gpus().get(unit).flatMap(known -> known.owner().holder());
    }

    private static Step withDroppedTenants(ClusterState before, Step step) {
        ClusterEntities after = step.state().entities();
        for (List<GpuState> exchange : exchanges(before, step)) {
            GpuState named = exchange.get(0);
            if (named.owner().isUp()) {
                after = after.with(named.with(new Owner.Free(), named.since(), named.changedBy()));
            }
        }
        return with(step, after);
    }

    private static Step withExchangesAcrossKinds(ClusterState before, Step step) {
        ClusterEntities after = step.state().entities();
        for (List<GpuState> exchange : exchanges(before, step)) {
            GpuState found = exchange.get(1);
            Optional<GpuState> other = after.gpus().stream()
                    .filter(unit -> unit.nodeId().equals(found.nodeId()) && unit.isFree() && unit.isWhole())
                    .filter(unit -> !unit.kind().equals(found.kind()))
                    .findFirst();
            if (other.isPresent() && found.isWhole()) {
                GpuId there = other.get().gpuId();
                after = after.with(found.takingOver(other.get(), found.since(), found.changedBy()))
                        .with(other.get().takingOver(found, found.since(), found.changedBy()));
                Optional<JobState> job = found.owner().holdingJob().flatMap(after.jobs()::get);
                if (job.isPresent()) {
                    after = after.with(job.get().exchanging(found.gpuId(), there));
                }
            }
        }
        return with(step, after);
    }

    private static DomainEvent withoutPlacements(DomainEvent event) {
        Optional<ActuationReport> report = event.event()
                .asReport()
                .filter(each -> each.outcome() == Outcome.RELEASED || each.outcome() == Outcome.FORCED);
        return report.map(each -> new DomainEvent(
                        event.domain(),
                        event.epoch(),
                        event.sequence(),
                        event.at(),
                        event.origin(),
                        new ActuationReport(
                                each.domain(),
                                each.decision(),
                                each.actuator(),
                                each.at(),
                                each.outcome(),
                                each.gpus(),
                                each.tenant(),
                                each.timings(),
                                each.reason())))
                .orElse(event);
    }

    private static Step with(Step step, ClusterEntities entities) {
        return new Step(ClusterStates.with(step.state(), entities), step.decisions(), step.changed());
    }
}
