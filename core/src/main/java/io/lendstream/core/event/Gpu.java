package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigGpu;
import java.util.List;
import java.util.Optional;

/**
 * A GPU of a node's inventory.
 *
 * @param index its number on the node, from 0
 * @param model the product name as NVML gives it
 * @param migEnabled whether it is cut into MIG instances; then only {@code instances} can be lent, not the GPU
 * @param migSwitchable whether MIG mode may be switched on and off here; where it may not, the GPU stays as it is
 * @param migProfiles sizes of instances that its driver offers; none if not known
 * @param computeCapability CUDA's, such as {@code 9.0}, where known
 * @param migPending whether MIG mode is to change with the GPU's next reset
 */
public record Gpu(
        GpuId gpuId,
        int index,
        String model,
        long memoryBytes,
        Optional<String> pciBusId,
        boolean migEnabled,
        List<GpuInstance> instances,
        boolean migSwitchable,
        List<InstanceProfile> migProfiles,
        Optional<String> computeCapability,
        boolean migPending) {
    public Gpu {
        Checks.atLeast("index", 0, index);
        Checks.atLeast("memoryBytes", 0, memoryBytes);
        instances = List.copyOf(instances);
        migProfiles = List.copyOf(migProfiles);
    }

    /** One of which it is not known what it can compute. */
    public Gpu(
            GpuId gpuId,
            int index,
            String model,
            long memoryBytes,
            Optional<String> pciBusId,
            boolean migEnabled,
            List<GpuInstance> instances,
            boolean migSwitchable,
            List<InstanceProfile> migProfiles) {
        this(
                gpuId,
                index,
                model,
                memoryBytes,
                pciBusId,
                migEnabled,
                instances,
                migSwitchable,
                migProfiles,
                Optional.empty(),
                false);
    }

    /** A whole GPU without MIG. */
    public static Gpu whole(GpuId gpuId, int index, String model, long memoryBytes) {
        return new Gpu(gpuId, index, model, memoryBytes, Optional.empty(), false, List.of(), false, List.of());
    }

    /** The same in MIG mode with instances. */
    public Gpu cutInto(List<GpuInstance> cut) {
        return changed(true, cut, migSwitchable);
    }

    /** The same without MIG. */
    public Gpu uncut() {
        return changed(false, List.of(), migSwitchable);
    }

    /** The same where MIG mode may be switched on and off. */
    public Gpu switchable() {
        return changed(migEnabled, instances, true);
    }

    private Gpu changed(boolean mig, List<GpuInstance> cut, boolean switchable) {
        return new Gpu(
                gpuId,
                index,
                model,
                memoryBytes,
                pciBusId,
                mig,
                cut,
                switchable,
                migProfiles,
                computeCapability,
                migPending);
    }

    /** Whether it is in MIG mode or may be brought into it. */
    public boolean isCuttable() {
        return migEnabled || migSwitchable;
    }

    /** The ways to cut it, from its driver or from the table of known kinds; empty if both have none. */
    public Optional<MigGpu> kind() {
        return MigGpu.reported(
                model,
                memoryBytes,
                migProfiles.stream().map(InstanceProfile::migProfile).toList());
    }

    /** The compute slices of a MIG profile, as a share of those of the GPU; empty if the profile is not known. */
    public Optional<Double> computeShare(String profile) {
        return kind().flatMap(mig ->
                mig.profile(profile).map(instance -> (double) instance.computeSlices() / mig.computeSlices()));
    }

    /** An instance in GPUs: its compute slices, or its memory if its profile is not known. */
    public double share(GpuInstance instance) {
        double byMemory = memoryBytes > 0 ? (double) instance.memoryBytes() / memoryBytes : 1;
        return computeShare(instance.profile()).orElse(Math.min(1, byMemory));
    }
}
