package io.lendstream.core.afe;

import java.time.Duration;

/**
 * The cost of a pause: a job leaves its GPUs, and its state stays in the host memory of its node.
 *
 * @param pause until it has left its GPUs
 * @param resumeHere until it trains again on GPUs of the same node
 * @param resumeElsewhere until it trains again on other nodes
 * @param hostMemoryBytes what it keeps in the memory of its node
 */
public record PauseCosts(Duration pause, Duration resumeHere, Duration resumeElsewhere, long hostMemoryBytes) {
    public PauseCosts {
        if (pause.isNegative() || resumeHere.isNegative() || resumeElsewhere.isNegative() || hostMemoryBytes < 0) {
            throw new IllegalArgumentException("costs of a pause must be at least 0, but were %s, %s, %s and %d bytes"
                    .formatted(pause, resumeHere, resumeElsewhere, hostMemoryBytes));
        }
    }
}
