package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;

/**
 * Undoes an adoption that did not succeed, or was not answered: what runs there goes on, and the unit is foreign again
 * until its agent has said more. No decision is made, so that nothing is stopped.
 */
record AdoptionFailure(StepBuilder builder, InventoryApplier inventory) {
    /** Undoes it for a unit; of a job for all of its units. */
    void undo(GpuState gpu, Owner.Binding binding) {
        builder.invalidatePlan();
        builder.own(gpu.gpuId(), inventory.unseen());
        binding.tenant().jobId().flatMap(builder.jobs()::get).ifPresent(this::undo);
    }

    private void undo(JobState job) {
        for (GpuId id : job.allocation().gpus()) {
            builder.gpus()
                    .get(id)
                    .filter(gpu -> gpu.owner().isAdoption()
                            && gpu.isHeldBy(new Tenant.Job(job.spec().job())))
                    .ifPresent(gpu -> builder.own(id, inventory.unseen()));
        }
        builder.put(job.notAdopted());
    }
}
