package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads request rates and checks that they are plausible. Undecodable records go to the dead letters. */
final class RateReader extends TopicReader<RequestRate, Incoming> {
    private static final long serialVersionUID = 1L;

    /** The clock of this machine. */
    interface Clock extends Serializable {
        Instant now();
    }

    private final LetterBounds bounds;

    /**
     * Creates a reader.
     *
     * @param maxRecordBytes limit of a record's key, value and headers together, after decompression
     * @param bounds sizes that the dead letters' producer can send
     */
    RateReader(
            Map<String, String> properties,
            TopicCatalogue topics,
            Duration maxClockSkew,
            Clock clock,
            long maxRecordBytes,
            LetterBounds bounds) {
        super(properties, topics, maxClockSkew, clock, maxRecordBytes);
        this.bounds = bounds;
    }

    @Override
    Topic<RequestRate> topic() {
        return TopicCatalogue.REQUEST_RATES;
    }

    @Override
    Incoming read(RequestRate rate) {
        ServiceForecaster.check(rate);
        return new Incoming.Measured(rate);
    }

    @Override
    void deleted(ConsumerRecord<byte[], byte[]> record, Collector<Incoming> out) {
        poison(record, new IllegalArgumentException("a record of request rates needs a value, but has none"), out);
    }

    @Override
    void poison(ConsumerRecord<byte[], byte[]> record, RuntimeException why, Collector<Incoming> out) {
        out.collect(new Incoming.Poison(
                RateDeadLetter.within(bounds, record, why.getClass().getName(), String.valueOf(why.getMessage()))));
    }

    @Override
    public TypeInformation<Incoming> getProducedType() {
        return IncomingSerializer.TYPE;
    }
}
