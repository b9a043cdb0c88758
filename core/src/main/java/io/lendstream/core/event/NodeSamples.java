package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.NodeId;
import java.time.Duration;
import java.time.Instant;

/**
 * Samples of a node in a row that changed nothing but the time of its last sample.
 *
 * @param bootCheck {@link #check} of the agent's boot that took them; they count only for that boot
 * @param sequence sequence of the last of them within that boot
 * @param lastAt when the last of them was taken, by the agent's clock
 * @param period time between the last of them and the sample before it
 * @param samples how many they are
 */
public record NodeSamples(NodeId nodeId, int bootCheck, long sequence, Instant lastAt, Duration period, int samples) {
    public NodeSamples {
        Checks.atLeast("sequence", 0, sequence);
        Checks.notNegative("period", period);
        Checks.atLeast("samples", 1, samples);
    }

    /** A short number that two boots of a node hardly share, within the bounds of values on the wire. */
    public static int check(String bootId) {
        return bootId.hashCode() & 0x1fff_ffff;
    }
}
