package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Pointer;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuSampleBuilder;
import io.lendstream.core.event.Quality;
import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads one GPU: its identity once, its MIG layout and state at each read.
 *
 * <p>After a repartition a driver reports the old layout for a second or two. A changed layout is therefore accepted
 * only after it has been unchanged for {@link #SETTLE}; until then the previous inventory is reported.
 */
final class GpuReader {
    static final Duration SETTLE = Duration.ofSeconds(2);

    /** Reading the layout takes half of all calls, so reads at shorter intervals use the last result. */
    private static final Duration CUT_EVERY = Duration.ofMillis(900);

    private record Cut(
            MigReader.Seen seen, List<MigReader.Placed> instances, ProfileTable profiles, List<String> troubles) {}

    private final Calls calls;
    private final Calls rareCalls;
    private final int index;
    private final String who;
    private final Pointer handle;
    private final String uuid;
    private final String model;
    private final long memoryBytes;
    private final Optional<String> pciBusId;
    private final Optional<String> computeCapability;
    private final Optional<Gpm> gpm;
    private final MigReader mig;
    private final DeviceValues values;
    private Cut cut;
    private MigReader.Seen latest;
    private Optional<Instant> changedSince = Optional.empty();
    private Optional<Instant> seenAt = Optional.empty();
    private Optional<Gpu> inventory = Optional.empty();

    /** Reads the GPU's identity, and accepts its layout at once: there is no earlier one. */
    GpuReader(Calls calls, int index, Pointer handle, String uuid) throws NvmlException, GpuGoneException {
        this.calls = calls;
        this.rareCalls = new Calls(calls.library(), new Troubles());
        this.index = index;
        this.who = "GPU " + index;
        this.handle = handle;
        this.uuid = uuid;
        this.model = calls.text(who, "nvmlDeviceGetName", handle).orElse("unknown");
        this.memoryBytes = MemoryReading.of(calls, who, handle)
                .map(MemoryReading::totalBytes)
                .orElse(0L);
        this.pciBusId = pciBusId();
        this.computeCapability = computeCapability();
        this.gpm = Gpm.of(calls, who, handle);
        this.mig = new MigReader(calls, who, handle);
        this.values = new DeviceValues(calls, who, handle);
        this.latest = mig.see().orElse(MigReader.Seen.NO_MIG);
        this.cut = cutOf(latest);
    }

    private Optional<String> pciBusId() throws NvmlException, GpuGoneException {
        boolean told = calls.has(who, "nvmlDeviceGetPciInfo_v3", handle, calls.answer());
        String id = told ? calls.answer().getString(36, "UTF-8").strip() : "";
        return id.isEmpty() ? Optional.empty() : Optional.of(id);
    }

    private Optional<String> computeCapability() throws NvmlException, GpuGoneException {
        Pointer minor = calls.answer().share(4);
        return calls.has(who, "nvmlDeviceGetCudaComputeCapability", handle, calls.answer(), minor)
                ? Optional.of("%d.%d".formatted(calls.answer().getInt(0), minor.getInt(0)))
                : Optional.empty();
    }

    String uuid() {
        return uuid;
    }

    int index() {
        return index;
    }

    String who() {
        return who;
    }

    Pointer handle() {
        return handle;
    }

    /** Reads the layout, and determines whether it is changing. */
    boolean follow(Instant now, Xids xids) throws NvmlException, GpuGoneException {
        if (changedSince.isEmpty() && isRecent(now)) {
            return false;
        }
        seenAt = Optional.of(now);
        MigReader.Seen before = latest;
        latest = mig.see().orElse(before); // an unreadable layout counts as unchanged
        if (latest.isPending() != before.isPending()) {
            inventory = Optional.empty();
        }
        if (latest.isCutLike(cut.seen)) {
            changedSince = Optional.empty();
            return false;
        }
        if (!latest.isCutLike(before)
                || changedSince.isEmpty()
                || changedSince.get().isAfter(now)) {
            changedSince = Optional.of(now);
        }
        if (Duration.between(changedSince.get(), now).compareTo(SETTLE) < 0) {
            calls.troubles()
                    .say("%s is being repartitioned; its new layout is reported after %d s without a change"
                            .formatted(who, SETTLE.toSeconds()));
            return true;
        }
        believe(latest, xids);
        return false;
    }

    private boolean isRecent(Instant now) {
        return seenAt.isPresent()
                && !now.isBefore(seenAt.get())
                && Duration.between(seenAt.get(), now).compareTo(CUT_EVERY) < 0;
    }

    private void believe(MigReader.Seen seen, Xids xids) throws NvmlException, GpuGoneException {
        List<MigReader.Placed> before = cut.instances;
        cut = cutOf(seen);
        inventory = Optional.empty();
        changedSince = Optional.empty();
        Set<String> still =
                cut.instances.stream().map(MigReader.Placed::identity).collect(Collectors.toSet());
        before.stream()
                .filter(old -> !still.contains(old.identity()))
                .forEach(old -> xids.forgetInstance(uuid, old.driverId()));
    }

    private Cut cutOf(MigReader.Seen seen) throws NvmlException, GpuGoneException {
        if (!seen.enabled()) {
            return new Cut(seen, List.of(), ProfileTable.NONE, List.of());
        }
        rareCalls.troubles().clear();
        ProfileTable table = ProfileTable.read(rareCalls, who, handle, memoryBytes);
        List<MigReader.Placed> instances = mig.place(rareCalls, seen, uuid, table);
        return new Cut(seen, instances, table, rareCalls.troubles().all());
    }

    /** The problems of the last read of the layout. */
    List<String> troublesOfCut() {
        return cut.troubles;
    }

    /** The inventory of the GPU; the same object while it does not change. */
    Gpu inventory() {
        Gpu now = inventory.orElseGet(this::described);
        inventory = Optional.of(now);
        return now;
    }

    private Gpu described() {
        List<GpuInstance> instances =
                cut.instances.stream().map(MigReader.Placed::instance).toList();
        return new Gpu(
                new GpuId(uuid),
                index,
                model,
                memoryBytes,
                pciBusId,
                cut.seen.enabled(),
                instances,
                false,
                cut.profiles.profiles(),
                computeCapability,
                latest.isPending());
    }

    /** Samples of the GPU, and of its instances. */
    List<GpuSample> samples(Instant now, Xids xids, boolean audible) throws NvmlException, GpuGoneException {
        List<GpuSample> samples = new ArrayList<>();
        GpuSampleBuilder whole = GpuSample.of(new GpuId(uuid));
        values.read(whole, cut.seen.enabled(), now);
        if (gpm.isPresent() && !cut.seen.enabled()) {
            gpm.get().ofGpu(now).ifPresent(activity -> told(whole, activity));
        }
        told(whole, xids.of(uuid, now), audible);
        samples.add(whole.build());
        for (MigReader.Placed placed : cut.instances) {
            Optional<MigReader.MigDevice> device = latest.deviceOf(placed);
            if (device.isPresent()) { // during a repartition, a removed instance has no sample
                samples.add(instance(placed, device.get().handle(), now, xids, audible));
            }
        }
        gpm.ifPresent(Gpm::sweep);
        return samples;
    }

    private GpuSample instance(MigReader.Placed placed, Pointer device, Instant now, Xids xids, boolean audible)
            throws NvmlException, GpuGoneException {
        GpuSampleBuilder sample = GpuSample.of(placed.instance().gpuId());
        MemoryReading.of(calls, who, device)
                .ifPresent(
                        memory -> sample.memoryTotalBytes(memory.totalBytes()).memoryUsedBytes(memory.usedBytes()));
        if (gpm.isPresent()) {
            sample.utilizationQuality(Quality.UNKNOWN); // until there are two samples
            Optional<Gpm.Activity> activity = gpm.get().ofInstance(placed.driverId(), placed.identity(), now);
            activity.flatMap(Gpm.Activity::graphics).ifPresent(sample::utilization);
            activity.ifPresent(each -> told(sample, each));
        }
        told(sample, xids.of(uuid, placed.driverId(), now), audible);
        return sample.build();
    }

    private static void told(GpuSampleBuilder sample, Gpm.Activity activity) {
        activity.sm().ifPresent(sample::smActivity);
        activity.tensor().ifPresent(sample::tensorActivity);
        activity.dram().ifPresent(sample::dramActivity);
        activity.pcie().sent().ifPresent(sample::pcieTxBytesPerSecond);
        activity.pcie().received().ifPresent(sample::pcieRxBytesPerSecond);
        activity.nvlink().sent().ifPresent(sample::nvlinkTxBytesPerSecond);
        activity.nvlink().received().ifPresent(sample::nvlinkRxBytesPerSecond);
    }

    static void told(GpuSampleBuilder sample, Xids.Told xids, boolean audible) {
        xids.last().ifPresent(last -> sample.lastXid(last.number()).lastXidAt(last.at()));
        if (audible) {
            sample.xidsInFiveMinutes(xids.inWindow());
        }
    }

    /** The computing processes; empty if the driver does not report them. */
    Optional<List<RunningProcess>> processes() throws NvmlException, GpuGoneException {
        Map<Integer, GpuId> instances = new HashMap<>();
        cut.instances.forEach(
                placed -> instances.put(placed.driverId(), placed.instance().gpuId()));
        return ComputeProcesses.of(calls, who, handle, new GpuId(uuid), instances);
    }

    void close() {
        gpm.ifPresent(Gpm::close);
    }
}
