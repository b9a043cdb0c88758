package io.lendstream.forecaster;

import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.events.CloudEventHeaders;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** Writes a topic's core records with the site's serializer and CloudEvents headers. */
abstract class TopicSerializer<T> implements KafkaRecordSerializationSchema<T>, KafkaDatasetFacetProvider {
    private static final long serialVersionUID = 1L;

    private final TreeMap<String, String> properties;
    private final String prefix;
    private transient @Nullable Opened opened;

    /** Parts of the task, which are not serialized with the job. */
    private record Opened(Serializer<GenericRecord> serializer, String name, String type) {}

    TopicSerializer(Map<String, String> properties, TopicCatalogue topics) {
        this.properties = new TreeMap<>(properties);
        this.prefix = topics.prefix();
    }

    abstract Topic<T> topic();

    abstract String key(T value);

    abstract Instant time(T value);

    @Override
    public void open(SerializationSchema.InitializationContext context, KafkaSinkContext sink) {
        opened = new Opened(
                SerdeFactory.of(properties).serializer(),
                new TopicCatalogue(prefix).name(topic()),
                "io.lendstream." + topic().recordName());
    }

    /** Tells the sink where to find transactions that were left open. */
    @Override
    public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
        return Optional.of(writesTo(new TopicCatalogue(prefix).name(topic())));
    }

    static KafkaDatasetFacet writesTo(String topic) {
        return new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic)));
    }

    @Override
    public ProducerRecord<byte[], byte[]> serialize(T value, KafkaSinkContext context, @Nullable Long timestamp) {
        Opened here = opened;
        if (here == null) {
            throw new IllegalStateException("the writer of %s is not open".formatted(topic()));
        }
        String key = key(value);
        var headers = new CloudEventHeaders(
                        key + "/" + time(value).toEpochMilli(), "/lendstream/forecaster", here.type, time(value))
                .toHeaders();
        // no timestamp: retention counts from the time of writing, even if event time is virtual
        return new ProducerRecord<>(
                here.name,
                null,
                null,
                key.getBytes(StandardCharsets.UTF_8),
                here.serializer.serialize(here.name, headers, Codecs.encode(topic(), value)),
                headers);
    }
}
