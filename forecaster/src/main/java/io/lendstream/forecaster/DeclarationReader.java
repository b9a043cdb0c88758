package io.lendstream.forecaster;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.InferenceService;
import io.lendstream.schemas.topics.DomainIntake;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads declarations of services; a tombstone removes one. An undecodable declaration is counted and ignored, and the
 * previous one stays in force. The scheduler, which reads the same topic, writes it to the dead letters.
 */
final class DeclarationReader extends TopicReader<InferenceService, Declared> {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(DeclarationReader.class);

    private final ServiceKey keys;
    private transient Counter poison = new SimpleCounter();

    DeclarationReader(
            Map<String, String> properties,
            TopicCatalogue topics,
            Duration maxClockSkew,
            RateReader.Clock clock,
            long maxRecordBytes) {
        super(properties, topics, maxClockSkew, clock, maxRecordBytes);
        keys = new ServiceKey(topics.intakes());
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
        return new Declared(keys.of(declared.domain(), declared.service()), Optional.of(ReplicaCapacity.of(declared)));
    }

    @Override
    void deleted(ConsumerRecord<byte[], byte[]> record, Collector<Declared> out) {
        String service = new String(record.key(), StandardCharsets.UTF_8);
        Optional<DomainIntake> intake = topics().intakeOf(record.topic()).flatMap(topics().intakes()::find);
        // One of the base topic takes nothing back of a domain with an intake: it may have been declared there since
        Set<String> gone = intake.filter(restricted -> !restricted.isUnrestricted())
                .map(restricted -> restricted.domains().stream()
                        .map(domain -> keys.of(domain, service))
                        .collect(Collectors.toUnmodifiableSet()))
                .orElse(Set.of(keys.ofShared(service)));
        gone.forEach(key -> out.collect(new Declared(key, Optional.empty())));
    }

    @Override
    void poison(ConsumerRecord<byte[], byte[]> record, RuntimeException why, Collector<Declared> out) {
        poison.inc();
        LOG.warn(
                "record {}-{}@{} is ignored and the previous declaration stays in force: {}",
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
