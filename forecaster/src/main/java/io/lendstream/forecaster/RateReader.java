package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ServiceForecaster;
import io.lendstream.schemas.codec.Codecs;
import io.lendstream.schemas.serde.PoisonRecordException;
import io.lendstream.schemas.serde.SerdeFactory;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.EventTimes;
import java.io.Serializable;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads request rates, and checks that somebody can have measured them. What never can be read comes out as poison; a
 * registry that does not answer is an error, after which the job starts again from its last checkpoint.
 */
final class RateReader implements KafkaRecordDeserializationSchema<Incoming> {
    private static final long serialVersionUID = 1L;

    private final TreeMap<String, String> properties;
    private final String prefix;
    private final Duration maxClockSkew;
    private final Clock clock;
    private transient @Nullable Deserializer<GenericRecord> deserializer;

    /** The clock of this machine. */
    interface Clock extends Serializable {
        Instant now();
    }

    RateReader(Map<String, String> properties, TopicCatalogue topics, Duration maxClockSkew, Clock clock) {
        this.properties = new TreeMap<>(properties);
        this.prefix = topics.prefix();
        this.maxClockSkew = maxClockSkew;
        this.clock = clock;
    }

    @Override
    public void open(DeserializationSchema.InitializationContext context) {
        deserializer = SerdeFactory.of(properties)
                .reading(Codecs.readerSchemas(new TopicCatalogue(prefix)))
                .deserializer();
    }

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Incoming> out) {
        out.collect(read(record));
    }

    private Incoming read(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            return poison(
                    record,
                    new IllegalArgumentException("request rates are never deleted, but this record has no value"));
        }
        Deserializer<GenericRecord> reader = deserializer;
        if (reader == null) {
            throw new IllegalStateException("the reader of request rates was not opened");
        }
        try {
            RequestRate rate =
                    Codecs.decode(TopicCatalogue.REQUEST_RATES, reader.deserialize(record.topic(), record.value()));
            ServiceForecaster.check(rate);
            EventTimes.check(rate, clock.now(), maxClockSkew);
            return new Incoming.Measured(rate);
        } catch (SerializationException | IllegalArgumentException e) {
            if (!PoisonRecordException.causes(e) && unreachable(e)) {
                throw e;
            }
            return poison(record, e);
        }
    }

    /** Whether another registry client than ours failed for want of a connection: no fault of the record. */
    private static boolean unreachable(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof SocketException
                    || at instanceof SocketTimeoutException
                    || at instanceof UnknownHostException) {
                return true;
            }
        }
        return false;
    }

    private static Incoming poison(ConsumerRecord<byte[], byte[]> record, RuntimeException why) {
        return new Incoming.Poison(new DeadLetter(record, why.getClass().getName(), String.valueOf(why.getMessage())));
    }

    @Override
    public TypeInformation<Incoming> getProducedType() {
        return IncomingSerializer.TYPE;
    }
}
