package io.lendstream.scheduler;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ApplicationTraits;
import io.lendstream.core.state.Applications;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import io.lendstream.schemas.codec.mapping.InvalidRecordException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The saved entries of one domain, and the domain restored from them. */
final class StoredDomain {
    private static final Logger LOG = LoggerFactory.getLogger(StoredDomain.class);

    private final String domainName;
    private final Map<EntryKind, SortedMap<String, byte[]>> byKind = new HashMap<>();

    private final StateCodecs codecs;
    private final SchedulerMetrics metrics;
    private final SavedEntries saved;

    /** @param saved cache in which read entries are marked as saved */
    StoredDomain(String domainName, StateCodecs codecs, SchedulerMetrics metrics, SavedEntries saved) {
        this.domainName = domainName;
        this.codecs = codecs;
        this.metrics = metrics;
        this.saved = saved;
    }

    void add(EntryKind kind, String name, byte[] value) {
        byKind.computeIfAbsent(kind, any -> new TreeMap<>()).put(name, value);
    }

    Domain domain(DomainId id, Map<Long, Schema> schemas, Instant wallClock) {
        Optional<DomainHeader> header = of(EntryKind.HEADER).values().stream()
                .findFirst()
                .map(entry -> latest(read(codecs.headers, entry, schemas)));
        header.ifPresent(known -> saved.headers.put(id, known));
        ClusterState state = header.map(known -> state(known, schemas)).orElseGet(() -> ClusterState.empty(id));
        Domain domain = new Domain(state, wallClock);
        domain.answered(header.flatMap(DomainHeader::answered));
        of(EntryKind.POSITION)
                .forEach((position, entry) ->
                        domain.accept(position, ByteBuffer.wrap(entry).getLong()));
        of(EntryKind.PROGRESS)
                .forEach((name, entry) -> readable(EntryKind.PROGRESS, name, codecs.progress, entry, schemas)
                        .ifPresent(domain::progress));
        of(EntryKind.FIRST_WINDOW)
                .forEach((service, entry) -> domain.firstWindow(
                        new ServiceId(service),
                        Instant.ofEpochMilli(ByteBuffer.wrap(entry).getLong())));
        return domain;
    }

    /** The header as of the last event: if an event changed nothing else of it, only its position was saved. */
    private DomainHeader latest(DomainHeader header) {
        DomainHeader latest = header;
        for (byte[] entry : of(EntryKind.POSITION).values()) {
            ByteBuffer position = ByteBuffer.wrap(entry);
            position.getLong();
            if (position.hasRemaining()) { // before version 0.1 a position was only an offset
                long sequence = position.getLong();
                if (sequence > latest.position().eventSequence()) {
                    latest = latest.at(Instant.ofEpochMilli(position.getLong()), sequence);
                }
            }
        }
        return latest;
    }

    private ClusterState state(DomainHeader header, Map<Long, Schema> schemas) {
        Map<NodeId, Node> described = new HashMap<>();
        PersistentMap<NodeId, NodeState> nodes = nodes(schemas, described);
        saved.nodes.put(header.domain(), described);
        PersistentMap<GpuId, GpuState> gpus = gpus(schemas, described, header);
        PersistentMap<ServiceId, ServiceState> services = services(schemas);
        Map<ServiceId, ServiceState> known = new HashMap<>();
        services.values().forEach(service -> known.put(service.spec().service(), service));
        saved.services.put(header.domain(), known);
        PersistentMap<JobId, JobState> jobs = jobs(schemas);
        Optional<Advice> advice = of(EntryKind.ADVICE).values().stream()
                .findFirst()
                .flatMap(entry -> readable(EntryKind.ADVICE, "", codecs.advices, entry, schemas));
        saved.advice.put(header.domain(), advice);
        return header.with(
                advice,
                new ClusterEntities(
                        nodes, gpus, services, jobs, queues(schemas), actuators(schemas), applications(schemas)));
    }

    private PersistentMap<NodeId, NodeState> nodes(Map<Long, Schema> schemas, Map<NodeId, Node> described) {
        PersistentMap<NodeId, NodeState> all = PersistentMap.empty();
        for (Map.Entry<String, byte[]> entry : of(EntryKind.NODE).entrySet()) {
            Optional<NodeState> known =
                    readable(EntryKind.NODE, entry.getKey(), codecs.nodes, entry.getValue(), schemas);
            if (known.isEmpty()) {
                continue;
            }
            NodeState node = known.get();
            byte[] sample = of(EntryKind.SAMPLE).get(entry.getKey());
            NodeState latest = Optional.ofNullable(sample)
                    .flatMap(bytes -> readable(EntryKind.SAMPLE, entry.getKey(), codecs.samples, bytes, schemas))
                    .map(last -> last.in(node))
                    .orElse(node);
            NodeId name = node.node().nodeId();
            all = all.put(name, latest);
            described.put(name, node.node());
        }
        return all;
    }

    private PersistentMap<GpuId, GpuState> gpus(
            Map<Long, Schema> schemas, Map<NodeId, Node> described, DomainHeader header) {
        PersistentMap<GpuId, GpuState> all = PersistentMap.empty();
        for (Map.Entry<String, byte[]> entry : of(EntryKind.GPU).entrySet()) {
            GpuState gpu = readable(EntryKind.GPU, entry.getKey(), codecs.gpus, entry.getValue(), schemas)
                    .orElseGet(() -> unreadable(new GpuId(entry.getKey()), described, header));
            all = all.put(gpu.gpuId(), gpu);
        }
        return all;
    }

