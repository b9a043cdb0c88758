package io.lendstream.service.kafka;

import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.service.settings.Settings;
import java.util.Map;
import java.util.TreeMap;

/**
 * The properties of Kafka's clients and of the schema registry's. {@code kafka.NAME} goes to every client as {@code
 * NAME}; {@code kafka.producer.NAME}, {@code kafka.consumer.NAME} and {@code kafka.admin.NAME} go to one kind of
 * client; {@code schema.registry.NAME} goes to the serializers.
 */
public final class KafkaSettings {
    public static final String BOOTSTRAP_SERVERS = "bootstrap.servers";
    private static final String KAFKA = "kafka.";
    private static final String REGISTRY = "schema.registry.";

    private final Map<String, String> all;
    private final Map<String, String> producer;
    private final Map<String, String> consumer;
    private final Map<String, String> admin;
    private final String service;

    private KafkaSettings(
            String service,
            Map<String, String> all,
            Map<String, String> producer,
            Map<String, String> consumer,
            Map<String, String> admin) {
        this.service = service;
        this.all = all;
        this.producer = producer;
        this.consumer = consumer;
        this.admin = admin;
    }

    /**
     * Reads the client properties from a service's settings.
     *
     * @param service the service's name, which is the prefix of its clients' names
     */
    public static KafkaSettings of(String service, Settings settings) {
        var all = new TreeMap<String, String>();
        all.put(BOOTSTRAP_SERVERS, "localhost:9092");
        all.put(RegistrySettings.URL, "http://localhost:8081");
        settings.under(KAFKA).forEach((name, value) -> {
            if (!name.startsWith("producer.") && !name.startsWith("consumer.") && !name.startsWith("admin.")) {
                all.put(name, value);
            }
        });
        settings.under(REGISTRY).forEach((name, value) -> all.put(REGISTRY + name, value));
        return new KafkaSettings(
                service,
                all,
                settings.under(KAFKA + "producer."),
                settings.under(KAFKA + "consumer."),
                settings.under(KAFKA + "admin."));
    }

    public String bootstrapServers() {
        return all.getOrDefault(BOOTSTRAP_SERVERS, "");
    }

    public String registry() {
        return all.getOrDefault(RegistrySettings.URL, "");
    }

    /** Properties for every client, and for frameworks that create clients of their own. */
    public Map<String, Object> common() {
        return new TreeMap<>(all);
    }

    /** Properties of a lossless producer of bytes: acknowledged by all replicas, and written once. */
    public Map<String, Object> producer() {
        var properties = clients("producer");
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");
        properties.put("linger.ms", "2");
        properties.put("compression.type", "lz4");
        properties.putAll(all);
        properties.putAll(producer);
        properties.remove("value.deserializer");
        properties.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        properties.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        return properties;
    }

    /** Properties of a consumer of bytes that keeps its own positions and reads only committed records. */
    public Map<String, Object> consumer() {
        var properties = clients("consumer");
        properties.put("isolation.level", "read_committed");
        properties.put("max.poll.records", "2000");
        properties.putAll(all);
        properties.putAll(consumer);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", "earliest");
        properties.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        properties.put("value.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        return properties;
    }

    public Map<String, Object> admin() {
        var properties = clients("admin");
        properties.putAll(all);
        properties.putAll(admin);
        return properties;
    }

    /** Properties of the value serializers, for {@link io.lendstream.schemas.serde.SerdeFactory}. */
    public Map<String, Object> serdes() {
        var properties = new TreeMap<String, Object>(all);
        properties.putAll(producer);
        properties.putAll(consumer);
        return properties;
    }

    private Map<String, Object> clients(String kind) {
        var properties = new TreeMap<String, Object>();
        properties.put("client.id", "lendstream-%s-%s".formatted(service, kind));
        // A broker that hangs without closing its connections is abandoned after this time, not after Kafka's 30 s.
        properties.put("request.timeout.ms", "10000");
        return properties;
    }
}
