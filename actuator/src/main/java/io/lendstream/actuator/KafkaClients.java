package io.lendstream.actuator;

import io.lendstream.actuator.standby.OneActiveAssignor;
import io.lendstream.actuator.standby.StandbyGroup;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.service.ServiceContext;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.LetterBounds;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates clients of a real broker. */
final class KafkaClients implements Clients, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaClients.class);

    private final ServiceContext context;
    private final String actuator;
    private final List<Topic<?>> needed;
    private final Map<String, KafkaClientMetrics> watched = new HashMap<>();
    private @Nullable RecordWriter letters;
    private volatile boolean learned;

    /** @param needed the topics that must exist */
    KafkaClients(ServiceContext context, String actuator, List<Topic<?>> needed) {
        this.context = context;
        this.actuator = actuator;
        this.needed = List.copyOf(needed);
    }

    @Override
    public String where() {
        return context.kafka().bootstrapServers();
    }

    @Override
    public void check() {
        Connection.check(
                context.kafka(), context.topics(), needed, context.settings().get(CommonKeys.CONNECT_TIMEOUT));
        if (!learned) {
            learnSchemas();
        }
    }

    /** How often unknown schema IDs are looked up: records with such IDs must not delay a decision. */
    private void learnSchemas() {
        RegistryClient registry =
                RegistryClient.shared(RegistrySettings.from(context.kafka().serdes()));
        try {
            new SchemaSet(registry, context.topics()).learn();
            learned = true;
        } catch (RegistryException e) {
            LOG.warn(
                    "the registry does not return all schemas ({}); each schema is requested again when a record needs it",
                    e.getMessage());
        }
    }

    @Override
    public RecordReader reader() {
        RecordReader reader = reportReader();
        watch("reader", new KafkaClientMetrics(reader.client()));
        return reader;
    }

    @Override
    public RecordReader reportReader() {
        var aside = new DeadLetters(
                this::letter,
                context.topics(),
                context.service().toString(),
                context.metrics(),
                LetterBounds.of(context.kafka().producer()));
        return RecordReader.open(
                context.kafka(), context.topics(), aside, context.settings().get(CommonKeys.MAX_CLOCK_SKEW));
    }

    /** Most runs have no dead letters, so the client is created for the first one. */
    private synchronized void letter(ProducerRecord<byte[], byte[]> letter) {
        RecordWriter writer = letters;
        if (writer == null) {
            writer = writer(properties("dead-letters"));
            letters = writer;
        }
        try {
            writer.send(letter);
        } catch (RuntimeException e) {
            letters = null;
            writer.abandon();
            throw e;
        }
    }

    @Override
    public RecordWriter writer(Optional<String> transactionalId) {
        Map<String, Object> properties = properties("reports");
        transactionalId.ifPresent(id -> properties.put("transactional.id", id));
        RecordWriter writer = transactionalId.isPresent()
                ? RecordWriter.openTransactional(context.kafka(), properties, context.topics(), source())
                : writer(properties);
        watch("writer", new KafkaClientMetrics(writer.client()));
        return writer;
    }

    /** Exports a client's own metrics, replacing those of the previous client. */
    private synchronized void watch(String kind, KafkaClientMetrics client) {
        if (context.settings().get(CommonKeys.HEALTH_PORT).isPresent()) {
            Optional.ofNullable(watched.put(kind, client)).ifPresent(KafkaClientMetrics::close);
            client.bindTo(context.metrics());
        } else {
            client.close();
        }
    }

    private RecordWriter writer(Map<String, Object> properties) {
        return RecordWriter.open(context.kafka(), properties, context.topics(), source());
    }

    /** The name of the group of an actuator's instances, and of the writer of their reports. */
    static String instances(ServiceContext context, String actuator) {
        return context.topics().prefix() + "actuator-" + actuator;
    }

    /** How long the broker waits for an instance that sends nothing. */
    static Duration session(ServiceContext context) {
        return Duration.ofMillis(
                Long.parseLong(String.valueOf(group(context, "").get("session.timeout.ms"))));
    }

    /** A consumer by which an instance is a member of the group of its actuator's instances. */
    static Consumer<byte[], byte[]> member(ServiceContext context, String actuator) {
        return new KafkaConsumer<>(group(context, instances(context, actuator)));
    }

    private static Map<String, Object> group(ServiceContext context, String name) {
        Map<String, Object> properties = context.kafka().consumer();
        properties.putIfAbsent("session.timeout.ms", String.valueOf(StandbyGroup.SESSION.toMillis()));
        properties.putIfAbsent("heartbeat.interval.ms", "1000");
        properties.put("group.id", name);
        properties.put("group.protocol", "classic"); // the protocol with an assignor of one's own
        properties.put("partition.assignment.strategy", OneActiveAssignor.class.getName());
        properties.keySet().removeAll(List.of("group.instance.id", "group.remote.assignor"));
        properties.compute("client.id", (key, id) -> id + "-instances");
        return properties;
    }

    private String source() {
        return "/lendstream/actuator/" + URLEncoder.encode(actuator, StandardCharsets.UTF_8);
    }

    /** Records wait in the outbox without a time limit; a batch that expires and is sent again only adds work. */
    private Map<String, Object> properties(String kind) {
        KafkaSettings kafka = context.kafka();
        Map<String, Object> properties = kafka.producer();
        properties.putIfAbsent("delivery.timeout.ms", String.valueOf(Integer.MAX_VALUE));
        properties.compute("client.id", (name, id) -> id + "-" + kind);
        return properties;
    }

    @Override
    public synchronized void close() {
        if (letters != null) {
            letters.close();
        }
        watched.values().forEach(KafkaClientMetrics::close);
    }
}
