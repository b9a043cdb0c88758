package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.Progress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SourceRate;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
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

/**
 * Keeps domains in a persistent store, so that a step writes only its changes. There is one entry for each node, last
 * sample, GPU, service, rate source, job, queue, actuator and application, one header for each domain, and one position
 * for each input partition. The store also keeps the schemas of its entries.
 *
 * <p>All kinds share one store, so that a step's changes are adjacent in one changelog.
 */
final class DomainStore {
    /** Schemas belong to no domain; a domain's name is never empty. */
    private static final String SCHEMA = EntryKind.PART + "schema" + EntryKind.PART;

    private final KeyValueStore<String, byte[]> store;
    private final SchedulerMetrics metrics;
    private final int mostBytes;
    private final StateCodecs codecs = new StateCodecs();
    private final SavedEntries saved = new SavedEntries();
    private final Set<Long> writtenSchemas = new HashSet<>();

    DomainStore(KeyValueStore<String, byte[]> store, SchedulerMetrics metrics) {
        this(store, metrics, Integer.MAX_VALUE);
    }

    /** @param mostBytes largest entry that the changelog accepts */
    DomainStore(KeyValueStore<String, byte[]> store, SchedulerMetrics metrics, int mostBytes) {
        this.store = store;
        this.metrics = metrics;
        this.mostBytes = mostBytes;
    }

