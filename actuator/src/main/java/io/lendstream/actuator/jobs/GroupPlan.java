package io.lendstream.actuator.jobs;

import java.util.ArrayList;
import java.util.List;

/**
 * The group of a membership epoch.
 *
 * @param ranks names of its workers, by rank
 * @param transfers which ranks send the training state to which
 * @param batching the batching to train with
 * @param isWhole whether it covers all slots of the job's target
 */
record GroupPlan(
        EpochTransition.Kind kind, List<String> ranks, List<Transfer> transfers, Batching batching, boolean isWhole) {

    /** A transfer of the training state from one rank to another. */
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
     * Plans the transfers: each rank without the state gets it from a rank with it, in turn; at a start all get it
     * from the first.
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
