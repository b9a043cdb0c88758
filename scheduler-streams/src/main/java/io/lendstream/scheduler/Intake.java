package io.lendstream.scheduler;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.topics.ForeignDomainException;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.time.TimeMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Routes every input record to its domain, unchanged and with its origin. A record whose domain cannot be decoded
 * goes to the dead letters of its topic. Records of domains in this partition are passed on directly; other records
 * go through the internal topic. All of a domain's records in one partition take the same route, so they keep their
 * order.
 */
final class Intake implements Processor<byte[], byte[], byte[], RoutedRecord> {
    private final TopicCatalogue topics;
    private final InputReader reader;
    private final TimeMode time;
    private final SchedulerMetrics metrics;
    private final DomainPartitioner spread;
    private final DomainLimits limits;
    private final RoutineInputs routine = new RoutineInputs();
    private @Nullable ProcessorContext<byte[], RoutedRecord> context;
    private @Nullable CommitPace commits;
    private @Nullable NodeDomains nodeDomains;

    Intake(
            TopicCatalogue topics,
            InputReader reader,
            TimeMode time,
            DomainPartitioner spread,
            DomainLimits limits,
            SchedulerMetrics metrics) {
        this.topics = topics;
        this.reader = reader;
        this.time = time;
        this.spread = spread;
        this.limits = limits;
        this.metrics = metrics;
    }

    @Override
    public void init(ProcessorContext<byte[], RoutedRecord> started) {
        context = started;
        // A node's partition differs from its domain's: nodes of the domains of all partitions arrive here.
        commits = new CommitPace(started);
        nodeDomains = new NodeDomains(topics, started.getStateStore(SchedulerTopology.NODE_DOMAINS), limits, (int)
                Math.min(Integer.MAX_VALUE, (long) limits.domains() * spread.partitions()));
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        RecordMetadata metadata = context().recordMetadata().orElseThrow();
        Origin origin = new Origin(metadata.topic(), metadata.partition(), metadata.offset());
        Topic<?> topic = topics.find(origin.topic()).orElseThrow();
        List<Onward> onward;
        try {
            onward = onward(topic, origin, record);
        } catch (Poison poison) {
            bury(topic, origin, record, poison);
            return;
        } catch (RuntimeException e) {
            if (InfrastructureFailure.is(e)) {
                throw e;
            }
            bury(topic, origin, record, new Poison(Poison.Kind.UNREADABLE, e));
            return;
        }
        // Outside the try block: a later failure is not the record's fault.
        onward.forEach(each -> pass(each.domain, each.arrival, record.timestamp()));
    }

    private void bury(Topic<?> topic, Origin origin, Record<byte[], byte[]> record, Poison poison) {
        metrics.dead(topic.suffix(), poison, wallClock());
        forward(DeadLetter.of(origin, record, poison));
    }

    /** Forwards a record to its domain. */
    private record Onward(DomainId domain, RoutedRecord arrival) {}

    /** The stream has routed records, but the dead letters beside it are bytes, as their sink expects. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private void forward(Record<byte[], byte[]> letter) {
        context().forward((Record) letter, SchedulerTopology.DEAD_INPUT);
        commits().owed();
    }

    private List<Onward> onward(Topic<?> topic, Origin origin, Record<byte[], byte[]> record) throws Poison {
        reader.checkSize(topic, record.key(), record.value(), record.headers());
        if (record.key() == null || record.key().length == 0) {
            throw new Poison(
                    Poison.Kind.NO_KEY, "a record of %s needs a key (%s), but has none".formatted(topic, topic.key()));
        }
        if (record.value() == null) {
            return ofTombstone(topic, origin, record);
        }
        InputReader.checkKey(topic, new String(record.key(), UTF_8));
        RoutingHeaders passage = new RoutingHeaders(origin, Optional.empty());
        Input input;
        try {
            input = reader.read(topic, record.value(), wallClock());
        } catch (Poison poison) {
            if (topic.equals(TopicCatalogue.NODES) || topic.equals(TopicCatalogue.PROGRESS)) {
                throw poison;
            }
            DomainId domain = reader.domain(topic, record.value());
            check(origin, domain);
            return List.of(
                    new Onward(domain, new RoutedRecord(record.key(), record.value(), passage, Optional.empty())));
        }
        check(origin, input.domain());
        if (input instanceof Input.GotOn got && !concernsUs(got)) {
            return List.of();
        }
        List<Onward> onward = new ArrayList<>();
        Optional<Node> declared =
                input instanceof Input.Happened happened ? happened.event().asNode() : Optional.empty();
        if (declared.isPresent()) {
            Node node = declared.get();
            nodeDomains()
                    .declare(origin.topic(), node.nodeId(), node.domain())
                    .ifPresent(before -> onward.add(leave(node.nodeId(), before, node.at(), origin, record)));
        }
        onward.add(new Onward(
                input.domain(), new RoutedRecord(record.key(), record.value(), passage, Optional.of(input))));
        return onward;
    }

    /** Checks that an intake writes only about its own domains. */
    private void check(Origin origin, DomainId domain) throws Poison {
        try {
            topics.check(origin.topic(), domain);
        } catch (ForeignDomainException e) {
            throw new Poison(Poison.Kind.FOREIGN_DOMAIN, e);
        }
    }

