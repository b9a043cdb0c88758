package io.lendstream.forecaster;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ServiceForecaster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads request rates, and checks that somebody can have measured them. Poison goes on as such, to the dead letters. */
final class RateReader extends TopicReader<RequestRate, Incoming> {
    private static final long serialVersionUID = 1L;

    /** The clock of this machine. */
    interface Clock extends Serializable {
        Instant now();
    }

    RateReader(Map<String, String> properties, TopicCatalogue topics, Duration maxClockSkew, Clock clock) {
        super(properties, topics, maxClockSkew, clock);
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
        poison(
                record,
                new IllegalArgumentException("request rates are never deleted, but this record has no value"),
                out);
    }

    @Override
    void poison(ConsumerRecord<byte[], byte[]> record, RuntimeException why, Collector<Incoming> out) {
        out.collect(new Incoming.Poison(
                new DeadLetter(record, why.getClass().getName(), String.valueOf(why.getMessage()))));
    }

    @Override
    public TypeInformation<Incoming> getProducedType() {
        return IncomingSerializer.TYPE;
    }
}
