package io.lendstream.actuator.jobs;

import java.util.ArrayList;
import java.util.List;

/**
 * The group of a membership epoch.
 *
 * @param ranks names of its workers, by rank
 * @param transfers who sends the state to whom
 * @param batching what it trains with
 * @param isWhole whether it is all that the job is to run on
 */
record GroupPlan(
        EpochTransition.Kind kind, List<String> ranks, List<Transfer> transfers, Batching batching, boolean isWhole) {

    /** The state of the training goes from one rank to another. */
    record Transfer(int sender, int receiver) {}

    GroupPlan {
        ranks = List.copyOf(ranks);
        transfers = List.copyOf(transfers);
    }

    /** Whether these workers train with this batching already. */
    boolean isLike(List<String> members, Batching applied) {
        return ranks.equals(members) && batching.equals(applied);
    }

    /**
     * Each rank without the state gets it from a rank that has it, in turn; at a start all get it from the first.
     *
     * @param senders how many ranks, from 0 on, have the state
     */
    static List<Transfer> transfers(int senders, int ranks) {
        List<Transfer> transfers = new ArrayList<>();
        int sending = Math.max(1, senders);
        for (int rank = sending; rank < ranks; rank++) {
            transfers.add(new Transfer(transfers.size() % sending, rank));
        }
        return transfers;
    }
}
