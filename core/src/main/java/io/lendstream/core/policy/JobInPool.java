package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import java.util.List;

/**
 * A job as a policy sees it in a part of the cluster: it holds only its GPUs in that part.
 *
 * @param gpus those of its GPUs that are in the part
 */
public record JobInPool(JobView whole, List<GpuId> gpus) implements WrappedJob {
    public JobInPool {
        gpus = List.copyOf(gpus);
    }
}
