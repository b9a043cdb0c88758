package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import java.time.Instant;
import java.util.List;

/**
 * One node's sample: its GPUs and MIG instances at one moment.
 *
 * @param sequence 1, 2, 3, ... since the agent's boot
 */
public record GpuTelemetry(
        NodeId nodeId, DomainId domain, String bootId, long sequence, Instant at, List<GpuSample> gpus)
        implements Event {
    public GpuTelemetry {
        Checks.atLeast("sequence", 0, sequence);
        gpus = List.copyOf(gpus);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.telemetry(this);
    }
}
