package io.lendstream.launcher.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * A gateway or job submitter that writes what no well-behaved one writes: records that the broker accepts and that have valid
 * schemas, with values at the ends of their ranges, sizes that grow a thousandfold when they are unpacked, and names that file
 * systems, terminals and metrics trip over. It writes about domain {@code evil} and about the domain of the good traffic.
 */
@SuppressWarnings("FutureReturnValueIgnored") // sent() sees every outcome
final class HostileWriter implements AutoCloseable {
    /** Unpacked size of a record that is a few kilobytes on the wire. */
    private static final int BOMB_BYTES = 3_000_000;

    private static final int UNKNOWN_SCHEMA_IDS = 5_000;
    private static final int NODES = 2_000;
    private static final int RATES_IN_A_ROW = 25;
    private static final DomainId EVIL = new DomainId("evil");
    private static final List<String> NAMES = List.of(
            "nul\0inside",
            "new\nline",
            "\u001b[2J\u001b[31mred",
            "..",
            ".",
            "../../etc/passwd",
            "a/../b",
            "$(touch pwned)",
            "=cmd|' /C calc'!A0",
            "\u202egnirts",
            "\ud83d\ude80".repeat(60),
            "x".repeat(249));

    private final Site site;
    private final Producer<byte[], byte[]> producer;
    private final Serializer<GenericRecord> serializer;
    private final AtomicReference<Optional<Exception>> failure = new AtomicReference<>(Optional.empty());

