package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads a GPU's MIG layout. Instances without a compute instance cannot be used and are ignored. */
final class MigReader {
    private static final int MIG_ENABLED = 1;

    /**
     * The MIG devices of a GPU at one time: each is a compute instance. Handles are valid until the layout changes.
     *
     * @param isPending whether the mode changes at the next reset
     */
    record Seen(boolean enabled, boolean isPending, List<MigDevice> devices) {
        static final Seen NO_MIG = new Seen(false, false, List.of());

        /** Whether the layout is the same as at another time; handles may differ. */
        boolean isCutLike(Seen other) {
            return enabled == other.enabled && identities().equals(other.identities());
        }

        private List<String> identities() {
            return devices.stream()
                    .map(device -> device.gpuInstance + "/" + device.computeInstance + "/" + device.uuid)
                    .toList();
        }

        /** The device handle of an instance, if the instance still exists. */
        Optional<MigDevice> deviceOf(Placed placed) {
            return devices.stream()
                    .filter(device -> device.gpuInstance == placed.driverId())
                    .filter(device -> placed.identity().contains(device.uuid))
                    .findFirst();
        }
    }

    record MigDevice(int gpuInstance, int computeInstance, String uuid, Pointer handle) {}

    /**
     * An instance.
     *
     * @param identity UUIDs of its compute instances, which distinguish it from another one with the same number
     */
    record Placed(GpuInstance instance, int driverId, String identity) {}

    private final Calls calls;
    private final String who;
    private final Pointer gpu;
    private final Map<String, MigDevice> known = new HashMap<>();

    MigReader(Calls calls, String who, Pointer gpu) {
        this.calls = calls;
        this.who = who;
        this.gpu = gpu;
    }

    /** The layout; empty if the driver does not report it now, for example while another client uses it. */
    Optional<Seen> see() throws NvmlException, GpuGoneException {
        Memory answer = calls.answer();
        Code code = calls.call(who, "nvmlDeviceGetMigMode", gpu, answer, answer.share(4));
        if (!code.isSuccess()) {
            return code.meaning() == Code.Meaning.ABSENT ? Optional.of(Seen.NO_MIG) : Optional.empty();
        }
        boolean enabled = answer.getInt(0) == MIG_ENABLED;
        boolean pending = answer.getInt(0) != answer.getInt(4);
        List<MigDevice> devices = new ArrayList<>();
        Optional<Long> most = enabled ? calls.unsigned(who, "nvmlDeviceGetMaxMigDeviceCount", gpu) : Optional.of(0L);
        if (most.isEmpty()) {
            return Optional.empty();
        }
        for (int i = 0; i < most.get(); i++) {
            Optional<Pointer> handle = calls.handle(who, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, i);
            if (handle.isPresent()) {
                device(handle.get()).ifPresent(devices::add);
            }
        }
        known.values().retainAll(devices);
        return Optional.of(new Seen(enabled, pending, List.copyOf(devices)));
    }

    /** A UUID belongs to one compute instance for its lifetime, so its numbers are read once. */
    private Optional<MigDevice> device(Pointer handle) throws NvmlException, GpuGoneException {
        Optional<String> uuid = calls.text(who, "nvmlDeviceGetUUID", handle);
        MigDevice before = uuid.map(known::get).orElse(null);
        if (before != null && before.handle().equals(handle)) {
            return Optional.of(before);
        }
        Optional<Long> gi = calls.unsigned(who, "nvmlDeviceGetGpuInstanceId", handle);
        Optional<Long> ci = calls.unsigned(who, "nvmlDeviceGetComputeInstanceId", handle);
        if (gi.isEmpty() || ci.isEmpty() || uuid.isEmpty()) {
            return Optional.empty();
        }
        var device = new MigDevice(gi.get().intValue(), ci.get().intValue(), uuid.get(), handle);
        known.put(uuid.get(), device);
        return Optional.of(device);
    }

    /** The position of each instance; instances that this user may not see are left out, which is reported. */
    List<Placed> place(Calls calls, Seen seen, String uuid, ProfileTable table) throws NvmlException, GpuGoneException {
        Map<Integer, List<MigDevice>> byInstance = new TreeMap<>();
        seen.devices()
                .forEach(device -> byInstance
                        .computeIfAbsent(device.gpuInstance(), added -> new ArrayList<>())
                        .add(device));
        List<Placed> placed = new ArrayList<>();
        for (Map.Entry<Integer, List<MigDevice>> each : byInstance.entrySet()) {
            place(calls, each.getKey(), each.getValue(), uuid, table).ifPresent(placed::add);
        }
        placed.sort(Comparator.comparingInt(each -> each.instance().start()));
        if (placed.size() < byInstance.size()) {
            calls.troubles()
                    .say(
                            "%s: the driver does not report the positions of %d of its %d MIG instances, so they are left out. The agent needs the driver's capability mig/monitor: in a container NVIDIA_MIG_MONITOR_DEVICES=all, for which it must have CAP_SYS_ADMIN (the chart's agent.migMonitor); elsewhere root, or the device in /dev/nvidia-caps that docs/agent.md names."
                                    .formatted(who, byInstance.size() - placed.size(), byInstance.size()));
        }
        return List.copyOf(placed);
    }

    private Optional<Placed> place(Calls calls, int id, List<MigDevice> devices, String uuid, ProfileTable table)
            throws NvmlException, GpuGoneException {
        Optional<Pointer> instance = calls.handle(who, "nvmlDeviceGetGpuInstanceById", gpu, id);
        Memory info = calls.answer();
        if (instance.isEmpty() || !calls.has(who, "nvmlGpuInstanceGetInfo", instance.get(), info)) {
            return Optional.empty();
        }
        int profile = info.getInt(12);
        int start = info.getInt(16);
        int size = info.getInt(20);
        MigDevice first = devices.get(0);
        Optional<MigDevice> only = devices.size() == 1 ? Optional.of(first) : Optional.empty();
        long memory = MemoryReading.of(calls, who, first.handle())
                .map(MemoryReading::totalBytes)
                .orElse(0L);
        return Optional.of(new Placed(
                new GpuInstance(
                        new GpuId("%s/%d:%d".formatted(uuid, start, size)),
                        table.names().getOrDefault(profile, "profile-" + profile),
                        start,
                        size,
                        memory,
                        only.map(MigDevice::uuid),
                        Optional.of(id),
                        only.map(MigDevice::computeInstance)),
                id,
                devices.stream().map(MigDevice::uuid).collect(Collectors.joining(" "))));
    }
}
