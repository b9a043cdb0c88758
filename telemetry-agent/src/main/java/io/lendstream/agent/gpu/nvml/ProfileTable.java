package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.lendstream.core.event.InstanceProfile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The sizes of MIG instances that a GPU offers, as its driver reports them.
 *
 * @param names by the driver's profile ID
 * @param profiles profiles with known positions
 */
record ProfileTable(Map<Integer, String> names, List<InstanceProfile> profiles) {
    static final ProfileTable NONE = new ProfileTable(Map.of(), List.of());

    /** NVML numbers the kinds of profiles; a GPU's own names and IDs for them differ. */
    private static final int KINDS = 0x12;

    /** The name ending of each kind, for drivers too old to report names. */
    private static final Map<Integer, String> SUFFIXES = Map.of(
            0x7, "+me", 0x8, "+me", 0xA, "+gfx", 0xB, "+gfx", 0xC, "+gfx", 0xD, "-me", 0xE, "-me", 0xF, "+me.all", 0x10,
            "+me.all", 0x11, "+gfx");

    private static final int NAMED_BYTES = 152;
    private static final int NAMED_VERSION = NAMED_BYTES | 2 << 24;
    private static final long PLACEMENTS_AT = 256;
    private static final int MOST_PLACEMENTS = 64;
    private static final long MIB = 1L << 20;
    private static final double GIB = 1L << 30;

    /** One row from NVML, without the positions of such an instance. */
    private record Row(int id, int computeSlices, int most, int multiprocessors, long memoryMib, String name) {}

    static ProfileTable read(Calls calls, String who, Pointer gpu, long gpuMemoryBytes)
            throws NvmlException, GpuGoneException {
        Map<Integer, String> names = new HashMap<>();
        List<InstanceProfile> profiles = new ArrayList<>();
        for (int kind = 0; kind < KINDS; kind++) {
            Optional<Row> row = row(calls, who, gpu, kind, gpuMemoryBytes);
            if (row.isPresent()) {
                names.put(row.get().id, row.get().name);
                placed(calls, who, gpu, row.get()).ifPresent(profiles::add);
            }
        }
        return new ProfileTable(Map.copyOf(names), List.copyOf(profiles));
    }

    private static Optional<Row> row(Calls calls, String who, Pointer gpu, int kind, long gpuMemoryBytes)
            throws NvmlException, GpuGoneException {
        Memory info = calls.answer();
        info.clear(NAMED_BYTES);
        info.setInt(0, NAMED_VERSION);
        if (calls.has(who, "nvmlDeviceGetGpuInstanceProfileInfoV", gpu, kind, info)) {
            String name = info.getString(56, StandardCharsets.UTF_8.name()).strip();
            return Optional.of(row(info, 4, name.replaceFirst("^MIG ", ""), kind, gpuMemoryBytes));
        }
        if (calls.has(who, "nvmlDeviceGetGpuInstanceProfileInfo", gpu, kind, info)) {
            return Optional.of(row(info, 0, "", kind, gpuMemoryBytes));
        }
        return Optional.empty();
    }

    /** Both layouts are equal except for a version in front and a name at the end. */
    private static Row row(Memory info, long at, String name, int kind, long gpuMemoryBytes) {
        int slices = info.getInt(at + 8);
        long mib = info.getLong(at == 0 ? 40 : 48);
        return new Row(
                info.getInt(at),
                slices,
                info.getInt(at + 12),
                info.getInt(at + 16),
                mib,
                name.isEmpty() ? named(slices, mib, gpuMemoryBytes) + SUFFIXES.getOrDefault(kind, "") : name);
    }

    /** A name as NVIDIA's tools build it: memory in eighths of the GPU's, rounded up. */
    static String named(int slices, long memoryMib, long gpuMemoryBytes) {
        double eighths = Math.ceil(memoryMib * MIB * 8.0 / gpuMemoryBytes);
        return "%dg.%dgb".formatted(slices, Math.round(eighths / 8 * Math.ceil(gpuMemoryBytes / GIB)));
    }

    private static Optional<InstanceProfile> placed(Calls calls, String who, Pointer gpu, Row row)
            throws NvmlException, GpuGoneException {
        Memory answer = calls.answer();
        Pointer placements = answer.share(PLACEMENTS_AT);
        answer.setInt(0, MOST_PLACEMENTS);
        String function = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
        if (!calls.has(who, function, gpu, row.id, placements, answer)) {
            return Optional.empty();
        }
        int count = Math.min(answer.getInt(0), MOST_PLACEMENTS);
        List<Integer> starts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            starts.add(placements.getInt(8L * i));
        }
        try {
            return Optional.of(new InstanceProfile(
                    row.name,
                    row.id,
                    row.computeSlices,
                    placements.getInt(4),
                    row.memoryMib * MIB,
                    row.multiprocessors,
                    starts,
                    row.most));
        } catch (IllegalArgumentException e) { // an unknown kind of GPU
            calls.troubles().say("%s: MIG profile %s is left out: %s".formatted(who, row.name, e.getMessage()));
            return Optional.empty();
        }
    }
}
