package io.lendstream.service;

import io.lendstream.core.event.ServiceName;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.health.Health;
import io.lendstream.service.kafka.DeadLetters;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.kafka.LetterBounds;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.time.TimeMode;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/** What a running service has at hand. */
public record ServiceContext(
        ServiceName service,
        Settings settings,
        KafkaSettings kafka,
        TopicCatalogue topics,
        Health health,
        PrometheusMeterRegistry metrics,
        Stop stop) {

    /** A writer of the service's records. */
    public RecordWriter writer() {
        RecordWriter writer = RecordWriter.open(kafka, topics, "/lendstream/" + service);
        if (isWatched()) {
            new KafkaClientMetrics(writer.client()).bindTo(metrics);
        }
        return writer;
    }

    /** A reader whose poison goes to the dead letters by way of the writer. */
    public RecordReader reader(RecordWriter writer) {
        var deadLetters =
                new DeadLetters(writer::send, topics, service.toString(), metrics, LetterBounds.of(kafka.producer()));
        RecordReader reader = RecordReader.open(
                kafka,
                topics,
                deadLetters,
                settings.get(CommonKeys.MAX_CLOCK_SKEW),
                settings.get(CommonKeys.MAX_RECORD_BYTES));
        if (isWatched()) {
            new KafkaClientMetrics(reader.client()).bindTo(metrics);
        }
        return reader;
    }

    public boolean isVirtual() {
        return settings.get(CommonKeys.TIME) == TimeMode.VIRTUAL;
    }

    private boolean isWatched() {
        return settings.get(CommonKeys.HEALTH_PORT).isPresent();
    }
}
