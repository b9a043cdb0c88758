package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import io.lendstream.schemas.codec.mapping.InvalidRecordException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Domains in a store that survives: one entry for each node, its last sample, each GPU, service, source of its rates, and job, so
 * that a step writes only what it changed; a header for each domain; how far its inputs were taken; and the schemas that the
 * entries are written with.
 *
 * <p>One store and not one for each kind: a step's changes then follow each other in one changelog.
 */
final class DomainStore {
    private static final Logger LOG = LoggerFactory.getLogger(DomainStore.class);

    private static final char PART = '\u0000';
    /** Schemas belong to no domain; no domain's name is empty. */
    private static final String SCHEMA = PART + "schema" + PART;

    private enum Kind {
        HEADER,
        NODE,
        SAMPLE,
        GPU,
        SERVICE,
        SOURCE,
        JOB,
        ADVICE,
        POSITION,
        PROGRESS,
        FIRST_WINDOW;

        String key(DomainId domain, String name) {
            return domain.value() + PART + name() + PART + name;
        }

        static Optional<Kind> of(String code) {
            for (Kind kind : values()) {
                if (kind.name().equals(code)) {
                    return Optional.of(kind);
                }
            }
            return Optional.empty();
        }
    }

    private final KeyValueStore<String, byte[]> store;
    private final SchedulerMetrics metrics;
    private final int mostBytes;
    private final StateCodec<DomainHeader> headers = StateCodec.of(DomainHeader.class);
    private final StateCodec<NodeState> nodes = StateCodec.of(NodeState.class);
    private final StateCodec<LastSample> samples = StateCodec.of(LastSample.class);
    private final StateCodec<GpuState> gpus = StateCodec.of(GpuState.class);
    private final StateCodec<ServiceState> services = StateCodec.of(ServiceState.class);
    private final StateCodec<SourceRate> sources = StateCodec.of(SourceRate.class);
    private final StateCodec<JobState> jobs = StateCodec.of(JobState.class);
    private final StateCodec<Advice> advices = StateCodec.of(Advice.class);
    private final StateCodec<Progress> progress = StateCodec.of(Progress.class);
    /** As they were last saved, so that they are not written with every step. */
    private final Map<DomainId, Optional<Advice>> savedAdvice = new HashMap<>();

    private final Map<DomainId, DomainHeader> savedHeaders = new HashMap<>();
    private final Map<DomainId, Map<ServiceId, ServiceState>> savedServices = new HashMap<>();
    private final Map<DomainId, Map<NodeId, Node>> savedNodes = new HashMap<>();
    private final Set<Long> writtenSchemas = new HashSet<>();

    DomainStore(KeyValueStore<String, byte[]> store, SchedulerMetrics metrics) {
        this(store, metrics, Integer.MAX_VALUE);
    }

    /** @param mostBytes of an entry that its changelog can hold */
    DomainStore(KeyValueStore<String, byte[]> store, SchedulerMetrics metrics, int mostBytes) {
        this.store = store;
        this.metrics = metrics;
        this.mostBytes = mostBytes;
    }

    /** All domains as they were left. */
    SortedMap<DomainId, Domain> load(Instant wallClock) {
        Map<Long, Schema> schemas = new HashMap<>();
        SortedMap<String, Entries> byDomain = new TreeMap<>();
        try (KeyValueIterator<String, byte[]> entries = store.all()) {
            while (entries.hasNext()) {
                KeyValue<String, byte[]> entry = entries.next();
                if (entry.key.startsWith(SCHEMA)) {
                    long fingerprint = Long.parseUnsignedLong(entry.key.substring(SCHEMA.length()), 16);
                    schemas.put(fingerprint, new Schema.Parser().parse(new String(entry.value, UTF_8)));
                } else {
                    add(byDomain, entry);
                }
            }
        }
        writtenSchemas.addAll(schemas.keySet());
        SortedMap<DomainId, Domain> domains = new TreeMap<>();
        byDomain.forEach((name, entries) -> {
            DomainId id = new DomainId(name);
            domains.put(id, entries.domain(id, schemas, wallClock));
        });
        return domains;
    }

