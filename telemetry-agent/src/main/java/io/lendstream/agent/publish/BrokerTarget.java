package io.lendstream.agent.publish;

import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The destination of records.
 *
 * @param check throws while the broker, its topics or the registry are missing
 * @param producers creates a client; a failed client is discarded
 * @param serializers creates the serializer for the registry
 * @param source the writer as a CloudEvents source
 */
public record BrokerTarget(
        Runnable check,
        Supplier<Producer<byte[], byte[]>> producers,
        Supplier<Serializer<GenericRecord>> serializers,
        TopicCatalogue topics,
        String source) {

    /** A destination with a broker and a registry. */
    public static BrokerTarget to(
            KafkaSettings kafka, TopicCatalogue topics, List<Topic<?>> needed, Duration patience, String source) {
        return new BrokerTarget(
                () -> Connection.check(kafka, topics, needed, patience),
                () -> {
                    var properties = kafka.producer();
                    // Records wait in the backlog: a batch that expires and is sent again would arrive after later
                    // ones.
                    properties.put("delivery.timeout.ms", String.valueOf(Integer.MAX_VALUE));
                    properties.putIfAbsent("max.block.ms", "5000");
                    properties.putIfAbsent("buffer.memory", String.valueOf(4 << 20));
                    return new KafkaProducer<>(properties);
                },
                () -> SerdeFactory.of(kafka.serdes()).serializer(),
                topics,
                source);
    }
}
