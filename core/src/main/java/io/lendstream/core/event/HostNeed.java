package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import java.util.Optional;

/**
 * The CPU and host memory that a job needs for each of its GPUs. Without a need it gets the share of each GPU in its
 * node.
 *
 * @param cpuMillisPerGpu in thousandths of a core
 */
public record HostNeed(Optional<Long> cpuMillisPerGpu, Optional<Long> memoryBytesPerGpu) {
    /** The share of each GPU in its node. */
    public static final HostNeed USUAL = new HostNeed(Optional.empty(), Optional.empty());

    public HostNeed {
        cpuMillisPerGpu.ifPresent(millis -> Checks.atLeast("cpuMillisPerGpu", 1, millis));
        memoryBytesPerGpu.ifPresent(bytes -> Checks.atLeast("memoryBytesPerGpu", 1, bytes));
    }

    /** Both declared. */
    public static HostNeed of(long cpuMillisPerGpu, long memoryBytesPerGpu) {
        return new HostNeed(Optional.of(cpuMillisPerGpu), Optional.of(memoryBytesPerGpu));
    }

    /** Whether nothing is declared. */
    public boolean isUsual() {
        return cpuMillisPerGpu.isEmpty() && memoryBytesPerGpu.isEmpty();
    }
}
