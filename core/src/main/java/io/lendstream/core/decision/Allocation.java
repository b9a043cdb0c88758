package io.lendstream.core.decision;

import io.lendstream.core.id.GpuId;
import java.util.List;

/**
 * All that a job runs with after a decision: every decision that changes a job carries the whole of it.
 *
 * @param gpus all GPUs of the job, sorted; empty when it is suspended
 * @param localBatch batch of one replica and step, in samples; 0 when suspended
 * @param accumulation gradient accumulation steps before a synchronised one
 * @param learningRateScale factor on the learning rate tuned for the initial batch
 */
public record Allocation(
        List<GpuId> gpus, int localBatch, int accumulation, double learningRateScale, Mechanism mechanism) {
    public Allocation {
        gpus = GpuId.sorted(gpus);
    }

    public static Allocation suspended(Mechanism mechanism) {
        return new Allocation(List.of(), 0, 0, 1.0, mechanism);
    }
}
