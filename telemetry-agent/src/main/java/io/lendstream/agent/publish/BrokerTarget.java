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
 * Where records go.
 *
 * @param check fails while the broker, its topics or the registry are not there
 * @param producers makes a client; one that has failed is thrown away
 * @param serializers makes what writes a record the way the registry wants it
 * @param source who writes, as CloudEvents want it
 */
public record BrokerTarget(
        Runnable check,
        Supplier<Producer<byte[], byte[]>> producers,
        Supplier<Serializer<GenericRecord>> serializers,
        TopicCatalogue topics,
        String source) {

    /** A broker and a registry. */
    public static BrokerTarget to(
            KafkaSettings kafka, TopicCatalogue topics, List<Topic<?>> needed, Duration patience, String source) {
        return new BrokerTarget(
                () -> Connection.check(kafka, topics, needed, patience),
                () -> {
                    var properties = kafka.producer();
                    // What waits, waits in the backlog: a batch that is given up and sent anew would come after later
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
