package io.lendstream.schemas.snapshot;

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

/** A domain's state apart from its entities. */
record SnapshotHeader(
        DomainId domain,
        @Flat LogPosition position,
        Optional<Instant> nextPlanAt,
        ClusterState.Mode mode,
        Optional<Pacing> pacing,
        Optional<SlicePlan> slices,
        Optional<Advice> advice,
        List<Promise> promises,
        List<LoanStart> loanStarts) {
    SnapshotHeader {
        promises = List.copyOf(promises);
        loanStarts = List.copyOf(loanStarts);
    }

    static SnapshotHeader of(ClusterState state) {
        return new SnapshotHeader(
                state.domain(),
                state.position(),
                state.nextPlanAt(),
                state.mode(),
                state.pacing(),
                state.slices(),
                state.advice(),
                state.promises(),
                state.loanStarts());
    }

    ClusterState with(ClusterEntities entities) {
        return new ClusterState(
                domain, position, nextPlanAt, mode, pacing, slices, advice, promises, loanStarts, entities);
    }
}
