package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.InferenceService;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what is declared of services; a tombstone takes it back. What nobody can read is counted and left out, and what was declared
 * before stands: the scheduler, who reads the same, puts it into the dead letters.
 */
final class DeclarationReader extends TopicReader<InferenceService, Declared> {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(DeclarationReader.class);

    private transient Counter poison = new SimpleCounter();

    DeclarationReader(
            Map<String, String> properties,
            TopicCatalogue topics,
            Duration maxClockSkew,
            RateReader.Clock clock,
            long maxRecordBytes) {
        super(properties, topics, maxClockSkew, clock, maxRecordBytes);
    }

    @Override
    public void open(DeserializationSchema.InitializationContext context) {
        super.open(context);
        poison = context.getMetricGroup().counter("poisonDeclarations");
    }

    @Override
    Topic<InferenceService> topic() {
        return TopicCatalogue.SERVICES;
    }

    @Override
    Declared read(InferenceService declared) {
        return new Declared(declared.service().value(), Optional.of(ReplicaCapacity.of(declared)));
    }

    @Override
    void deleted(ConsumerRecord<byte[], byte[]> record, Collector<Declared> out) {
        if (record.key() == null) {
            poison(record, new IllegalArgumentException("the record has neither key nor value"), out);
            return;
        }
        out.collect(new Declared(new String(record.key(), StandardCharsets.UTF_8), Optional.empty()));
    }

    @Override
    void poison(ConsumerRecord<byte[], byte[]> record, RuntimeException why, Collector<Declared> out) {
        poison.inc();
        LOG.warn(
                "{}-{}@{} is left out, and what it is about keeps its former declaration: {}",
                record.topic(),
                record.partition(),
                record.offset(),
                why.getMessage());
    }

    @Override
    public TypeInformation<Declared> getProducedType() {
        return DeclaredSerializer.TYPE;
    }
}