    /**
     * Finds an entry's kind in its key. Earlier versions took names with the very character that parts keys, so the first part
     * that names a kind is taken for it.
     */
    private void add(Map<String, Entries> byDomain, KeyValue<String, byte[]> entry) {
        String key = entry.key;
        for (int start = key.indexOf(PART); start > 0; start = key.indexOf(PART, start + 1)) {
            int end = key.indexOf(PART, start + 1);
            Optional<Kind> kind = end < 0 ? Optional.empty() : Kind.of(key.substring(start + 1, end));
            if (kind.isPresent()) {
                byDomain.computeIfAbsent(key.substring(0, start), Entries::new)
                        .add(kind.get(), key.substring(end + 1), entry.value);
                return;
            }
        }
        throw new IllegalStateException(
                "the state has an entry '%s' of a kind that this version does not know; a newer one wrote it. Start that version again."
                        .formatted(printable(key)));
    }

    private static String printable(String key) {
        return key.replaceAll("[^ -~]", "?");
    }

    /**
     * What a step changes in the store, encoded but not written.
     *
     * @param entries by key; null where an entry goes
     * @param afterwards what is remembered of them once they are written
     * @param schemas fingerprints of those that are among the entries
     */
    record Changes(List<KeyValue<String, byte[]>> entries, List<Runnable> afterwards, Set<Long> schemas) {
        Changes() {
            this(new ArrayList<>(), new ArrayList<>(), new HashSet<>());
        }

        private void put(String key, byte @Nullable [] value) {
            entries.add(KeyValue.pair(key, value));
        }

        private void afterwards(Runnable memory) {
            afterwards.add(memory);
        }
    }

    /**
     * Encodes what a step changed. Nothing is written, and nothing remembered, until {@link #commit}.
     *
     * @param state after the step
     * @param isPlaced whether {@link #savePosition} follows, which keeps the time and number of the event as well
     */
    Changes prepare(ClusterState state, Optional<Instant> answered, Step.Changed changed, boolean isPlaced) {
        Changes changes = new Changes();
        DomainId id = state.domain();
        changed.nodes().forEach(key -> add(changes, id, key, state.nodes().get(key)));
        changed.gpus()
                .forEach(key -> put(
                        changes, Kind.GPU, id, key.value(), gpus, state.gpus().get(key)));
        changed.services().forEach(key -> add(changes, id, state.services().require(key)));
        changed.jobs()
                .forEach(key -> put(
                        changes, Kind.JOB, id, key.value(), jobs, state.jobs().get(key)));
        Optional<Advice> before = savedAdvice.get(id);
        if (!state.advice().equals(before == null ? Optional.empty() : before)) {
            put(changes, Kind.ADVICE, id, "", advices, state.advice());
        }
        changes.afterwards(() -> savedAdvice.put(id, state.advice()));
        DomainHeader saved = savedHeaders.get(id);
        DomainHeader header = DomainHeader.of(state, answered);
        if (!isPlaced || saved == null || !header.equals(saved.at(state.now(), state.eventSequence()))) {
            add(changes, header);
        }
        return changes;
    }

    /** Writes what was prepared. */
    void commit(Changes changes) {
        for (KeyValue<String, byte[]> entry : changes.entries()) {
            if (entry.value == null) {
                store.delete(entry.key);
            } else {
                store.put(entry.key, entry.value);
            }
        }
        changes.afterwards().forEach(Runnable::run);
    }

