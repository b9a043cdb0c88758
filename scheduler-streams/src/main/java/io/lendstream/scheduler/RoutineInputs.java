package io.lendstream.scheduler;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.NodeId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Tells which records of other tasks' domains can wait for the next regular commit, because decisions that they lead to
 * may come a second later: samples that repeat what the node's sample before said of errors and users, progress of
 * running jobs, and forecasts. It only affects when they are committed, so it may be forgotten.
 */
final class RoutineInputs {
    /** Nodes that are remembered; the samples of any others are committed soon. */
    private static final int MOST_NODES = 20_000;

    /** What the last sample of a node said of errors and users, as a hash. */
    private final Map<NodeId, Integer> samples = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<NodeId, Integer> eldest) {
            return size() > MOST_NODES;
        }
    };

    /** Whether an event can wait; remembers it if it is a sample. */
    boolean isRoutine(Event event) {
        if (event instanceof GpuTelemetry telemetry) {
            int said = said(telemetry);
            return Objects.equals(samples.put(telemetry.nodeId(), said), said);
        }
        return event.asForecast().isPresent()
                || (event instanceof TrainingProgress progress && progress.phase() == JobPhase.RUNNING);
    }

    private static int said(GpuTelemetry telemetry) {
        int said = Objects.hash(telemetry.domain(), telemetry.bootId());
        for (GpuSample gpu : telemetry.gpus()) {
            said = 31 * said
                    + Objects.hash(
                            gpu.gpuId(), gpu.errors().lastXid(), gpu.errors().lastXidAt(), gpu.usedBy());
        }
        return said;
    }
}
