package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.persistent.Flat;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.LoanStart;
import io.lendstream.core.state.LogPosition;
import io.lendstream.core.state.Pacing;
import io.lendstream.core.state.Promise;
import io.lendstream.core.state.SlicePlan;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A domain's state apart from its nodes, GPUs, services, jobs and advice, with the time up to which it answered. */
record DomainHeader(
        DomainId domain,
        @Flat LogPosition position,
        Optional<Instant> nextPlanAt,
        ClusterState.Mode mode,
        Optional<Pacing> pacing,
        Optional<SlicePlan> slices,
        Optional<Instant> answered,
        List<Promise> promises,
        List<LoanStart> loanStarts) {
    DomainHeader {
        promises = List.copyOf(promises);
        loanStarts = List.copyOf(loanStarts);
    }

    static DomainHeader of(ClusterState state, Optional<Instant> answered) {
        return new DomainHeader(
                state.domain(),
                state.position(),
                state.nextPlanAt(),
                state.mode(),
                state.pacing(),
                state.slices(),
                answered,
                state.promises(),
                state.loanStarts());
    }

    /** This header at a later event that changed nothing else in it. */
    DomainHeader at(Instant time, long event) {
        return new DomainHeader(
                domain, position.at(time, event), nextPlanAt, mode, pacing, slices, answered, promises, loanStarts);
    }

    ClusterState with(Optional<Advice> advice, ClusterEntities entities) {
        return new ClusterState(
                domain, position, nextPlanAt, mode, pacing, slices, advice, promises, loanStarts, entities);
    }
}
