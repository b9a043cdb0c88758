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
    /** A number with many divisors, so that the job scales evenly. It cannot be changed without losing state. */
    static final int MAX_PARALLELISM = 120;

    /**
     * Properties of the Kafka clients.
     *
     * @param serdes properties of the serializers, the registry's among them
     * @param groupId consumer group under which positions are committed, and prefix of client and transaction names
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
     * @param maxRecordBytes limit of a record's key, value and headers together, after decompression
     */
    record InputBounds(Duration disorder, Duration idleAfter, Duration maxClockSkew, long maxRecordBytes) {}

    /**
     * How forecasts are published.
     *
     * @param early whether to publish an early forecast when demand is clearly above its p99
     */
    record ForecastOutput(ForecastDelivery delivery, boolean early) {}

    /**
     * How the job keeps its state.
     *
     * @param directory where checkpoints are saved and found by a restart; without it, a restart begins without state
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
     * @param options Flink's own options, which take precedence over ours
     */
    record FlinkJob(Mode mode, int parallelism, int serviceMetrics, Map<String, String> options) {
        FlinkJob {
            options = Map.copyOf(options);
        }
    }

    /** Where the job runs. */
    enum Mode {
        /** On an embedded Flink in this process. */
        EMBEDDED,
        /** On the cluster that this program is submitted to with {@code flink run}. */
        CLUSTER
    }

    private static final Key<String> MODEL = Key.word(
            "forecaster.model",
            ForecastSettings.DEFAULT.model(),
            "Forecast model, as name:key=value; see 'lendstream models'.");
    private static final Key<Duration> STEP = Key.period(
            "forecaster.step",
            Units.text(ForecastSettings.DEFAULT.step()),
            "Length of a step of demand. A change restarts all forecasts without history.");
    private static final Key<List<Duration>> HORIZONS = new Key<>(
            "forecaster.horizons",
            "durations separated by commas",
            ForecastSettings.DEFAULT.horizons().stream().map(Units::text).collect(Collectors.joining(",")),
            "Forecast horizons, increasing, each a whole number of steps. A change restarts all forecasts without history.",
            ForecasterSettings::durations);
    private static final Key<String> GROUP_ID = Key.word(
            "forecaster.group-id",
            "lendstream-forecaster",
            "Consumer group, and prefix of Kafka client names and transactional ids.");
    private static final Key<Mode> MODE = Key.choice(
            "forecaster.mode",
            Mode.EMBEDDED,
            "With embedded, the Flink job runs in this process. With cluster, it runs on the Flink cluster to which it is submitted.");
    private static final Key<ForecastDelivery> DELIVERY = Key.choice(
            "forecaster.delivery",
            ForecastDelivery.AT_LEAST_ONCE,
            "With at-least-once, forecasts are published at once, and perhaps repeated after a failure. With exactly-once, each is published once, with the next checkpoint.");
    private static final Key<Integer> PARALLELISM =
            Key.count("forecaster.parallelism", 1, MAX_PARALLELISM, 1, "Number of parallel tasks.");
    private static final Key<Duration> DISORDER = Key.duration(
            "forecaster.disorder",
            "10s",
            "Lag of event time behind the newest record before a silent source is given up.");
    private static final Key<Duration> IDLE_AFTER = Key.period(
            "forecaster.idle-after", "30s", "Silence after which a partition no longer holds back event time.");
    private static final Key<Duration> FORGET_AFTER =
            Key.period("forecaster.forget-after", "14d", "Silence after which a service's state is removed.");
    private static final Key<Duration> CHECKPOINT_INTERVAL =
            Key.period("forecaster.checkpoint-interval", "10s", "Interval of checkpoints.");
    private static final Key<Optional<Path>> STATE_DIRECTORY = Key.path(
                    "forecaster.state-dir",
                    ".",
                    "Directory of saved state, restored at start; empty for no saved state.")
            .optional();

    private static final Key<StateBackend> STATE_BACKEND = Key.choice(
            "forecaster.state-backend",
            StateBackend.HEAP,
            "Store of the state: heap is fastest; rocksdb holds more than memory, with incremental checkpoints.");
    private static final Key<Integer> SERVICE_METRICS = Key.count(
            "forecaster.service-metrics", 0, 1_000_000, 1000, "Number of services with own metrics in each task.");

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
                // in an accelerated run no participant waits for an early forecast, and runs would differ
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
            // a forecast is sent without waiting for others
            producer.put("linger.ms", "0");
        }
        // but forecasts issued while others are in flight are sent together: single requests keep the broker busy
        producer.putIfAbsent("max.in.flight.requests.per.connection", "1");
        producer.putIfAbsent("batch.size", "131072");
        Map<String, String> consumer = texts(kafka.consumer());
        // Flink sets these itself, and logs so at every start
        producer.keySet().removeAll(Set.of("key.serializer", "value.serializer"));
        consumer.keySet().removeAll(Set.of("key.deserializer", "value.deserializer", "auto.offset.reset"));
        return new ClientProperties(consumer, producer, texts(kafka.serdes()), settings.get(GROUP_ID));
    }

    /** Fails here with a clear error, and not later in the stream. */
    private static ForecastSettings forecast(Settings settings) {
        try {
            var forecast = new ForecastSettings(settings.get(MODEL), settings.get(STEP), settings.get(HORIZONS));
            Models.create(forecast);
            return forecast;
        } catch (IllegalArgumentException e) {
            throw new SettingsException(
                    "forecaster.model, forecaster.step and forecaster.horizons do not fit together: " + e.getMessage(),
                    e);
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
     * How long a transaction may stay open: longer than the time between two checkpoints, and no longer than readers
     * can do without forecasts, because an abandoned transaction hides all later records.
     */
    Duration transactionTimeout() {
        return state.checkpointInterval().multipliedBy(3).plusSeconds(30);
    }

    ForecasterSettings withStateDirectory(Path directory) {
        return new ForecasterSettings(topics, clients, forecast, input, output, state.in(directory), job);
    }
}
