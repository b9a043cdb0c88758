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

/** The parts that a running service works with. */
public record ServiceContext(
        ServiceName service,
        Settings settings,
        KafkaSettings kafka,
        TopicCatalogue topics,
        Health health,
        PrometheusMeterRegistry metrics,
        Stop stop) {

    /** Opens a writer for the service's records. */
    public RecordWriter writer() {
        RecordWriter writer = RecordWriter.open(kafka, topics, "/lendstream/" + service);
        if (isWatched()) {
            new KafkaClientMetrics(writer.client()).bindTo(metrics);
        }
        return writer;
    }

    /** Opens a reader whose undecodable records go to the dead letters through the writer. */
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
