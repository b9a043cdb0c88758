package io.lendstream.actuator.jobs;

import io.lendstream.core.decision.DecisionId;
import java.util.List;
import java.util.Optional;

/**
 * The state of a job's membership, with which another node process can take it over.
 *
 * @param applied the batching that the members train with
 * @param epoch the last membership epoch that was begun; 0 for a job without any
 * @param members workers that train, by rank
 * @param pending the transition to the next epoch, if workers may already enter it
 * @param world the decision whose {@link WorldPart} the workers are part of; empty on one machine
 * @param finished whether workers of such a world have ended with 0
 */
record MembershipState(
        Batching applied,
        long epoch,
        List<String> members,
        Optional<JobFile.Pending> pending,
        Optional<DecisionId> world,
        boolean finished) {
    MembershipState {
        members = List.copyOf(members);
    }

    /** The state of a job of one machine. */
    MembershipState(Batching applied, long epoch, List<String> members, Optional<JobFile.Pending> pending) {
        this(applied, epoch, members, pending, Optional.empty(), false);
    }

    /** The state of a job whose workers know no epochs. */
    static MembershipState none(Batching applied, Optional<DecisionId> world, boolean finished) {
        return new MembershipState(applied, 0, List.of(), Optional.empty(), world, finished);
    }
}
