package io.lendstream.core.scheduler;

import io.lendstream.core.event.NodeSamples;
import io.lendstream.core.event.SampleSummary;

/** Applies the samples of nodes that changed nothing. */
record SummedSamples(StepBuilder builder) {
    void take(SampleSummary summary) {
        summary.nodes().forEach(this::take);
    }

    /** Samples of another boot, or older ones than the last, do not count. */
    private void take(NodeSamples samples) {
        builder.nodes()
                .get(samples.nodeId())
                .filter(node -> NodeSamples.check(node.bootId()) == samples.bootCheck())
                .filter(node -> node.sequence() < samples.sequence())
                .ifPresent(node -> builder.put(node.heard(samples)));
    }
}
