package io.lendstream.scheduler;

import io.lendstream.core.state.NodeState;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What a node's state has of its last sample, as it is kept: small, for it changes once a second.
 *
 * @param bootId agent boot of the sample
 * @param sequence of the sample within that boot
 * @param at when it was taken
 * @param period time since the one before
 */
record LastSample(String bootId, long sequence, Instant at, Optional<Duration> period) {
    /** Empty before a node's first sample. */
    static Optional<LastSample> of(NodeState node) {
        return node.lastSampleAt().map(at -> new LastSample(node.bootId(), node.sequence(), at, node.samplePeriod()));
    }

    /** The node with this as its last sample. */
    NodeState in(NodeState node) {
        return new NodeState(node.node(), bootId, sequence, Optional.of(at), period);
    }
}
