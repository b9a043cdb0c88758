package io.lendstream.core.state;

import io.lendstream.core.event.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A node as its agent last described it.
 *
 * @param bootId agent boot of the last sample; empty before the first
 * @param sequence sequence of the last sample within that boot
 * @param samplePeriod time between its last two samples
 */
public record NodeState(
        Node node, String bootId, long sequence, Optional<Instant> lastSampleAt, Optional<Duration> samplePeriod) {
    public static NodeState of(Node node) {
        return new NodeState(node, "", 0, Optional.empty(), Optional.empty());
    }

    public NodeState describedBy(Node next) {
        return new NodeState(next, bootId, sequence, lastSampleAt, samplePeriod);
    }

    public NodeState sampled(String boot, long number, Instant at) {
        Optional<Duration> period = lastSampleAt
                .filter(last -> at.isAfter(last) && boot.equals(bootId))
                .map(last -> Duration.between(last, at));
        return new NodeState(node, boot, number, Optional.of(at), period.isPresent() ? period : samplePeriod);
    }
}
