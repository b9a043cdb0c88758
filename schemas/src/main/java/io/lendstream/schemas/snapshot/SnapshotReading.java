package io.lendstream.schemas.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.ApplicationTraits;
import io.lendstream.core.state.Applications;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SnapshotPart;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32;
import java.util.zip.InflaterInputStream;
import org.apache.avro.Schema;

/** Decodes a snapshot from its parts. */
final class SnapshotReading {
    /** No part that this system writes is larger, once decompressed. */
    private static final int MOST_BYTES = 64 << 20;

    private final Map<SnapshotEntry, Schema> writers = new EnumMap<>(SnapshotEntry.class);
    private Optional<SnapshotHeader> header = Optional.empty();
    private PersistentMap<NodeId, NodeState> nodes = PersistentMap.empty();
    private PersistentMap<GpuId, GpuState> gpus = PersistentMap.empty();
    private PersistentMap<ServiceId, ServiceState> services = PersistentMap.empty();
    private PersistentMap<JobId, JobState> jobs = PersistentMap.empty();
    private PersistentMap<QueueId, QueueState> queues = PersistentMap.empty();
    private PersistentMap<String, ActuatorDescription> actuators = PersistentMap.empty();
    private Applications applications = Applications.NONE;

    private SnapshotReading() {}

    /**
     * Decodes a snapshot.
     *
     * @param parts its parts, by their numbers
     * @throws UnusableSnapshotException if parts are missing or damaged, or this version cannot read them
     */
    static Snapshot of(List<SnapshotPart> parts) throws UnusableSnapshotException {
        check(parts);
        SnapshotPart first = parts.get(0);
        SnapshotReading reading = new SnapshotReading();
        ClusterState state;
        try {
            for (SnapshotPart part : parts) {
                reading.read(part.content().toArray());
            }
            checkKnown(first.scheduler().settings().keySet());
            Scheduler.of(first.scheduler());
            state = reading.state();
            checkDeclared(state);
        } catch (IOException | RuntimeException e) { // values that are damaged, or that only another version knows
            throw new UnusableSnapshotException(
                    "version %s wrote it, and this version cannot read it: %s"
                            .formatted(first.version(), e.getMessage() == null ? e.toString() : e.getMessage()),
                    e);
        }
        if (!state.position().equals(first.position()) || !state.domain().equals(first.domain())) {
            throw new UnusableSnapshotException(
                    "its content is of event %d of domain %s".formatted(state.eventSequence(), state.domain()));
        }
        return new Snapshot(first.scheduler(), state, first.version());
    }

    /** A replay without a setting that was in force would differ. */
    private static void checkKnown(Set<String> settings) {
        Set<String> unknown = new TreeSet<>(settings);
        unknown.removeAll(SchedulerSettings.keys());
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("its scheduler has the unknown settings " + String.join(", ", unknown));
        }
    }

    private static void checkDeclared(ClusterState state) {
        state.mode().declared().flatMap(DeclarableSettings::problem).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
    }

    private static void check(List<SnapshotPart> parts) throws UnusableSnapshotException {
        CRC32 checksum = new CRC32();
        for (int i = 0; i < parts.size(); i++) {
            SnapshotPart part = parts.get(i);
            if (part.encoding() != SnapshotWriting.ENCODING) {
                throw new UnusableSnapshotException("version %s wrote it in encoding %d, but this version reads %d"
                        .formatted(part.version(), part.encoding(), SnapshotWriting.ENCODING));
            }
            if (part.part() != i) {
                throw new UnusableSnapshotException("its part %d is missing".formatted(i));
            }
            checksum.update(part.content().toArray());
            if (checksum.getValue() != part.checksum()) {
                throw new UnusableSnapshotException("the checksum of its part %d is wrong".formatted(i));
            }
        }
        if (parts.isEmpty() || !parts.get(parts.size() - 1).last()) {
            throw new UnusableSnapshotException("its last part is missing");
        }
    }

    private ClusterState state() throws UnusableSnapshotException {
        SnapshotHeader known = header.orElseThrow(() -> new UnusableSnapshotException("it has no header"));
        return known.with(new ClusterEntities(nodes, gpus, services, jobs, queues, actuators, applications));
    }

    private void read(byte[] content) throws IOException, UnusableSnapshotException {
        byte[] raw = new InflaterInputStream(new ByteArrayInputStream(content)).readNBytes(MOST_BYTES);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(raw));
        while (in.available() > 0) {
            int number = in.readByte();
            int length = in.readInt();
            if (length < 0 || length > in.available()) {
                throw new IOException("an entry of %d bytes is cut off".formatted(length));
            }
            byte[] entry = in.readNBytes(length);
            SnapshotEntry kind = kind(number < 0 ? -1 - number : number);
            if (number < 0) {
                learn(kind, new Schema.Parser().parse(new String(entry, UTF_8)));
            } else {
                put(kind, entry);
            }
        }
    }

    private static SnapshotEntry kind(int number) throws UnusableSnapshotException {
        return SnapshotEntry.of(number)
                .orElseThrow(() -> new UnusableSnapshotException(
                        "it has entries of kind %d, which this version does not know".formatted(number)));
    }

    private void learn(SnapshotEntry kind, Schema writer) throws UnusableSnapshotException {
        Set<String> unknown = EntryCodecs.unknown(kind, writer);
        if (!unknown.isEmpty()) {
            throw new UnusableSnapshotException("it has facts that this version does not know: "
                    + String.join(", ", unknown.stream().sorted().limit(3).toList()));
        }
        writers.put(kind, writer);
    }

    private void put(SnapshotEntry kind, byte[] entry) throws IOException, UnusableSnapshotException {
        switch (kind) {
            case HEADER -> header = Optional.of(decoded(kind, SnapshotHeader.class, entry));
            case NODE -> {
                NodeState node = decoded(kind, NodeState.class, entry);
                nodes = nodes.put(node.node().nodeId(), node);
            }
            case GPU -> {
                GpuState gpu = decoded(kind, GpuState.class, entry);
                gpus = gpus.put(gpu.gpuId(), gpu);
            }
            case SERVICE -> {
                ServiceState service = decoded(kind, ServiceState.class, entry);
                services = services.put(service.spec().service(), service);
            }
            case JOB -> {
                JobState job = decoded(kind, JobState.class, entry);
                jobs = jobs.put(job.spec().job(), job);
            }
            case QUEUE -> {
                QueueState queue = decoded(kind, QueueState.class, entry);
                queues = queues.put(queue.spec().queue(), queue);
            }
            case ACTUATOR -> {
                ActuatorDescription actuator = decoded(kind, ActuatorDescription.class, entry);
                actuators = actuators.put(actuator.actuator(), actuator);
            }
            case APPLICATION -> applications = applications.with(decoded(kind, ApplicationTraits.class, entry));
        }
    }

    private <T> T decoded(SnapshotEntry kind, Class<T> type, byte[] entry)
            throws IOException, UnusableSnapshotException {
        Schema writer = writers.get(kind);
        if (writer == null) {
            throw new UnusableSnapshotException("it lacks the schema of its entries " + kind);
        }
        return EntryCodecs.read(kind, type, entry, writer);
    }
}