    /** Loads all domains as they were saved. */
    SortedMap<DomainId, Domain> load(Instant wallClock) {
        Map<Long, Schema> schemas = new HashMap<>();
        SortedMap<String, StoredDomain> byDomain = new TreeMap<>();
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
     * Finds the kind in an entry's key. Earlier versions allowed the separator character in names, so the first part
     * that names a kind is used.
     */
    private void add(Map<String, StoredDomain> byDomain, KeyValue<String, byte[]> entry) {
        String key = entry.key;
        for (int start = key.indexOf(EntryKind.PART); start > 0; start = key.indexOf(EntryKind.PART, start + 1)) {
            int end = key.indexOf(EntryKind.PART, start + 1);
            Optional<EntryKind> kind = end < 0 ? Optional.empty() : EntryKind.of(key.substring(start + 1, end));
            if (kind.isPresent()) {
                byDomain.computeIfAbsent(
                                key.substring(0, start), name -> new StoredDomain(name, codecs, metrics, saved))
                        .add(kind.get(), key.substring(end + 1), entry.value);
                return;
            }
        }
        throw new IllegalStateException(
                "the state has an entry '%s' of a kind that this version does not know, written by a newer version. Start the newer version again."
                        .formatted(StoredDomain.printable(key)));
    }

    /**
     * The changes of one step, encoded but not written.
     *
     * @param entries by key; null for an entry to delete
     * @param afterwards updates the cache of saved entries after they are written
     * @param schemas fingerprints of the schemas among the entries
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
     * Encodes the changes of a step. Nothing is written or cached until {@link #commit}.
     *
     * @param state state after the step
     * @param isPlaced whether {@link #savePosition} follows, which also saves the event's time and number
     */
    Changes prepare(ClusterState state, Optional<Instant> answered, Step.Changed changed, boolean isPlaced) {
        Changes changes = new Changes();
        DomainId id = state.domain();
        changed.nodes().forEach(key -> add(changes, id, key, state.nodes().get(key)));
        changed.gpus()
                .forEach(key -> put(
                        changes,
                        EntryKind.GPU,
                        id,
                        key.value(),
                        codecs.gpus,
                        state.gpus().get(key)));
        changed.services()
                .forEach(key -> state.services()
                        .get(key)
                        .ifPresentOrElse(service -> add(changes, id, service), () -> drop(changes, id, key)));
        changed.jobs()
                .forEach(key -> put(
                        changes,
                        EntryKind.JOB,
                        id,
                        key.value(),
                        codecs.jobs,
                        state.jobs().get(key)));
        changed.queues()
                .forEach(key -> put(
                        changes,
                        EntryKind.QUEUE,
                        id,
                        key.value(),
                        codecs.queues,
                        state.queues().get(key)));
        changed.actuators().forEach(key -> add(changes, id, state.actuators().require(key)));
        changed.applications()
                .forEach(key -> put(
                        changes,
                        EntryKind.APPLICATION,
                        id,
                        key,
                        codecs.applications,
                        state.entities().applications().find(key)));
        Optional<Advice> before = saved.advice.get(id);
        if (!state.advice().equals(before == null ? Optional.empty() : before)) {
            put(changes, EntryKind.ADVICE, id, "", codecs.advices, state.advice());
        }
        changes.afterwards(() -> saved.advice.put(id, state.advice()));
        DomainHeader last = saved.headers.get(id);
        DomainHeader header = DomainHeader.of(state, answered);
        if (!isPlaced || last == null || !header.equals(last.at(state.now(), state.eventSequence()))) {
            add(changes, header);
        }
        return changes;
    }

    /** Writes the prepared changes. */
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

    /** A sample does not change the node itself, so it has an entry of its own. */
    private void add(Changes changes, DomainId domain, NodeId name, Optional<NodeState> node) {
        Map<NodeId, Node> before = saved.nodes.computeIfAbsent(domain, any -> new HashMap<>());
        if (!node.map(NodeState::node).equals(Optional.ofNullable(before.get(name)))) {
            put(changes, EntryKind.NODE, domain, name.value(), codecs.nodes, node);
        }
        put(changes, EntryKind.SAMPLE, domain, name.value(), codecs.samples, node.flatMap(LastSample::of));
        changes.afterwards(
                () -> node.ifPresentOrElse(known -> before.put(name, known.node()), () -> before.remove(name)));
    }

    /** A rate report changes little else of its service, so each source has an entry of its own. */
    private void add(Changes changes, DomainId domain, ServiceState service) {
        ServiceId name = service.spec().service();
        Map<ServiceId, ServiceState> ofDomain = saved.services.computeIfAbsent(domain, any -> new HashMap<>());
        Optional<ServiceState> before = Optional.ofNullable(ofDomain.get(name));
        Map<String, SourceRate> said = before.map(ServiceState::sources).orElse(Map.of());
        service.sources().forEach((source, word) -> {
            if (!word.equals(said.get(source))) {
                put(
                        changes,
                        EntryKind.SOURCE,
                        domain,
                        name.value() + EntryKind.PART + source,
                        codecs.sources,
                        Optional.of(word));
            }
        });
        for (String source : said.keySet()) {
            if (!service.sources().containsKey(source)) {
                changes.put(EntryKind.SOURCE.key(domain, name.value() + EntryKind.PART + source), null);
            }
        }
        ServiceState rest = service.with(Map.of());
        if (!Optional.of(rest).equals(before.map(known -> known.with(Map.of())))) {
            put(changes, EntryKind.SERVICE, domain, name.value(), codecs.services, Optional.of(rest));
        }
        changes.afterwards(() -> ofDomain.put(name, service));
    }

    /** A service that the domain has no more. */
    private void drop(Changes changes, DomainId domain, ServiceId name) {
        Map<ServiceId, ServiceState> ofDomain = saved.services.computeIfAbsent(domain, any -> new HashMap<>());
        Optional.ofNullable(ofDomain.get(name))
                .ifPresent(before -> before.sources()
                        .keySet()
                        .forEach(source -> changes.put(
                                EntryKind.SOURCE.key(domain, name.value() + EntryKind.PART + source), null)));
        changes.put(EntryKind.SERVICE.key(domain, name.value()), null);
        changes.afterwards(() -> ofDomain.remove(name));
    }

    private void add(Changes changes, DomainId domain, ActuatorDescription actuator) {
        put(changes, EntryKind.ACTUATOR, domain, actuator.actuator(), codecs.actuators, Optional.of(actuator));
    }

    void saveHeader(Domain domain) {
        Changes changes = new Changes();
        add(changes, DomainHeader.of(domain.state(), domain.answered()));
        commit(changes);
    }

    private void add(Changes changes, DomainHeader header) {
        put(changes, EntryKind.HEADER, header.domain(), "", codecs.headers, Optional.of(header));
        changes.afterwards(() -> saved.headers.put(header.domain(), header));
    }

    /** Saves the position in an input partition, with the domain's time and event number there. */
    void savePosition(Domain domain, String position, long offset) {
        store.put(
                EntryKind.POSITION.key(domain.id(), position),
                ByteBuffer.allocate(3 * Long.BYTES)
                        .putLong(offset)
                        .putLong(domain.state().eventSequence())
                        .putLong(domain.state().now().toEpochMilli())
                        .array());
    }

    void saveProgress(DomainId domain, Progress next) {
        Changes changes = new Changes();
        put(changes, EntryKind.PROGRESS, domain, next.service(), codecs.progress, Optional.of(next));
        commit(changes);
    }

    void saveFirstWindow(DomainId domain, ServiceId service, Instant start) {
        store.put(EntryKind.FIRST_WINDOW.key(domain, service.value()), bytes(start.toEpochMilli()));
    }

    private <T> void put(
            Changes changes, EntryKind kind, DomainId domain, String name, StateCodec<T> codec, Optional<T> value) {
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
                    "the state's entry %s '%s'".formatted(kind, StoredDomain.printable(name)), entry.length, mostBytes);
        }
        changes.put(key, entry);
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }
}
