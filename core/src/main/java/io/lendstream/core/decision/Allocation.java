package io.lendstream.core.decision;

import io.lendstream.core.id.GpuId;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * All that a job runs with after a decision: every decision that changes a job carries the whole of it.
 *
 * @param gpus all GPUs of the job, sorted; empty when it is suspended
 * @param localBatch batch of one replica and step, in samples; 0 when suspended
 * @param accumulation gradient accumulation steps before a synchronised one
 * @param learningRateScale factor on the learning rate tuned for the initial batch
 * @param host CPU and host memory for each GPU; empty if they are not limited
 */
public record Allocation(
        List<GpuId> gpus,
        int localBatch,
        int accumulation,
        double learningRateScale,
        Mechanism mechanism,
        Optional<HostShare> host) {
    public Allocation {
        gpus = GpuId.sorted(gpus);
    }

    /** An allocation that does not limit CPU and host memory. */
    public Allocation(
            List<GpuId> gpus, int localBatch, int accumulation, double learningRateScale, Mechanism mechanism) {
        this(gpus, localBatch, accumulation, learningRateScale, mechanism, Optional.empty());
    }

    /** The same in which two units stand for each other. */
    public Allocation exchanging(GpuId one, GpuId other) {
        return on(GpuId.exchanged(gpus, one, other));
    }

    /** The same by other names of its GPUs. */
    public Allocation renamed(UnaryOperator<GpuId> names) {
        return on(gpus.stream().map(names).toList());
    }

    public static Allocation suspended(Mechanism mechanism) {
        return new Allocation(List.of(), 0, 0, 1.0, mechanism);
    }

    /** The same on some of its GPUs. */
    public Allocation on(List<GpuId> some) {
        return new Allocation(some, localBatch, accumulation, learningRateScale, mechanism, host);
    }

    /** The same with other CPU and host memory, which is changed in place. */
    public Allocation with(HostShare share) {
        return new Allocation(gpus, localBatch, accumulation, learningRateScale, Mechanism.AFE, Optional.of(share));
    }

    /** Whether the job is paused in host memory. */
    public boolean isPaused() {
        return gpus.isEmpty() && mechanism == Mechanism.PAUSE;
    }
}
