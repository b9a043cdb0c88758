package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;

/**
 * A place for one worker process.
 *
 * @param device name for {@code CUDA_VISIBLE_DEVICES}: UUID of a GPU or a MIG instance, or an index
 */
public record Slot(GpuId gpu, String device) {
    public Slot {
        if (device.isBlank() || device.indexOf(',') >= 0 || device.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "a slot's device must be one GPU or instance, but is '%s'".formatted(device));
        }
    }
}
