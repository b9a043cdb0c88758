package io.lendstream.actuator.jobs;

import io.lendstream.core.id.GpuId;

/**
 * A place for one worker process.
 *
 * @param device what {@code CUDA_VISIBLE_DEVICES} names it by: a GPU's or a MIG instance's uuid, or an index
 */
public record Slot(GpuId gpu, String device) {
    public Slot {
        if (device.isBlank() || device.indexOf(',') >= 0 || device.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "a slot's device names one GPU or instance, but was '%s'".formatted(device));
        }
    }
}
