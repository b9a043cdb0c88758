package io.lendstream.core.mig;

import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A size of GPU instance that a GPU offers, as NVML and {@code nvidia-smi mig -lgip -lgipp} list it.
 *
 * @param name such as {@code 3g.40gb}
 * @param id by which it is created; differs between families of GPUs
 * @param computeSlices of the GPU's seven (four on A30)
 * @param memorySlices of the GPU's eight (four on A30); instances must not share them
 * @param memoryGib usable memory; empty if not known
 * @param sms streaming multiprocessors; empty if not known
 * @param starts memory slices at which it may begin, in ascending order
 * @param most how many a GPU may have
 * @see <a href="https://docs.nvidia.com/datacenter/tesla/mig-user-guide/">NVIDIA Multi-Instance GPU User Guide</a>
 */
public record MigProfile(
        String name,
        int id,
        int computeSlices,
        int memorySlices,
        OptionalDouble memoryGib,
        OptionalInt sms,
        List<Integer> starts,
        int most) {
    public MigProfile {
        starts = List.copyOf(starts);
        if (computeSlices < 1 || memorySlices < 1 || most < 1) {
            throw new IllegalArgumentException(
                    "MIG profile %s must have at least 1 compute slice, memory slice and instance, but has %d, %d and %d"
                            .formatted(name, computeSlices, memorySlices, most));
        }
        if (starts.isEmpty()) {
            throw new IllegalArgumentException(
                    "MIG profile %s must have a place to begin at, but has none".formatted(name));
        }
    }

    /**
     * Whether it has NVDEC, JPEG and OFA engines beside its compute slices: {@code +me}. A GPU has one such instance.
     */
    public boolean hasMediaEngines() {
        return name.endsWith("+me");
    }

    /** The memory slices that it covers from a start, as bits. */
    int bits(int start) {
        return ((1 << memorySlices) - 1) << start;
    }
}
