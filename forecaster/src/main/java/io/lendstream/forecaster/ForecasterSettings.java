package io.lendstream.forecaster;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.Models;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.settings.Units;
import io.lendstream.service.time.TimeMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The settings of a run of the forecaster.
 *
 * @param clients how it connects to Kafka
 * @param forecast which model makes the forecasts, and how far ahead
 * @param input which records it accepts, and how long it waits for late ones
 * @param output how it publishes forecasts
 * @param state how the job keeps its state
 * @param job how the job runs on Flink
 */
record ForecasterSettings(
        TopicCatalogue topics,
        ClientProperties clients,
        ForecastSettings forecast,
        InputBounds input,
        ForecastOutput output,
        StateStorage state,
        FlinkJob job) {
    /** Many numbers divide it, so that the job scales evenly; it cannot be changed without losing state. */
    static final int MAX_PARALLELISM = 120;

    /**
     * Properties of the Kafka clients.
     *
     * @param serdes properties of the serializers, the registry's among them
     * @param groupId consumer group under which positions are committed, and start of the names of clients and transactions
     */
    record ClientProperties(
            Map<String, String> consumer, Map<String, String> producer, Map<String, String> serdes, String groupId) {
        ClientProperties {
            consumer = Map.copyOf(consumer);
            producer = Map.copyOf(producer);
            serdes = Map.copyOf(serdes);
        }
    }

    /**
     * Bounds on the records that the job reads.
     *
     * @param disorder how far event time stays behind the newest record
     * @param idleAfter how long a partition may be silent before it no longer holds event time back
     * @param maxRecordBytes of a record's key, value and headers together, after decompression, for it to be decoded
     */
    record InputBounds(Duration disorder, Duration idleAfter, Duration maxClockSkew, long maxRecordBytes) {}

    /**
     * How forecasts are published.
     *
     * @param early whether a forecast follows before the step is over when demand leaves its band
     */
    record ForecastOutput(ForecastDelivery delivery, boolean early) {}

    /**
     * How the job keeps its state.
     *
     * @param directory where checkpoints go, and where a restart finds them; without it, a restart begins without state
     * @param forgetAfter how long a service may be silent before its state is dropped
     */
    record StateStorage(
            StateBackend backend, Optional<Path> directory, Duration checkpointInterval, Duration forgetAfter) {
        StateStorage in(Path other) {
            return new StateStorage(backend, Optional.of(other), checkpointInterval, forgetAfter);
        }
    }

    /**
     * How the job runs on Flink.
     *
     * @param serviceMetrics for how many services a task publishes metrics of their own
     * @param options options of Flink itself, before ours
     */
    record FlinkJob(Mode mode, int parallelism, int serviceMetrics, Map<String, String> options) {
        FlinkJob {
            options = Map.copyOf(options);
        }
    }

    /** Where the job runs. */
    enum Mode {
        /** On a Flink of its own in this process. */
        EMBEDDED,
        /** On the cluster that this program is submitted to with {@code flink run}. */
        CLUSTER
    }

    private static final Key<String> MODEL = Key.word(
            "forecaster.model",
            ForecastSettings.DEFAULT.model(),
            "Forecast model, with its settings as name:key=value; 'lendstream models' lists them.");
    private static final Key<Duration> STEP = Key.period(
            "forecaster.step",
            Units.text(ForecastSettings.DEFAULT.step()),
            "Length of the steps of demand; a change begins all forecasts anew.");
    private static final Key<List<Duration>> HORIZONS = new Key<>(
            "forecaster.horizons",
            "durations between commas",
            ForecastSettings.DEFAULT.horizons().stream().map(Units::text).collect(Collectors.joining(",")),
            "How far ahead to look, in increasing order, each a whole number of steps; a change begins all forecasts anew.",
            ForecasterSettings::durations);
    private static final Key<String> GROUP_ID = Key.word(
            "forecaster.group-id",
            "lendstream-forecaster",
            "Consumer group, and start of the names of Kafka clients and transactions.");
    private static final Key<Mode> MODE = Key.choice(
            "forecaster.mode",
            Mode.EMBEDDED,
            "Whether the Flink job runs in this process or on the cluster that it is submitted to.");
    private static final Key<ForecastDelivery> DELIVERY = Key.choice(
            "forecaster.delivery",
            ForecastDelivery.AT_LEAST_ONCE,
            "Forecasts at once and perhaps twice after a failure, or once and only with the next checkpoint.");
    private static final Key<Integer> PARALLELISM =
            Key.count("forecaster.parallelism", 1, MAX_PARALLELISM, 1, "How many tasks share the services.");
    private static final Key<Duration> DISORDER = Key.duration(
            "forecaster.disorder",
            "10s",
            "How far event time stays behind the newest record before a silent source is given up.");
    private static final Key<Duration> IDLE_AFTER = Key.period(
            "forecaster.idle-after",
            "30s",
            "How long a partition may be silent before it no longer holds event time back.");
    private static final Key<Duration> FORGET_AFTER = Key.period(
            "forecaster.forget-after", "14d", "How long a service may be silent before its state is dropped.");
    private static final Key<Duration> CHECKPOINT_INTERVAL =
            Key.period("forecaster.checkpoint-interval", "10s", "How often state is saved.");
    private static final Key<Optional<Path>> STATE_DIRECTORY = Key.path(
                    "forecaster.state-dir",
                    ".",
                    "Directory in which state is saved and found again at the next start; nothing for no such memory.")
            .optional();

    private static final Key<StateBackend> STATE_BACKEND = Key.choice(
            "forecaster.state-backend",
            StateBackend.HEAP,
            "Where state is kept: heap is fastest; rocksdb holds more than memory, and saves only what has changed.");
    private static final Key<Integer> SERVICE_METRICS = Key.count(
            "forecaster.service-metrics",
            0,
            1_000_000,
            1000,
            "Of how many services each task shows numbers of their own in Flink's metrics.");

    static final List<Key<?>> KEYS = List.of(
            MODEL,
            STEP,
            HORIZONS,
            GROUP_ID,
            MODE,
            DELIVERY,
            PARALLELISM,
            DISORDER,
            IDLE_AFTER,
            FORGET_AFTER,
            CHECKPOINT_INTERVAL,
            STATE_DIRECTORY,
            STATE_BACKEND,
            SERVICE_METRICS);

    static ForecasterSettings of(Settings settings, KafkaSettings kafka, TopicCatalogue topics) {
        return new ForecasterSettings(
                topics,
                clients(settings, kafka),
                forecast(settings),
                new InputBounds(
                        settings.get(DISORDER),
                        settings.get(IDLE_AFTER),
                        settings.get(CommonKeys.MAX_CLOCK_SKEW),
                        settings.get(CommonKeys.MAX_RECORD_BYTES)),
                // in an accelerated run nobody waits for an early forecast, and runs would differ
                new ForecastOutput(settings.get(DELIVERY), settings.get(CommonKeys.TIME) == TimeMode.WALL),
                new StateStorage(
                        settings.get(STATE_BACKEND),
                        settings.get(STATE_DIRECTORY),
                        settings.get(CHECKPOINT_INTERVAL),
                        settings.get(FORGET_AFTER)),
                new FlinkJob(
                        settings.get(MODE),
                        settings.get(PARALLELISM),
                        settings.get(SERVICE_METRICS),
                        settings.under("flink.")));
    }

    private static ClientProperties clients(Settings settings, KafkaSettings kafka) {
        Map<String, String> producer = texts(kafka.producer());
        if (!settings.under("kafka.").containsKey("linger.ms")
                && !settings.under("kafka.producer.").containsKey("linger.ms")) {
            // a forecast waits for no company
            producer.put("linger.ms", "0");
        }
        // but those that come while others are on their way go together: one by one they keep the broker busy
        producer.putIfAbsent("max.in.flight.requests.per.connection", "1");
        producer.putIfAbsent("batch.size", "131072");
        Map<String, String> consumer = texts(kafka.consumer());
        // Flink has these its own way, and says so at every start
        producer.keySet().removeAll(Set.of("key.serializer", "value.serializer"));
        consumer.keySet().removeAll(Set.of("key.deserializer", "value.deserializer", "auto.offset.reset"));
        return new ClientProperties(consumer, producer, texts(kafka.serdes()), settings.get(GROUP_ID));
    }

    /** Fails here, with the way out, and not in the middle of the stream. */
    private static ForecastSettings forecast(Settings settings) {
        try {
            var forecast = new ForecastSettings(settings.get(MODEL), settings.get(STEP), settings.get(HORIZONS));
            Models.create(forecast);
            return forecast;
        } catch (IllegalArgumentException e) {
            throw new SettingsException(
                    "forecaster.model, forecaster.step and forecaster.horizons do not fit: " + e.getMessage(), e);
        }
    }

    private static Optional<List<Duration>> durations(String text) {
        List<Duration> durations = new ArrayList<>();
        for (String part : Arrays.asList(text.split(",", -1))) {
            Optional<Duration> duration = Units.duration(part.strip());
            if (duration.isEmpty()) {
                return Optional.empty();
            }
            durations.add(duration.get());
        }
        return Optional.of(durations);
    }

    private static Map<String, String> texts(Map<String, Object> properties) {
        Map<String, String> texts = new TreeMap<>();
        properties.forEach((name, value) -> texts.put(name, value.toString()));
        return texts;
    }

    /**
     * How long a transaction may stay open: over the time between two checkpoints, and no longer than readers can do without
     * forecasts, since one that a lost task left behind hides all that follows it.
     */
    Duration transactionTimeout() {
        return state.checkpointInterval().multipliedBy(3).plusSeconds(30);
    }

    ForecasterSettings withStateDirectory(Path directory) {
        return new ForecasterSettings(topics, clients, forecast, input, output, state.in(directory), job);
    }
}
