package io.lendstream.core.state;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.Flat;
import io.lendstream.core.persistent.PersistentMap;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The scheduler's state of a domain, which follows from the domain's events alone.
 *
 * @param nextPlanAt the next time at which training is planned
 * @param mode the orders of operators
 * @param pacing a lower limit on transfers, after a service has missed its SLO
 * @param slices the plan by which services share MIG instances, once there is one
 * @param advice the advice that stands; empty if there is none
 * @param promises units that are kept for tenants, in the order of units; empty without queues
 * @param loanStarts loans that began a short time ago, oldest first
 */
public record ClusterState(
        DomainId domain,
        @Flat LogPosition position,
        Optional<Instant> nextPlanAt,
        Mode mode,
        Optional<Pacing> pacing,
        Optional<SlicePlan> slices,
        Optional<Advice> advice,
        List<Promise> promises,
        List<LoanStart> loanStarts,
        @Flat ClusterEntities entities) {
    public ClusterState {
        promises = List.copyOf(promises);
        loanStarts = List.copyOf(loanStarts);
    }

    /**
     * The orders of operators, by control commands and declared settings.
     *
     * @param advisory whether an operator has switched advisory mode on
     * @param trust the level of trust; if it is absent, as in states of older versions, it counts as {@link
     *     TrustLevel#ALL}
     * @param declared the settings that the domain has instead of those of the configuration
     */
    public record Mode(
            boolean frozen,
            boolean advisory,
            boolean lendingStopped,
            Optional<Trust> trust,
            Optional<DomainSettings> declared) {
        /** Without a level of trust and declared settings. */
        public Mode(boolean frozen, boolean advisory, boolean lendingStopped) {
            this(frozen, advisory, lendingStopped, Optional.empty(), Optional.empty());
        }

        /** The same at a level of trust. */
        public Mode with(Trust other) {
            return new Mode(frozen, advisory, lendingStopped, Optional.of(other), declared);
        }

        /** The same with other declared settings. */
        public Mode declaring(Optional<DomainSettings> other) {
            return new Mode(frozen, advisory, lendingStopped, trust, other);
        }

        /** The same by other orders. */
        public Mode ordered(boolean isFrozen, boolean isAdvisory, boolean isLendingStopped) {
            return new Mode(isFrozen, isAdvisory, isLendingStopped, trust, declared);
        }

        public TrustLevel level() {
            return trust.isPresent() ? trust.get().level() : TrustLevel.ALL;
        }

        /** Whether decisions are only advice, by an order or by the level of trust. */
        public boolean isAdvisory() {
            return advisory || level().isAdvice();
        }
    }

    public static ClusterState empty(DomainId domain) {
        return new ClusterState(
                domain,
                LogPosition.START,
                Optional.empty(),
                new Mode(false, false, false),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                List.of(),
                ClusterEntities.NONE);
    }

    public Instant now() {
        return position.now();
    }

    public long epoch() {
        return position.epoch();
    }

    public long eventSequence() {
        return position.eventSequence();
    }

    public long decisionSequence() {
        return position.decisionSequence();
    }

    public PersistentMap<NodeId, NodeState> nodes() {
        return entities.nodes();
    }

    public PersistentMap<GpuId, GpuState> gpus() {
        return entities.gpus();
    }

    public PersistentMap<ServiceId, ServiceState> services() {
        return entities.services();
    }

    public PersistentMap<JobId, JobState> jobs() {
        return entities.jobs();
    }

    public PersistentMap<QueueId, QueueState> queues() {
        return entities.queues();
    }

    public PersistentMap<String, ActuatorDescription> actuators() {
        return entities.actuators();
    }

    public ClusterIndex clusterIndex() {
        return entities.clusterIndex();
    }

    /** The same at a later time. */
    public ClusterState at(Instant time) {
        return new ClusterState(
                domain,
                position.at(time, position.eventSequence()),
                nextPlanAt,
                mode,
                pacing,
                slices,
                advice,
                promises,
                loanStarts,
                entities);
    }

    /** The same, in which a node has a later sample. */
    public ClusterState heard(NodeState node) {
        return new ClusterState(
                domain, position, nextPlanAt, mode, pacing, slices, advice, promises, loanStarts, entities.with(node));
    }

    /** The same with other plans. */
    public ClusterState planned(Optional<Instant> nextPlanAt, Optional<SlicePlan> slices) {
        return new ClusterState(
                domain, position, nextPlanAt, mode, pacing, slices, advice, promises, loanStarts, entities);
    }

    /**
     * The same, in which other decisions were advised.
     *
     * @param decisionSequence sequence of the last of them
     */
    public ClusterState advised(Advice advice, long decisionSequence) {
        return new ClusterState(
                domain,
                position.decided(decisionSequence),
                nextPlanAt,
                mode,
                pacing,
                slices,
                Optional.of(advice),
                promises,
                loanStarts,
                entities);
    }
}