    HostileWriter(Site site) {
        this.site = site;
        this.serializer = SerdeFactory.of(site.kafka().serdes()).serializer();
        Map<String, Object> properties = new TreeMap<>(site.kafka().producer());
        properties.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "gzip");
        properties.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 2 * BOMB_BYTES);
        this.producer = new KafkaProducer<>(properties);
    }

    /** Writes one attack of each kind; returns when the broker has all of it. */
    void attack() {
        decompressionBombs();
        extremesOfServices();
        extremesOfRates();
        extremesOfJobs();
        hostileNames();
        unknownSchemas();
        manyNodes();
        producer.flush();
        failure.get().ifPresent(refused -> {
            throw new AssertionError("the broker refused an attack, which tests nothing then", refused);
        });
    }

    private void decompressionBombs() {
        for (Topic<?> topic : List.of(
                TopicCatalogue.SERVICES,
                TopicCatalogue.TRAINING_JOBS,
                TopicCatalogue.REQUEST_RATES,
                TopicCatalogue.NODES,
                TopicCatalogue.DECISIONS)) {
            send(topic, "bomb", new byte[BOMB_BYTES]);
            send(topic, "k".repeat(BOMB_BYTES / 3), new byte[BOMB_BYTES / 3]);
        }
    }

    private void extremesOfServices() {
        for (DomainId domain : List.of(EVIL, Site.DOMAIN)) {
            String name = "slow-" + domain;
            write(TopicCatalogue.SERVICES, name, service(name, domain), "warmUpMillis", Long.MAX_VALUE);
            write(TopicCatalogue.SERVICES, name + "-2", service(name + "-2", domain), "sloMillis", Long.MIN_VALUE);
            write(TopicCatalogue.SERVICES, name + "-3", service(name + "-3", domain), "at", Long.MIN_VALUE);
            for (double capacity :
                    new double[] {Double.NaN, Double.POSITIVE_INFINITY, -1, 0, Double.MIN_VALUE, 1e308}) {
                String other = "capacity-" + capacity + "-" + domain;
                write(TopicCatalogue.SERVICES, other, service(other, domain), "replicaCapacityPerSecond", capacity);
            }
        }
        write(TopicCatalogue.SERVICES, "greedy", service("greedy", EVIL), "floorReplicas", Integer.MAX_VALUE);
    }

    private void extremesOfRates() {
        for (DomainId domain : List.of(EVIL, Site.DOMAIN)) {
            String name = "counted-" + domain;
            write(TopicCatalogue.SERVICES, name, service(name, domain), "floorReplicas", 0);
            for (int i = 1; i <= RATES_IN_A_ROW; i++) {
                write(TopicCatalogue.REQUEST_RATES, name, rate(name, domain, i), "windowStart", Long.MIN_VALUE);
            }
            write(TopicCatalogue.REQUEST_RATES, name, rate(name, domain, 100), "windowStart", 0L);
            write(TopicCatalogue.REQUEST_RATES, name, rate(name, domain, 101), "inFlight", Integer.MAX_VALUE);
            write(TopicCatalogue.REQUEST_RATES, name, rate(name, domain, 102), "queueDepth", Integer.MAX_VALUE);
            write(TopicCatalogue.REQUEST_RATES, name, rate(name, domain, 103), "arrivals", Long.MAX_VALUE);
            write(TopicCatalogue.REQUEST_RATES, name, rate(name, domain, 104), "windowEnd", Long.MAX_VALUE);
        }
    }

    private void extremesOfJobs() {
        for (DomainId domain : List.of(EVIL, Site.DOMAIN)) {
            String name = "early-" + domain;
            write(TopicCatalogue.TRAINING_JOBS, name, job(name, domain), "submittedAt", Long.MIN_VALUE);
            String wide = "wide-" + domain;
            write(TopicCatalogue.TRAINING_JOBS, wide, job(wide, domain), "maxGpus", Integer.MAX_VALUE);
            String late = "late-" + domain;
            write(TopicCatalogue.TRAINING_JOBS, late, job(late, domain), "deadline", Long.MIN_VALUE);
        }
    }

    private void hostileNames() {
        for (String name : NAMES) {
            write(TopicCatalogue.SERVICES, name, service("named", EVIL), "service", name);
            write(TopicCatalogue.TRAINING_JOBS, name, job("named", Site.DOMAIN), "job", name);
            write(TopicCatalogue.SERVICES, name, service("of-a-strange-domain", EVIL), "domain", name);
            producer.send(
                    new ProducerRecord<>(site.topics().name(TopicCatalogue.NODES), name.getBytes(UTF_8), null),
                    this::sent);
        }
    }

    private void unknownSchemas() {
        for (int i = 0; i < UNKNOWN_SCHEMA_IDS; i++) {
            byte[] framed =
                    ByteBuffer.allocate(16).put((byte) 0).putInt(1_000_000 + i).array();
            send(TopicCatalogue.REQUEST_RATES, "unknown", framed);
        }
    }

    private void manyNodes() {
        for (int i = 0; i < NODES; i++) {
            String name = "evil-node-" + i;
            Node node = new Node(
                    new NodeId(name),
                    EVIL,
                    Pool.INFERENCE,
                    "boot",
                    now(),
                    NodeStatus.READY,
                    IntStream.range(0, 8)
                            .mapToObj(gpu -> Gpu.whole(new GpuId(name + "-gpu-" + gpu), gpu, "test GPU", 80L << 30))
                            .toList());
            send(TopicCatalogue.NODES, name, bytes(TopicCatalogue.NODES, Codecs.encode(TopicCatalogue.NODES, node)));
        }
    }

    private <T> void write(Topic<T> topic, String key, T value, String field, Object extreme) {
        GenericRecord record = Codecs.encode(topic, value);
        record.put(field, extreme);
        send(topic, key, bytes(topic, record));
    }

    private byte[] bytes(Topic<?> topic, GenericRecord record) {
        return serializer.serialize(site.topics().name(topic), new RecordHeaders(), record);
    }

    private void send(Topic<?> topic, String key, byte[] value) {
        producer.send(new ProducerRecord<>(site.topics().name(topic), key.getBytes(UTF_8), value), this::sent);
    }

    private void sent(RecordMetadata written, @Nullable Exception refused) {
        if (refused != null) {
            failure.set(Optional.of(refused));
        }
    }

    private static InferenceService service(String name, DomainId domain) {
        return new InferenceService(
                new ServiceId(name),
                domain,
                now(),
                List.of(),
                Duration.ofMillis(500),
                10,
                Optional.of(1),
                1,
                Duration.ofSeconds(3));
    }

    private static RequestRate rate(String service, DomainId domain, long sequence) {
        Instant end = now();
        return new RequestRate(
                new ServiceId(service),
                domain,
                "source-" + sequence,
                "boot",
                sequence,
                end.minusSeconds(5),
                end,
                RequestRate.Requests.answered(10),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    private static TrainingJob job(String name, DomainId domain) {
        return new TrainingJob(
                new JobId(name),
                domain,
                now(),
                "vision",
                new TrainingJob.Scaling(2, 2, 6, true),
                TrainingJob.Precedence.USUAL,
                Site.TRAITS,
                "simulated",
                Optional.empty());
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(10));
        serializer.close();
    }
}
