package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/** The messages about membership epochs that the node process sends to workers, as in {@code docs/afe.md}. */
final class MembershipMessages {
    private MembershipMessages() {}

    /** Build this group. */
    static ObjectNode prepare(long epoch, GroupPlan plan, int rank) {
        ObjectNode prepare = message("prepare", epoch)
                .put("kind", plan.kind().name().toLowerCase(Locale.ROOT))
                .put("rank", rank)
                .put("size", plan.ranks().size());
        ArrayNode newcomers = prepare.putArray("newcomers");
        ArrayNode transfers = prepare.putArray("transfers");
        for (GroupPlan.Transfer each : plan.transfers()) {
            transfers.addArray().add(each.sender()).add(each.receiver());
            if (plan.kind() == EpochTransition.Kind.CHANGE) {
                newcomers.add(each.receiver());
            }
        }
        Batching batching = plan.batching();
        prepare.putObject("batching")
                .put("localBatch", batching.localBatch())
                .put("accumulation", batching.accumulation())
                .put("learningRateScale", batching.learningRateScale());
        return prepare;
    }

    /** Enter the epoch after the step at which all workers know about it. */
    static ObjectNode commit(long epoch) {
        return message("commit", epoch);
    }

    /** Leave after the step at which all workers know about it, with a checkpoint if no worker stays. */
    static ObjectNode commitToLeave(long epoch, boolean checkpoint) {
        return message("commit", epoch).put("leave", true).put("checkpoint", checkpoint);
    }

    /** All workers have entered the epoch: drop the previous group; leaving workers end. */
    static ObjectNode done(long epoch) {
        return message("done", epoch);
    }

    /** Break all groups up to this epoch. */
    static ObjectNode abort(long epoch) {
        return message("abort", epoch);
    }

    /** End now. */
    static ObjectNode leave(long epoch) {
        return message("leave", epoch);
    }

    /** All workers have finished. */
    static ObjectNode farewell(long epoch) {
        return message("farewell", epoch);
    }

    private static ObjectNode message(String type, long epoch) {
        return Frames.JSON.createObjectNode().put("type", type).put("epoch", epoch);
    }
}
