package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.Slot;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The slots in which processes run, with the CUDA names of their devices. */
final class DeviceSlots {
    private DeviceSlots() {}

    /**
     * Creates a slot for each unit, in order.
     *
     * @throws Programs.ProgramException if CUDA could not find a unit's device
     */
    static List<Slot> of(List<GpuId> units, ClusterLookup surroundings) throws Programs.ProgramException {
        List<Slot> slots = new ArrayList<>();
        for (GpuId unit : units) {
            slots.add(of(unit, surroundings));
        }
        return slots;
    }

    private static Slot of(GpuId unit, ClusterLookup surroundings) throws Programs.ProgramException {
        boolean isWhole = unit.value().indexOf('/') < 0;
        String device = surroundings
                .device(unit)
                .flatMap(Device::name)
                .or(() -> isWhole ? Optional.of(unit.value()) : Optional.empty())
                .orElseThrow(() -> Programs.ProgramException.ofUnits(
                        ("%s is a MIG instance without a UUID in the inventory, which CUDA needs to find it;"
                                        + " let the node's agent report it, or use the command or webhook driver")
                                .formatted(unit)));
        try {
            return new Slot(unit, device);
        } catch (IllegalArgumentException e) {
            throw Programs.ProgramException.ofUnits(String.valueOf(e.getMessage()));
        }
    }

    /** The units of some slots. */
    static List<GpuId> units(List<Slot> slots) {
        return slots.stream().map(Slot::gpu).toList();
    }
}
