package io.lendstream.core.state;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.PersistentMap;
import java.time.Instant;
import java.util.Optional;

/**
 * All that the scheduler knows of a domain: the outcome of its events so far, and of nothing else.
 *
 * @param now the latest time that an event spoke of
 * @param epoch the scheduler's term of office; 0 before the first
 * @param eventSequence sequence of the last event applied
 * @param decisionSequence sequence of the last decision made
 * @param nextPlanAt when training is to be planned again
 * @param mode what people have ordered
 * @param pacing that fewer transfers than usual may be under way, after a service has missed its SLO
 * @param slices how services are to share MIG instances, once that has been planned
 * @param advice decisions that were only advised; empty where none were
 * @param clusterIndex the same GPUs, services, jobs and nodes in other orders
 */
public record ClusterState(
        DomainId domain,
        Instant now,
        long epoch,
        long eventSequence,
        long decisionSequence,
        Optional<Instant> nextPlanAt,
        Mode mode,
        Optional<Pacing> pacing,
        Optional<SlicePlan> slices,
        Optional<Advice> advice,
        PersistentMap<NodeId, NodeState> nodes,
        PersistentMap<GpuId, GpuState> gpus,
        PersistentMap<ServiceId, ServiceState> services,
        PersistentMap<JobId, JobState> jobs,
        @Derived ClusterIndex clusterIndex) {

    /** What people have ordered, by control commands. */
    public record Mode(boolean frozen, boolean advisory, boolean lendingStopped) {}

    /** A state whose index is built from scratch. */
    public ClusterState(
            DomainId domain,
            Instant now,
            long epoch,
            long eventSequence,
            long decisionSequence,
            Optional<Instant> nextPlanAt,
            Mode mode,
            Optional<Pacing> pacing,
            Optional<SlicePlan> slices,
            Optional<Advice> advice,
            PersistentMap<NodeId, NodeState> nodes,
            PersistentMap<GpuId, GpuState> gpus,
            PersistentMap<ServiceId, ServiceState> services,
            PersistentMap<JobId, JobState> jobs) {
        this(
                domain,
                now,
                epoch,
                eventSequence,
                decisionSequence,
                nextPlanAt,
                mode,
                pacing,
                slices,
                advice,
                nodes,
                gpus,
                services,
                jobs,
                ClusterIndex.of(nodes.values(), gpus.values(), services.values(), jobs.values()));
    }

    public static ClusterState empty(DomainId domain) {
        return new ClusterState(
                domain,
                Instant.EPOCH,
                0,
                0,
                0,
                Optional.empty(),
                new Mode(false, false, false),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                PersistentMap.empty(),
                PersistentMap.empty(),
                PersistentMap.empty(),
                PersistentMap.empty());
    }

    /** The same with other plans. */
    public ClusterState planned(Optional<Instant> nextPlanAt, Optional<SlicePlan> slices) {
        return new ClusterState(
                domain,
                now,
                epoch,
                eventSequence,
                decisionSequence,
                nextPlanAt,
                mode,
                pacing,
                slices,
                advice,
                nodes,
                gpus,
                services,
                jobs,
                clusterIndex);
    }

    /**
     * The same, in which other decisions were advised.
     *
     * @param decisionSequence sequence of the last of them
     */
    public ClusterState advised(Advice advice, long decisionSequence) {
        return new ClusterState(
                domain,
                now,
                epoch,
                eventSequence,
                decisionSequence,
                nextPlanAt,
                mode,
                pacing,
                slices,
                Optional.of(advice),
                nodes,
                gpus,
                services,
                jobs,
                clusterIndex);
    }
}
