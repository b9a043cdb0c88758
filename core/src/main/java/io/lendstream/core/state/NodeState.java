package io.lendstream.core.state;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeSamples;
import io.lendstream.core.event.NodeStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A node as its agent last described it.
 *
 * @param bootId agent boot of the last sample; empty before the first
 * @param sequence sequence of the last sample within that boot
 * @param samplePeriod time between its last two samples
 * @param findings what an actuator has found there that could be managed; empty until one has looked
 */
public record NodeState(
        Node node,
        String bootId,
        long sequence,
        Optional<Instant> lastSampleAt,
        Optional<Duration> samplePeriod,
        Optional<Findings> findings) {
    public static NodeState of(Node node) {
        return new NodeState(node, "", 0, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** With what an actuator has found. */
    public NodeState with(Findings next) {
        return new NodeState(node, bootId, sequence, lastSampleAt, samplePeriod, Optional.of(next));
    }

    public NodeState describedBy(Node next) {
        return new NodeState(next, bootId, sequence, lastSampleAt, samplePeriod, findings);
    }

    /**
     * Its last samples, summed up; the node was sampled at least twice before.
     *
     * @param number how many they are
     */
    public NodeSamples samples(int number) {
        return new NodeSamples(
                node.nodeId(),
                NodeSamples.check(bootId),
                sequence,
                lastSampleAt.orElseThrow(),
                samplePeriod.orElseThrow(),
                number);
    }

    /** After further samples of its boot. */
    public NodeState heard(NodeSamples samples) {
        return new NodeState(
                node,
                bootId,
                samples.sequence(),
                Optional.of(samples.lastAt()),
                Optional.of(samples.period()),
                findings);
    }

    public NodeState sampled(String boot, long number, Instant at) {
        Optional<Duration> period = lastSampleAt
                .filter(last -> at.isAfter(last) && boot.equals(bootId))
                .map(last -> Duration.between(last, at));
        return new NodeState(node, boot, number, Optional.of(at), period.isPresent() ? period : samplePeriod, findings);
    }

    /** Whether it can be reached. */
    public boolean isReady() {
        return node.status() == NodeStatus.READY;
    }
}
