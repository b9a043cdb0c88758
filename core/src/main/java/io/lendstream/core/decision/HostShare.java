package io.lendstream.core.decision;

/**
 * The CPU and host memory of a job for each of its GPUs. It is the same for all of them, because the processes of a job
 * are alike.
 *
 * @param cpuMillis in thousandths of a core; 0 if it is not limited
 * @param memoryBytes 0 if it is not limited
 */
public record HostShare(long cpuMillis, long memoryBytes) {
    public HostShare {
        if (cpuMillis < 0 || memoryBytes < 0) {
            throw new IllegalArgumentException(
                    "shares of a host must be at least 0, but were %d and %d".formatted(cpuMillis, memoryBytes));
        }
    }
}
