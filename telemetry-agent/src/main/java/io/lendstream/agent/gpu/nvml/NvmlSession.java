package io.lendstream.agent.gpu.nvml;

import com.sun.jna.Pointer;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuSampleBuilder;
import io.lendstream.core.event.Quality;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** NVML between initialisation and shutdown. For one thread; another thread listens for XID errors. */
final class NvmlSession {
    private final Library library;
    private final Xids xids;
    private final Troubles troubles = new Troubles();
    private final Calls calls;
    private final Optional<String> driverVersion;
    private final int count;
    private final List<GpuReader> readers = new ArrayList<>();
    private final Map<Integer, String> lost = new TreeMap<>();
    private final List<String> lastingTroubles;
    private final List<String> audible = new ArrayList<>();
    private final Optional<XidListener> listener;

    private NvmlSession(Library library, Xids xids) throws NvmlException {
        this.library = library;
        this.xids = xids;
        this.calls = new Calls(library, troubles);
        try {
            this.driverVersion = calls.text("driver", "nvmlSystemGetDriverVersion");
            this.count =
                    calls.unsigned("driver", "nvmlDeviceGetCount_v2").orElse(0L).intValue();
        } catch (GpuGoneException e) { // GPU_NOT_FOUND: the machine has none
            throw new NvmlException("NVML finds no GPU: " + e.getMessage());
        }
        for (int index = 0; index < count; index++) {
            open(index);
        }
        Map<Pointer, String> uuids = new HashMap<>();
        readers.forEach(reader -> uuids.put(reader.handle(), reader.uuid()));
        this.listener = readers.isEmpty() ? Optional.empty() : XidListener.listenTo(library, uuids, audible, troubles);
        this.lastingTroubles = troubles.all();
    }

    /**
     * Loads and initialises NVML, and lists the GPUs.
     *
     * @throws NvmlException if that fails now; all resources are then released
     */
    static NvmlSession open(List<String> libraries, Xids xids) throws NvmlException {
        Library library = Library.load(libraries);
        Code code = library.call("nvmlInit_v2");
        if (!code.isSuccess()) {
            library.close();
            throw new NvmlException("NVML cannot be initialised: " + code);
        }
        try {
            return new NvmlSession(library, xids);
        } catch (NvmlException | RuntimeException e) {
            library.call("nvmlShutdown");
            library.close();
            throw e;
        }
    }

    private void open(int index) throws NvmlException {
        String who = "GPU " + index;
        try {
            Optional<Pointer> handle = calls.handle(who, "nvmlDeviceGetHandleByIndex_v2", index);
            Optional<String> uuid =
                    handle.isPresent() ? calls.text(who, "nvmlDeviceGetUUID", handle.get()) : Optional.empty();
            if (uuid.isPresent()) {
                readers.add(new GpuReader(calls, index, handle.get(), uuid.get()));
            } else {
                troubles.say(who + " is left out: the driver does not report its UUID");
            }
        } catch (GpuGoneException e) {
            lost.put(index, goneMessage(who, e));
        }
    }

    private static String goneMessage(String who, GpuGoneException e) {
        return "%s does not answer: %s. It is left out; reset the GPU, or restart the machine."
                .formatted(who, e.code());
    }

    boolean hasLostGpus() {
        return !lost.isEmpty();
    }

    /**
     * Reads once.
     *
     * @param withProcesses whether to read the computing processes
     */
    Readings look(Instant now, boolean withProcesses) throws NvmlException {
        troubles.clear();
        expectAsManyGpus();
        listener.ifPresent(each -> hear(each, now));
        List<Gpu> gpus = new ArrayList<>();
        List<GpuSample> samples = new ArrayList<>();
        List<RunningProcess> processes = new ArrayList<>();
        Set<GpuId> untold = new HashSet<>();
        boolean settling = false;
        for (GpuReader reader : readers) {
            try {
                settling |= reader.follow(now, xids);
                List<GpuSample> taken = reader.samples(now, xids, audible.contains(reader.uuid()));
                if (withProcesses) {
                    reader.processes().ifPresentOrElse(processes::addAll, () -> untold.add(new GpuId(reader.uuid())));
                }
                gpus.add(reader.inventory());
                samples.addAll(taken);
                lost.remove(reader.index());
            } catch (GpuGoneException e) {
                lost.put(reader.index(), goneMessage("%s (%s)".formatted(reader.who(), reader.uuid()), e));
                samples.add(lastWordsOf(reader, now));
            }
        }
        return new Readings(gpus, samples, processes, untold, driverVersion, told(), settling);
    }

    private List<String> told() {
        Set<String> told = new LinkedHashSet<>(lost.values());
        told.addAll(lastingTroubles);
        readers.stream()
                .filter(reader -> !lost.containsKey(reader.index()))
                .forEach(reader -> told.addAll(reader.troublesOfCut()));
        told.addAll(troubles.all());
        return List.copyOf(told);
    }

    private void expectAsManyGpus() throws NvmlException {
        try {
            long now = calls.unsigned("driver", "nvmlDeviceGetCount_v2").orElse(0L);
            if (now != count) {
                throw new NvmlException("the number of GPUs changed from %d to %d".formatted(count, now));
            }
        } catch (GpuGoneException e) {
            throw new NvmlException("NVML finds no GPU any more: " + e.getMessage());
        }
    }

    private void hear(XidListener listening, Instant now) {
        long nanos = System.nanoTime();
        for (XidListener.Heard heard : listening.drain()) {
            xids.add(new Xids.Xid(
                    heard.uuid(), heard.instance(), heard.number(), now.minusNanos(nanos - heard.nanos())));
        }
    }

    /** A GPU that does not answer is reported only by its errors. */
    private GpuSample lastWordsOf(GpuReader reader, Instant now) {
        GpuSampleBuilder sample = GpuSample.of(new GpuId(reader.uuid())).utilizationQuality(Quality.UNKNOWN);
        GpuReader.told(sample, xids.of(reader.uuid(), now), audible.contains(reader.uuid()));
        return sample.build();
    }

    /** Releases everything: events, samples, the driver, the library. */
    void close() {
        boolean quiet = listener.map(XidListener::stop).orElse(true);
        readers.forEach(GpuReader::close);
        library.call("nvmlShutdown");
        if (quiet) {
            library.close(); // not while a thread is still inside it
        }
    }
}
