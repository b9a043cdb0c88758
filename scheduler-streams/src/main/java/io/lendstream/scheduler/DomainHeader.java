package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Pacing;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SlicePlan;
import java.time.Instant;
import java.util.Optional;

/** What a domain's state is besides its nodes, GPUs, services, jobs and advice; and the time up to which it answered. */
record DomainHeader(
        DomainId domain,
        Instant now,
        long epoch,
        long eventSequence,
        long decisionSequence,
        Optional<Instant> nextPlanAt,
        ClusterState.Mode mode,
        Optional<Pacing> pacing,
        Optional<SlicePlan> slices,
        Optional<Instant> answered) {

    static DomainHeader of(ClusterState state, Optional<Instant> answered) {
        return new DomainHeader(
                state.domain(),
                state.now(),
                state.epoch(),
                state.eventSequence(),
                state.decisionSequence(),
                state.nextPlanAt(),
                state.mode(),
                state.pacing(),
                state.slices(),
                answered);
    }

    /** The same at another event that changed nothing else of it. */
    DomainHeader at(Instant time, long event) {
        return new DomainHeader(
                domain, time, epoch, event, decisionSequence, nextPlanAt, mode, pacing, slices, answered);
    }

    ClusterState with(
            Optional<Advice> advice,
            PersistentMap<NodeId, NodeState> nodes,
            PersistentMap<GpuId, GpuState> gpus,
            PersistentMap<ServiceId, ServiceState> services,
            PersistentMap<JobId, JobState> jobs) {
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
                jobs);
    }
}
