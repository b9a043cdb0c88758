package io.lendstream.agent.gpu.dcgm;

import io.lendstream.agent.exposition.Family;
import io.lendstream.agent.exposition.MetricSample;
import io.lendstream.agent.gpu.nvml.ThrottleReasons;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuSampleBuilder;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.mig.MigPlace;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Converts dcgm-exporter's rows of one scrape of one node to GPUs and samples. */
public final class DcgmReader {
    private static final String ANY_DRIVER = "DCGM_FI_DRIVER_VERSION";

    private static final long MIG_ON = 1;

    /** A GPU from its rows. */
    private static final class Device {
        private final String uuid;
        private final Map<String, String> labels;
        private final Entity whole = new Entity();
        private final Map<Integer, Entity> instances = new TreeMap<>();
        private final Map<Integer, String> profiles = new TreeMap<>();

        Device(String uuid, Map<String, String> labels) {
            this.uuid = uuid;
            this.labels = labels;
        }

        /** An exporter without access to the instances shows the GPU as an undivided one. */
        boolean isMig() {
            return !instances.isEmpty()
                    || whole.whole("migMode").filter(mode -> mode == MIG_ON).isPresent();
        }

        Entity entity(int instance) {
            return Objects.requireNonNull(instances.get(instance), "an instance without a sample");
        }

        String label(String... names) {
            for (String name : names) {
                String value = labels.getOrDefault(name, "").strip();
                if (!value.isEmpty()) {
                    return value;
                }
            }
            return "";
        }
    }

    private final Map<String, Device> devices = new TreeMap<>();
    private final Set<String> hosts = new TreeSet<>();
    private final Set<String> drivers = new TreeSet<>();
    private final List<String> troubles = new ArrayList<>();
    private int withoutUuid;

    private DcgmReader() {}

    /**
     * Converts metrics to a node's GPUs; other metrics are ignored.
     *
     * @throws IllegalArgumentException if they belong to several nodes
     */
    public static DcgmReadings read(List<Family> families) {
        DcgmReader reader = new DcgmReader();
        families.forEach(reader::take);
        return reader.readings();
    }

    private void take(Family family) {
        for (int rank = 0; rank < DcgmMapping.rows().size(); rank++) {
            DcgmMapping.Row row = DcgmMapping.rows().get(rank);
            if (!row.metric().equals(family.name()) && !row.metric().equals(family.name() + "_total")) {
                continue;
            }
            for (MetricSample sample : family.samples()) {
                take(row, rank, sample);
            }
        }
    }

    private void take(DcgmMapping.Row row, int rank, MetricSample sample) {
        String uuid = sample.label("UUID").strip();
        if (uuid.isEmpty()) {
            withoutUuid++;
            return;
        }
        hosts.add(sample.label("Hostname").isBlank() ? sample.label("hostname") : sample.label("Hostname"));
        drivers.add(sample.label(ANY_DRIVER));
        Device device = devices.computeIfAbsent(uuid, added -> new Device(uuid, sample.labels()));
        String instance = sample.label("GPU_I_ID").strip();
        if (instance.isEmpty()) {
            device.whole.take(row, rank, sample);
            device.whole.takeUser(sample);
        } else if (instance.matches("\\d{1,9}")) {
            int id = Integer.parseInt(instance);
            device.profiles.put(id, sample.label("GPU_I_PROFILE").strip());
            Entity of = device.instances.computeIfAbsent(id, added -> new Entity());
            (row.ofInstances() ? of : device.whole).take(row, rank, sample);
            of.takeUser(sample);
        } else {
            troubles.add("%s: GPU_I_ID '%s' is not a number".formatted(uuid, instance));
        }
    }

    private DcgmReadings readings() {
        hosts.remove("");
        drivers.remove("");
        if (hosts.size() > 1) {
            throw new IllegalArgumentException(
                    "the metrics belong to several nodes (%s), but an agent reports one. Use the exporter of its own node."
                            .formatted(String.join(", ", hosts)));
        }
        if (withoutUuid > 0) {
            troubles.add("%d samples have no label UUID and are ignored".formatted(withoutUuid));
        }
        List<Gpu> gpus = new ArrayList<>();
        List<GpuSample> samples = new ArrayList<>();
        for (Device device : devices.values()) {
            Map<Integer, GpuInstance> instances = instances(device);
            gpus.add(gpu(device, instances, gpus.size()));
            samples.add(whole(device));
            instances.forEach((id, instance) -> samples.add(instance(instance, device.entity(id))));
        }
        gpus.sort(Comparator.comparingInt(Gpu::index));
        Optional<String> driver = drivers.size() == 1 ? drivers.stream().findFirst() : Optional.empty();
        return new DcgmReadings(gpus, samples, driver, troubles);
    }

    private Gpu gpu(Device device, Map<Integer, GpuInstance> instances, int ordinal) {
        String index = device.label("gpu");
        String pci = device.label("pci_bus_id");
        return new Gpu(
                new GpuId(device.uuid),
                index.matches("\\d{1,4}") ? Integer.parseInt(index) : ordinal,
                device.label("modelName").isEmpty() ? "unknown" : device.label("modelName"),
                memory(device),
                pci.isEmpty() ? Optional.empty() : Optional.of(pci),
                device.isMig(),
                List.copyOf(instances.values()),
                false,
                List.of());
    }

