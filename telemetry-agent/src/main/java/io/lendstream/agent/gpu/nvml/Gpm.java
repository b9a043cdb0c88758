package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Activity of one GPU, or of each of its MIG instances, by NVIDIA's GPU performance monitoring (Hopper and later). It
 * takes two samples, so the first read of a device only stores one. It starts again if the last sample is too old, if
 * time went backwards, and if another instance has the same number.
 */
final class Gpm {
    /** The driver refreshes its counters every 100 ms; closer samples have no result. */
    static final Duration SHORTEST = Duration.ofMillis(100);

    /** An average over a longer time does not describe the present. */
    static final Duration LONGEST = Duration.ofMinutes(5);

    private static final int[] METRICS = {1, 2, 5, 10, 20, 21, 61, 60};
    private static final long METRICS_AT = 24;
    private static final long METRIC_BYTES = 40;
    private static final double MIB = 1L << 20;

    /**
     * The length of the metrics table differs between drivers; the newest known one has 477 entries, of which we use
     * the first.
     */
    private static final long ROOM = METRICS_AT + 1024 * METRIC_BYTES;

    /** Fractions of time or capacity, and bytes per second; each empty if the device does not report it. */
    record Activity(
            Optional<Double> graphics,
            Optional<Double> sm,
            Optional<Double> tensor,
            Optional<Double> dram,
            Traffic pcie,
            Traffic nvlink) {}

    /** Bytes per second of a link, in both directions. */
    record Traffic(Optional<Double> sent, Optional<Double> received) {}

    /** The last sample, a buffer for the next one, and the previous result. */
    private static final class Window {
        private final String identity;
        private Pointer last;
        private Pointer next;
        private Instant at;
        private Optional<Activity> activity = Optional.empty();

        Window(String identity, Pointer last, Pointer next, Instant at) {
            this.identity = identity;
            this.last = last;
            this.next = next;
            this.at = at;
        }
    }

    private final Calls calls;
    private final String who;
    private final Pointer gpu;
    private final Memory request = new Memory(ROOM);
    private final Map<Integer, Window> windows = new HashMap<>();
    private final Set<Integer> asked = new HashSet<>();

    private Gpm(Calls calls, String who, Pointer gpu) {
        this.calls = calls;
        this.who = who;
        this.gpu = gpu;
        request.clear();
    }

    /** Empty if the GPU does not support it. */
    static Optional<Gpm> of(Calls calls, String who, Pointer gpu) throws NvmlException, GpuGoneException {
        Memory answer = calls.answer();
        answer.clear(8);
        answer.setInt(0, 1);
        return calls.has(who, "nvmlGpmQueryDeviceSupport", gpu, answer) && answer.getInt(4) == 1
                ? Optional.of(new Gpm(calls, who, gpu))
                : Optional.empty();
    }

    /** The activity of the whole GPU since the last call; not with MIG. */
    Optional<Activity> ofGpu(Instant now) throws NvmlException, GpuGoneException {
        return read(OptionalInt.empty(), "", now);
    }

    /** The activity of a MIG instance, by its number and the UUID that distinguishes it from an earlier instance. */
    Optional<Activity> ofInstance(int instance, String uuid, Instant now) throws NvmlException, GpuGoneException {
        return read(OptionalInt.of(instance), uuid, now);
    }

    private Optional<Activity> read(OptionalInt instance, String identity, Instant now)
            throws NvmlException, GpuGoneException {
        int key = instance.orElse(-1);
        asked.add(key);
        Window window = windows.get(key);
        if (window == null || !window.identity.equals(identity)) {
            seed(key, instance, identity, now);
            return Optional.empty();
        }
        Duration length = Duration.between(window.at, now);
        if (!length.isNegative() && length.compareTo(SHORTEST) < 0) {
            return window.activity;
        }
        if (!take(instance, window.next)) {
            drop(key);
            return Optional.empty();
        }
        window.activity = length.isNegative() || length.compareTo(LONGEST) > 0
                ? Optional.empty()
                : between(window.last, window.next);
        Pointer free = window.last;
        window.last = window.next;
        window.next = free;
        window.at = now;
        return window.activity;
    }

    private void seed(int key, OptionalInt instance, String identity, Instant now)
            throws NvmlException, GpuGoneException {
        drop(key);
        Optional<Pointer> first = allocated();
        Optional<Pointer> second = allocated();
        if (first.isPresent() && second.isPresent() && take(instance, first.get())) {
            windows.put(key, new Window(identity, first.get(), second.get(), now));
        } else {
            first.ifPresent(this::free);
            second.ifPresent(this::free);
        }
    }

    private Optional<Pointer> allocated() throws NvmlException, GpuGoneException {
        var sample = new PointerByReference();
        return calls.has(who, "nvmlGpmSampleAlloc", sample) ? Optional.of(sample.getValue()) : Optional.empty();
    }

    private boolean take(OptionalInt instance, Pointer sample) throws NvmlException, GpuGoneException {
        return instance.isPresent()
                ? calls.has(who, "nvmlGpmMigSampleGet", gpu, instance.getAsInt(), sample)
                : calls.has(who, "nvmlGpmSampleGet", gpu, sample);
    }

    private Optional<Activity> between(Pointer first, Pointer second) throws NvmlException, GpuGoneException {
        request.setInt(0, 1);
        request.setInt(4, METRICS.length);
        request.setPointer(8, first);
        request.setPointer(16, second);
        for (int i = 0; i < METRICS.length; i++) {
            request.setInt(METRICS_AT + i * METRIC_BYTES, METRICS[i]);
        }
        if (!calls.has(who, "nvmlGpmMetricsGet", request)) {
            return Optional.empty();
        }
        var pcie = new Traffic(bytes(4), bytes(5));
        var nvlink = new Traffic(bytes(6), bytes(7));
        return Optional.of(new Activity(share(0), share(1), share(2), share(3), pcie, nvlink));
    }

    private Optional<Double> metric(int place) {
        long at = METRICS_AT + place * METRIC_BYTES;
        double value = request.getDouble(at + 8);
        return request.getInt(at + 4) == 0 && value >= 0 && Double.isFinite(value)
                ? Optional.of(value)
                : Optional.empty();
    }

    private Optional<Double> share(int place) {
        return metric(place).map(percent -> Math.min(1, percent / 100));
    }

    private Optional<Double> bytes(int place) {
        return metric(place).map(mebibytes -> mebibytes * MIB);
    }

    /** Frees the samples of instances without a call since the last cleanup: they no longer exist. */
    void sweep() {
        for (int key : Set.copyOf(windows.keySet())) {
            if (!asked.contains(key)) {
                drop(key);
            }
        }
        asked.clear();
    }

    /** Frees all samples. */
    void close() {
        Set.copyOf(windows.keySet()).forEach(this::drop);
    }

    private void drop(int key) {
        Window window = windows.remove(key);
        if (window != null) {
            free(window.last);
            free(window.next);
        }
    }

    private void free(Pointer sample) {
        calls.library().call("nvmlGpmSampleFree", sample);
    }
}
