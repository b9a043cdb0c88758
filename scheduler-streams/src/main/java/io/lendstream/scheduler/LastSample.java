package io.lendstream.scheduler;

import io.lendstream.core.state.NodeState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The saved part of a node's last sample. It is small, because it changes every second.
 *
 * @param bootId agent boot that took the sample
 * @param sequence number of the sample within that boot
 * @param at when the sample was taken
 * @param period time since the previous sample
 */
record LastSample(String bootId, long sequence, Instant at, Optional<Duration> period) {
    /** Empty before a node's first sample. */
    static Optional<LastSample> of(NodeState node) {
        return node.lastSampleAt().map(at -> new LastSample(node.bootId(), node.sequence(), at, node.samplePeriod()));
    }

    /** The node with this last sample. */
    NodeState in(NodeState node) {
        return new NodeState(node.node(), bootId, sequence, Optional.of(at), period, node.findings());
    }
}