    /** With MIG the exporter reports only instances; all together have at most the GPU's memory. */
    private static long memory(Device device) {
        return device.whole
                .memoryTotalBytes()
                .orElseGet(() -> device.instances.values().stream()
                        .mapToLong(instance -> instance.memoryTotalBytes().orElse(0L))
                        .sum());
    }

    private Map<Integer, GpuInstance> instances(Device device) {
        if (!device.isMig()) {
            return Map.of();
        }
        if (device.instances.isEmpty()) {
            troubles.add(
                    "%s: it is in MIG mode, but dcgm-exporter reports no instance of it, so its state is unknown. Use --backend nvml, or let the exporter see instances (its option --devices)."
                            .formatted(device.uuid));
            return Map.of();
        }
        Optional<List<MigPlace>> places =
                Placements.only(device.label("modelName"), List.copyOf(device.profiles.values()));
        if (places.isEmpty()) {
            troubles.add(
                    "%s: dcgm-exporter does not report the positions of its MIG instances (%s), and their sizes do not determine them; they are left out. Use --backend nvml."
                            .formatted(device.uuid, String.join(", ", device.profiles.values())));
            return Map.of();
        }
        Map<Integer, GpuInstance> instances = new TreeMap<>();
        List<Integer> ids = List.copyOf(device.instances.keySet());
        for (int i = 0; i < ids.size(); i++) {
            MigPlace place = places.get().get(i);
            int size = place.profile().memorySlices();
            Entity entity = device.entity(ids.get(i));
            instances.put(
                    ids.get(i),
                    new GpuInstance(
                            new GpuId("%s/%d:%d".formatted(device.uuid, place.start(), size)),
                            place.profile().name(),
                            place.start(),
                            size,
                            entity.memoryTotalBytes().orElse(0L),
                            Optional.empty(),
                            Optional.of(ids.get(i)),
                            Optional.empty()));
        }
        return instances;
    }

    private static GpuSample whole(Device device) {
        Entity entity = device.whole;
        GpuSampleBuilder sample = GpuSample.of(new GpuId(device.uuid));
        if (!device.isMig()) {
            tellOfActivity(sample, entity);
            entity.share("memoryUtilization").ifPresent(sample::memoryUtilization);
        }
        entity.value("powerWatts").ifPresent(sample::powerWatts);
        entity.value("energyJoules").ifPresent(sample::energyJoules);
        entity.value("temperatureCelsius").ifPresent(sample::temperatureCelsius);
        entity.value("memoryTemperatureCelsius").ifPresent(sample::memoryTemperatureCelsius);
        entity.whole("smClockHertz").ifPresent(sample::smClockHertz);
        entity.whole("memoryClockHertz").ifPresent(sample::memoryClockHertz);
        entity.whole("throttleReasons").map(ThrottleReasons::words).ifPresent(sample::throttleReasons);
        entity.whole("eccCorrected").ifPresent(sample::eccCorrected);
        entity.whole("eccUncorrected").ifPresent(sample::eccUncorrected);
        entity.value("pcieTxBytesPerSecond").ifPresent(sample::pcieTxBytesPerSecond);
        entity.value("pcieRxBytesPerSecond").ifPresent(sample::pcieRxBytesPerSecond);
        entity.value("nvlinkTxBytesPerSecond").ifPresent(sample::nvlinkTxBytesPerSecond);
        entity.value("nvlinkRxBytesPerSecond").ifPresent(sample::nvlinkRxBytesPerSecond);
        tellOfMemoryAndErrors(sample, entity);
        return Entity.usedIn(sample.build(), users(device));
    }

    /** The users of a GPU with instances are those of all its instances; an incomplete list is dropped. */
    private static Set<String> users(Device device) {
        var users = new TreeSet<>(device.whole.users());
        if (device.isMig()) {
            for (Entity instance : device.instances.values()) {
                if (instance.users().isEmpty()) {
                    return Set.of();
                }
                users.addAll(instance.users());
            }
        }
        return users;
    }

    private static GpuSample instance(GpuInstance instance, Entity entity) {
        GpuSampleBuilder sample = GpuSample.of(instance.gpuId());
        tellOfActivity(sample, entity);
        tellOfMemoryAndErrors(sample, entity);
        return Entity.usedIn(sample.build(), entity.users());
    }

    private static void tellOfActivity(GpuSampleBuilder sample, Entity entity) {
        entity.share("utilization").ifPresent(sample::utilization);
        entity.share("smActivity").ifPresent(sample::smActivity);
        entity.share("dramActivity").ifPresent(sample::dramActivity);
        entity.share("tensorActivity").ifPresent(sample::tensorActivity);
    }

    private static void tellOfMemoryAndErrors(GpuSampleBuilder sample, Entity entity) {
        entity.whole("memoryUsedBytes").ifPresent(sample::memoryUsedBytes);
        entity.memoryTotalBytes().ifPresent(sample::memoryTotalBytes);
        entity.whole("lastXid").filter(xid -> xid > 0).ifPresent(xid -> sample.lastXid(xid.intValue()));
        entity.whole("xidsInFiveMinutes").ifPresent(count -> sample.xidsInFiveMinutes(count.intValue()));
    }
}