    private PersistentMap<ServiceId, ServiceState> services(Map<Long, Schema> schemas) {
        PersistentMap<ServiceId, ServiceState> all = PersistentMap.empty();
        Map<ServiceId, Map<String, SourceRate>> words = words(schemas);
        for (Map.Entry<String, byte[]> entry : of(EntryKind.SERVICE).entrySet()) {
            Optional<ServiceState> rest =
                    readable(EntryKind.SERVICE, entry.getKey(), codecs.services, entry.getValue(), schemas);
            if (rest.isPresent()) {
                ServiceId name = rest.get().spec().service();
                all = all.put(name, rest.get().with(words.getOrDefault(name, Map.of())));
            }
        }
        return all;
    }

    private PersistentMap<JobId, JobState> jobs(Map<Long, Schema> schemas) {
        PersistentMap<JobId, JobState> all = PersistentMap.empty();
        for (Map.Entry<String, byte[]> entry : of(EntryKind.JOB).entrySet()) {
            Optional<JobState> job = readable(EntryKind.JOB, entry.getKey(), codecs.jobs, entry.getValue(), schemas);
            if (job.isPresent()) {
                all = all.put(job.get().spec().job(), job.get());
            }
        }
        return all;
    }

    private PersistentMap<QueueId, QueueState> queues(Map<Long, Schema> schemas) {
        PersistentMap<QueueId, QueueState> all = PersistentMap.empty();
        for (Map.Entry<String, byte[]> entry : of(EntryKind.QUEUE).entrySet()) {
            Optional<QueueState> queue =
                    readable(EntryKind.QUEUE, entry.getKey(), codecs.queues, entry.getValue(), schemas);
            if (queue.isPresent()) {
                all = all.put(queue.get().spec().queue(), queue.get());
            }
        }
        return all;
    }

    private PersistentMap<String, ActuatorDescription> actuators(Map<Long, Schema> schemas) {
        PersistentMap<String, ActuatorDescription> all = PersistentMap.empty();
        for (Map.Entry<String, byte[]> entry : of(EntryKind.ACTUATOR).entrySet()) {
            Optional<ActuatorDescription> actuator =
                    readable(EntryKind.ACTUATOR, entry.getKey(), codecs.actuators, entry.getValue(), schemas);
            if (actuator.isPresent()) {
                all = all.put(actuator.get().actuator(), actuator.get());
            }
        }
        return all;
    }

    private Applications applications(Map<Long, Schema> schemas) {
        Applications all = Applications.NONE;
        for (Map.Entry<String, byte[]> entry : of(EntryKind.APPLICATION).entrySet()) {
            Optional<ApplicationTraits> application =
                    readable(EntryKind.APPLICATION, entry.getKey(), codecs.applications, entry.getValue(), schemas);
            if (application.isPresent()) {
                all = all.with(application.get());
            }
        }
        return all;
    }

    private Map<ServiceId, Map<String, SourceRate>> words(Map<Long, Schema> schemas) {
        Map<ServiceId, Map<String, SourceRate>> words = new HashMap<>();
        of(EntryKind.SOURCE).forEach((key, entry) -> {
            int end = endOfService(key);
            readable(EntryKind.SOURCE, key, codecs.sources, entry, schemas)
                    .ifPresent(
                            rate -> words.computeIfAbsent(new ServiceId(key.substring(0, end)), any -> new TreeMap<>())
                                    .put(key.substring(end + 1), rate));
        });
        return words;
    }

    /**
     * Where a service's name ends in a source's key. Names may hold any character, so the longest known name is used.
     */
    private int endOfService(String key) {
        int longest = key.indexOf(EntryKind.PART);
        for (int end = longest; end >= 0; end = key.indexOf(EntryKind.PART, end + 1)) {
            if (of(EntryKind.SERVICE).containsKey(key.substring(0, end))) {
                longest = end;
            }
        }
        return longest;
    }

    /** A unit with an unreadable entry may be in use, so it is put out of service and never free. */
    private GpuState unreadable(GpuId gpu, Map<NodeId, Node> described, DomainHeader header) {
        Optional<Node> node = described.values().stream()
                .filter(each -> each.gpus().stream()
                        .anyMatch(one -> one.gpuId().equals(gpu)
                                || one.instances().stream()
                                        .anyMatch(instance -> instance.gpuId().equals(gpu))))
                .findFirst();
        return GpuState.free(
                        gpu,
                        node.map(Node::nodeId).orElseGet(() -> new NodeId("unknown")),
                        node.map(Node::pool).orElse(Pool.UNKNOWN),
                        header.position().now(),
                        header.position().eventSequence())
                .with(
                        Owner.unknown(),
                        header.position().now(),
                        header.position().eventSequence());
    }

    /** A decoded entry; empty, with an error log, if it has values that no version may have written. */
    private <T> Optional<T> readable(
            EntryKind kind, String name, StateCodec<T> codec, byte[] entry, Map<Long, Schema> schemas) {
        try {
            return Optional.of(read(codec, entry, schemas));
        } catch (InvalidRecordException e) {
            LOG.error(
                    "domain {}: state entry {} '{}' is invalid and is ignored: {}",
                    printable(domainName),
                    kind,
                    printable(name),
                    e.getMessage());
            metrics.wasSetAside(kind);
            return Optional.empty();
        }
    }

    private SortedMap<String, byte[]> of(EntryKind kind) {
        return byKind.getOrDefault(kind, new TreeMap<>());
    }

    private <T> T read(StateCodec<T> codec, byte[] entry, Map<Long, Schema> schemas) {
        return codec.read(entry, fingerprint -> {
            Schema schema = schemas.get(fingerprint);
            if (schema == null) {
                throw new IllegalStateException(
                        "the state has entries written with the schema %x, but not the schema itself"
                                .formatted(fingerprint));
            }
            return schema;
        });
    }

    /** A key with characters that terminals do not show removed. */
    static String printable(String key) {
        return key.replaceAll("[^ -~]", "?");
    }
}