    /** A sample changes nothing of what a node is, and is written for itself. */
    private void add(Changes changes, DomainId domain, NodeId name, Optional<NodeState> node) {
        Map<NodeId, Node> saved = savedNodes.computeIfAbsent(domain, any -> new HashMap<>());
        if (!node.map(NodeState::node).equals(Optional.ofNullable(saved.get(name)))) {
            put(changes, Kind.NODE, domain, name.value(), nodes, node);
        }
        put(changes, Kind.SAMPLE, domain, name.value(), samples, node.flatMap(LastSample::of));
        changes.afterwards(
                () -> node.ifPresentOrElse(known -> saved.put(name, known.node()), () -> saved.remove(name)));
    }

    /** A word of one source changes little else of its service, and is written for itself. */
    private void add(Changes changes, DomainId domain, ServiceState service) {
        ServiceId name = service.spec().service();
        Map<ServiceId, ServiceState> saved = savedServices.computeIfAbsent(domain, any -> new HashMap<>());
        Optional<ServiceState> before = Optional.ofNullable(saved.get(name));
        Map<String, SourceRate> said = before.map(ServiceState::sources).orElse(Map.of());
        service.sources().forEach((source, word) -> {
            if (!word.equals(said.get(source))) {
                put(changes, Kind.SOURCE, domain, name.value() + PART + source, sources, Optional.of(word));
            }
        });
        for (String source : said.keySet()) {
            if (!service.sources().containsKey(source)) {
                changes.put(Kind.SOURCE.key(domain, name.value() + PART + source), null);
            }
        }
        ServiceState rest = service.with(Map.of());
        if (!Optional.of(rest).equals(before.map(known -> known.with(Map.of())))) {
            put(changes, Kind.SERVICE, domain, name.value(), services, Optional.of(rest));
        }
        changes.afterwards(() -> saved.put(name, service));
    }

    void saveHeader(Domain domain) {
        Changes changes = new Changes();
        add(changes, DomainHeader.of(domain.state(), domain.answered()));
        commit(changes);
    }

    private void add(Changes changes, DomainHeader header) {
        put(changes, Kind.HEADER, header.domain(), "", headers, Optional.of(header));
        changes.afterwards(() -> savedHeaders.put(header.domain(), header));
    }

    /** Keeps how far a partition of an input was taken, and where that has brought the domain. */
    void savePosition(Domain domain, String position, long offset) {
        store.put(
                Kind.POSITION.key(domain.id(), position),
                ByteBuffer.allocate(3 * Long.BYTES)
                        .putLong(offset)
                        .putLong(domain.state().eventSequence())
                        .putLong(domain.state().now().toEpochMilli())
                        .array());
    }

    void saveProgress(DomainId domain, Progress next) {
        Changes changes = new Changes();
        put(changes, Kind.PROGRESS, domain, next.service(), progress, Optional.of(next));
        commit(changes);
    }

    void saveFirstWindow(DomainId domain, ServiceId service, Instant start) {
        store.put(Kind.FIRST_WINDOW.key(domain, service.value()), bytes(start.toEpochMilli()));
    }