    private boolean concernsUs(Input.GotOn got) {
        return time == TimeMode.VIRTUAL
                && (got.progress().isOf(ServiceName.ENVIRONMENT)
                        || got.progress().isOf(ServiceName.ACTUATOR));
    }

    private List<Onward> ofTombstone(Topic<?> topic, Origin origin, Record<byte[], byte[]> record) throws Poison {
        String node = new String(record.key(), UTF_8);
        Optional<DomainId> domain =
                topic.equals(TopicCatalogue.NODES) ? nodeDomains().remove(origin.topic(), node) : Optional.empty();
        if (domain.isEmpty()) {
            InputReader.checkKey(topic, node);
            metrics.ignoredTombstone(topic.suffix());
            return List.of();
        }
        Instant said = CloudEventHeaders.from(record.headers())
                .map(CloudEventHeaders::time)
                .orElseGet(() -> Instant.ofEpochMilli(record.timestamp()));
        return List.of(leave(new NodeId(node), domain.get(), believable(said), origin, record));
    }

    /** The time in a header, which may exceed the range of milliseconds. */
    private Instant believable(Instant said) {
        Instant now = wallClock();
        Instant past = said.isAfter(now) ? now : said;
        return past.isBefore(Instant.EPOCH) ? Instant.EPOCH : past;
    }

    private static Onward leave(
            NodeId node, DomainId domain, Instant at, Origin origin, Record<byte[], byte[]> record) {
        RoutingHeaders passage = new RoutingHeaders(origin, Optional.of(new RoutingHeaders.Left(node, at)));
        return new Onward(domain, new RoutedRecord(record.key(), null, passage, Optional.empty()));
    }

    private Instant wallClock() {
        return Instant.ofEpochMilli(context().currentSystemTimeMs());
    }

    private void pass(DomainId domain, RoutedRecord arrival, long timestamp) {
        byte[] key = domain.value().getBytes(UTF_8);
        boolean isLocal = spread.of(key) == context().taskId().partition();
        context()
                .forward(
                        new Record<>(key, arrival, timestamp),
                        isLocal ? SchedulerTopology.OF_DOMAIN : SchedulerTopology.TO_DOMAIN);
        if (!isLocal) {
            owe(arrival);
        }
    }

    /** Commits what another task waits for. In virtual time each record is waited for. */
    private void owe(RoutedRecord arrival) {
        boolean isRoutine = time == TimeMode.WALL
                && arrival.input().orElse(null) instanceof Input.Happened happened
                && routine.isRoutine(happened.event());
        if (isRoutine) {
            commits().owedWithoutHurry();
        } else {
            commits().owed();
        }
    }

    private ProcessorContext<byte[], RoutedRecord> context() {
        ProcessorContext<byte[], RoutedRecord> started = context;
        if (started == null) {
            throw new IllegalStateException("the intake was not started");
        }
        return started;
    }

    private CommitPace commits() {
        CommitPace pace = commits;
        if (pace == null) {
            throw new IllegalStateException("the intake was not started");
        }
        return pace;
    }

    private NodeDomains nodeDomains() {
        NodeDomains domains = nodeDomains;
        if (domains == null) {
            throw new IllegalStateException("the intake was not started");
        }
        return domains;
    }
}
