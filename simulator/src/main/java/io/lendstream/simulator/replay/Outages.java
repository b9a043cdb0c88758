package io.lendstream.simulator.replay;

import io.lendstream.core.id.NodeId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The times when nodes are lost and back. All processes on a lost node die at once, and its agent falls silent. After a
 * while the node is taken out of the inventory; when it is repaired, it joins again and its GPUs are reset.
 *
 * @param scripted outages that are known beforehand; of one node, each after the one before it
 * @param mtbf mean time that a node works until it is lost by chance; zero where none is
 * @param repair from a loss by chance until the node is back
 * @param noticedAfter silence after which a lost node is taken out of the inventory
 */
public record Outages(List<Outage> scripted, Duration mtbf, Duration repair, Duration noticedAfter) {
    private static final Duration NOTICED = Duration.ofSeconds(60);

    public static final Outages NONE = new Outages(List.of(), Duration.ZERO, Duration.ZERO, NOTICED);

    /** A node that is away from one time to another. */
    public record Outage(NodeId node, Instant from, Instant to) {}

    public Outages {
        scripted = List.copyOf(scripted);
        if (mtbf.isNegative() || (!mtbf.isZero() && repair.compareTo(noticedAfter) <= 0)) {
            throw new IllegalArgumentException(
                    "nodes fail every %s and are back after %s, but the time between failures must be positive and the repair longer than %s, for a lost node is missed that late"
                            .formatted(mtbf, repair, noticedAfter));
        }
        Map<NodeId, Instant> back = new HashMap<>();
        for (Outage outage : scripted) {
            Instant earliest = back.getOrDefault(outage.node, Instant.MIN);
            if (outage.from.isBefore(earliest) || !outage.to.isAfter(outage.from.plus(noticedAfter))) {
                throw new IllegalArgumentException(
                        "%s must begin after the outage before it and last longer than %s, for a lost node is missed that late"
                                .formatted(outage, noticedAfter));
            }
            back.put(outage.node, outage.to);
        }
    }

    /** These and no others. */
    public static Outages of(List<Outage> scripted) {
        return new Outages(scripted, Duration.ZERO, Duration.ZERO, NOTICED);
    }

    /** At random: the time that a node works is exponentially distributed. */
    public static Outages byChance(Duration mtbf, Duration repair) {
        return new Outages(List.of(), mtbf, repair, NOTICED);
    }
}