    private <T> void put(
            Changes changes, Kind kind, DomainId domain, String name, StateCodec<T> codec, Optional<T> value) {
        String key = kind.key(domain, name);
        if (value.isEmpty()) {
            changes.put(key, null);
            return;
        }
        if (!writtenSchemas.contains(codec.fingerprint()) && changes.schemas().add(codec.fingerprint())) {
            changes.put(
                    SCHEMA + Long.toHexString(codec.fingerprint()),
                    codec.schema().toString().getBytes(UTF_8));
            changes.afterwards(() -> writtenSchemas.add(codec.fingerprint()));
        }
        byte[] entry = codec.write(value.get());
        if (entry.length > mostBytes) {
            throw new OversizeOutputException(
                    "the state's entry %s '%s'".formatted(kind, printable(name)), entry.length, mostBytes);
        }
        changes.put(key, entry);
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    /** What the store has of one domain. */
    private final class Entries {
        private final String domainName;
        private final Map<Kind, SortedMap<String, byte[]>> byKind = new HashMap<>();

        Entries(String domainName) {
            this.domainName = domainName;
        }

        void add(Kind kind, String name, byte[] value) {
            byKind.computeIfAbsent(kind, any -> new TreeMap<>()).put(name, value);
        }

        Domain domain(DomainId id, Map<Long, Schema> schemas, Instant wallClock) {
            Optional<DomainHeader> header =
                    of(Kind.HEADER).values().stream().findFirst().map(entry -> latest(read(headers, entry, schemas)));
            header.ifPresent(known -> savedHeaders.put(id, known));
            ClusterState state = header.map(known -> state(known, schemas)).orElseGet(() -> ClusterState.empty(id));
            Domain domain = new Domain(state, wallClock);
            domain.answered(header.flatMap(DomainHeader::answered));
            of(Kind.POSITION)
                    .forEach((position, entry) ->
                            domain.accept(position, ByteBuffer.wrap(entry).getLong()));
            of(Kind.PROGRESS)
                    .forEach((name, entry) -> readable(Kind.PROGRESS, name, progress, entry, schemas)
                            .ifPresent(domain::progress));
            of(Kind.FIRST_WINDOW)
                    .forEach((service, entry) -> domain.firstWindow(
                            new ServiceId(service),
                            Instant.ofEpochMilli(ByteBuffer.wrap(entry).getLong())));
            return domain;
        }

        /** As of the last event: where that changed nothing else of the header, only its position was saved. */
        private DomainHeader latest(DomainHeader header) {
            DomainHeader latest = header;
            for (byte[] entry : of(Kind.POSITION).values()) {
                ByteBuffer position = ByteBuffer.wrap(entry);
                position.getLong();
                if (position.hasRemaining()) { // before version 0.1 a position was an offset and nothing more
                    long sequence = position.getLong();
                    if (sequence > latest.eventSequence()) {
                        latest = latest.at(Instant.ofEpochMilli(position.getLong()), sequence);
                    }
                }
            }
            return latest;
        }

        private ClusterState state(DomainHeader header, Map<Long, Schema> schemas) {
            PersistentMap<NodeId, NodeState> allNodes = PersistentMap.empty();
            Map<NodeId, Node> described = new HashMap<>();
            for (Map.Entry<String, byte[]> entry : of(Kind.NODE).entrySet()) {
                Optional<NodeState> known = readable(Kind.NODE, entry.getKey(), nodes, entry.getValue(), schemas);
                if (known.isEmpty()) {
                    continue;
                }
                NodeState node = known.get();
                byte[] sample = of(Kind.SAMPLE).get(entry.getKey());
                NodeState latest = Optional.ofNullable(sample)
                        .flatMap(bytes -> readable(Kind.SAMPLE, entry.getKey(), samples, bytes, schemas))
                        .map(last -> last.in(node))
                        .orElse(node);
                NodeId name = node.node().nodeId();
                allNodes = allNodes.put(name, latest);
                described.put(name, node.node());
            }
            savedNodes.put(header.domain(), described);
            PersistentMap<GpuId, GpuState> allGpus = PersistentMap.empty();
            for (Map.Entry<String, byte[]> entry : of(Kind.GPU).entrySet()) {
                GpuState gpu = readable(Kind.GPU, entry.getKey(), gpus, entry.getValue(), schemas)
                        .orElseGet(() -> unreadable(new GpuId(entry.getKey()), described, header));
                allGpus = allGpus.put(gpu.gpuId(), gpu);
            }
            PersistentMap<ServiceId, ServiceState> allServices = PersistentMap.empty();
            Map<ServiceId, Map<String, SourceRate>> words = words(schemas);
            for (Map.Entry<String, byte[]> entry : of(Kind.SERVICE).entrySet()) {
                Optional<ServiceState> rest =
                        readable(Kind.SERVICE, entry.getKey(), services, entry.getValue(), schemas);
                if (rest.isPresent()) {
                    ServiceId name = rest.get().spec().service();
                    allServices = allServices.put(name, rest.get().with(words.getOrDefault(name, Map.of())));
                }
            }
            Map<ServiceId, ServiceState> saved = new HashMap<>();
            allServices.values().forEach(service -> saved.put(service.spec().service(), service));
            savedServices.put(header.domain(), saved);
            PersistentMap<JobId, JobState> allJobs = PersistentMap.empty();
            for (Map.Entry<String, byte[]> entry : of(Kind.JOB).entrySet()) {
                Optional<JobState> job = readable(Kind.JOB, entry.getKey(), jobs, entry.getValue(), schemas);
                if (job.isPresent()) {
                    allJobs = allJobs.put(job.get().spec().job(), job.get());
                }
            }
            Optional<Advice> advice = of(Kind.ADVICE).values().stream()
                    .findFirst()
                    .flatMap(entry -> readable(Kind.ADVICE, "", advices, entry, schemas));
            savedAdvice.put(header.domain(), advice);
            return header.with(advice, allNodes, allGpus, allServices, allJobs);
        }

        private Map<ServiceId, Map<String, SourceRate>> words(Map<Long, Schema> schemas) {
            Map<ServiceId, Map<String, SourceRate>> words = new HashMap<>();
            of(Kind.SOURCE).forEach((key, entry) -> {
                int end = endOfService(key);
                readable(Kind.SOURCE, key, sources, entry, schemas)
                        .ifPresent(rate -> words.computeIfAbsent(
                                        new ServiceId(key.substring(0, end)), any -> new TreeMap<>())
                                .put(key.substring(end + 1), rate));
            });
            return words;
        }

        /** Where a service's name ends in the key of one of its sources; the longest that there is, as names may hold any character. */
        private int endOfService(String key) {
            int longest = key.indexOf(PART);
            for (int end = longest; end >= 0; end = key.indexOf(PART, end + 1)) {
                if (of(Kind.SERVICE).containsKey(key.substring(0, end))) {
                    longest = end;
                }
            }
            return longest;
        }

        /** A unit whose entry cannot be read may be in use, so it is out of service and never free. */
        private GpuState unreadable(GpuId gpu, Map<NodeId, Node> described, DomainHeader header) {
            Optional<Node> node = described.values().stream()
                    .filter(each -> each.gpus().stream()
                            .anyMatch(one -> one.gpuId().equals(gpu)
                                    || one.instances().stream()
                                            .anyMatch(
                                                    instance -> instance.gpuId().equals(gpu))))
                    .findFirst();
            return GpuState.free(
                            gpu,
                            node.map(Node::nodeId).orElseGet(() -> new NodeId("unknown")),
                            node.map(Node::pool).orElse(Pool.UNKNOWN),
                            header.now(),
                            header.eventSequence())
                    .with(Owner.unknown(), header.now(), header.eventSequence());
        }

        /** An entry that is in order but for its values; empty, with an alarm, where no version may have written such values. */
        private <T> Optional<T> readable(
                Kind kind, String name, StateCodec<T> codec, byte[] entry, Map<Long, Schema> schemas) {
            try {
                return Optional.of(read(codec, entry, schemas));
            } catch (InvalidRecordException e) {
                LOG.error(
                        "domain {}: the state's entry {} '{}' cannot be used and is set aside: {}",
                        printable(domainName),
                        kind,
                        printable(name),
                        e.getMessage());
                metrics.setAside(kind.name().toLowerCase(Locale.ROOT));
                return Optional.empty();
            }
        }

        private SortedMap<String, byte[]> of(Kind kind) {
            return byKind.getOrDefault(kind, new TreeMap<>());
        }

        private <T> T read(StateCodec<T> codec, byte[] entry, Map<Long, Schema> schemas) {
            return codec.read(entry, fingerprint -> {
                Schema schema = schemas.get(fingerprint);
                if (schema == null) {
                    throw new IllegalStateException(
                            "the state has no schema with fingerprint %x, but entries written with it"
                                    .formatted(fingerprint));
                }
                return schema;
            });
        }
    }
}
