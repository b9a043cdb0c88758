package io.lendstream.forecaster;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.LetterBounds;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The job's graph. Inputs are request rates and declarations of services; outputs are forecasts, dead letters and
 * progress.
 */
final class ForecasterJob {
    static final String NAME = "lendstream-forecaster";

    private final ForecasterSettings settings;
    private final RateReader.Clock clock;

    ForecasterJob(ForecasterSettings settings, RateReader.Clock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** The sources of the job's records. */
    record Sources(Source<Incoming, ?, ?> rates, Source<Declared, ?, ?> declarations) {}

    /** The sinks of the job's records. */
    record Sinks(Sink<DemandForecast> forecasts, Sink<Progress> progress, Sink<RateDeadLetter> deadLetters) {}

    /** Adds the job to an environment, with Kafka topics as sources and sinks. */
    void build(StreamExecutionEnvironment environment) {
        TopicCatalogue topics = settings.topics();
        Map<String, String> serdes = settings.clients().serdes();
        build(
                environment,
                new Sources(rates(), declarations()),
                new Sinks(
                        sink("forecasts", new ForecastWriter(serdes, topics)),
                        sink("progress", new ProgressWriter(serdes, topics)),
                        sink("dead-letters", new DeadLetterWriter(topics.deadLetters(TopicCatalogue.REQUEST_RATES)))));
    }

    void build(StreamExecutionEnvironment environment, Sources sources, Sinks sinks) {
        environment.configure(options());
        environment.setParallelism(settings.job().parallelism());
        environment.setMaxParallelism(ForecasterSettings.MAX_PARALLELISM);

        SingleOutputStreamOperator<RequestRate> rates = environment
                .fromSource(sources.rates(), eventTime(), "request-rates", IncomingSerializer.TYPE)
                .uid("request-rates")
                .process(new PoisonSplit(), RateSerializer.TYPE)
                .name("poison-split")
                .uid("poison-split");
        DataStream<Declared> declarations = environment
                .fromSource(
                        sources.declarations(),
                        WatermarkStrategy.forGenerator(context -> new Timeless()),
                        "services",
                        DeclaredSerializer.TYPE)
                .uid("services");
        ServiceKey keys = new ServiceKey(settings.topics().intakes());
        SingleOutputStreamOperator<DemandForecast> forecasts = rates.keyBy(
                        rate -> keys.of(rate.domain(), rate.service()), Types.STRING)
                .connect(declarations.keyBy(Declared::service, Types.STRING))
                .process(forecasting(), ForecastSerializer.TYPE)
                .name("forecast")
                .uid("forecast");
        SingleOutputStreamOperator<Progress> progress = forecasts
                .keyBy(forecast -> forecast.domain().value(), Types.STRING)
                .process(new ProgressFunction(settings.state().forgetAfter()), ProgressSerializer.TYPE)
                .name("progress")
                .uid("progress");

        forecasts.sinkTo(sinks.forecasts()).name("demand-forecasts").uid("demand-forecasts");
        progress.sinkTo(sinks.progress()).name("progress-records").uid("progress-records");
        rates.getSideOutput(PoisonSplit.DEAD_LETTERS)
                .sinkTo(sinks.deadLetters())
                .name("dead-letters")
                .uid("dead-letters");
    }

    private ForecastFunction forecasting() {
        return new ForecastFunction(
                settings.forecast(),
                settings.state().forgetAfter(),
                settings.output().early(),
                settings.job().serviceMetrics(),
                clock);
    }

    private WatermarkStrategy<Incoming> eventTime() {
        long disorderMillis = settings.input().disorder().toMillis();
        RateReader.Clock here = clock;
        return WatermarkStrategy.<Incoming>forGenerator(context -> new RateTime(here, disorderMillis))
                .withTimestampAssigner((incoming, recordTime) -> incoming instanceof Incoming.Measured measured
                        ? measured.rate().windowEnd().toEpochMilli()
                        : recordTime)
                .withIdleness(settings.input().idleAfter());
    }

    /** Options of the job itself, on any cluster. */
    private Configuration options() {
        Configuration options = new Configuration();
        options.set(PipelineOptions.NAME, NAME);
        // records that arrive together are sent together; the control loop waits for the forecast, not for a full
        // buffer
        options.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.ofMillis(1));
        // without a name of its own, an operator would lose its state when the graph changes
        options.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
        options.set(
                StateBackendOptions.STATE_BACKEND, settings.state().backend().nameInFlink());
        options.set(
                CheckpointingOptions.INCREMENTAL_CHECKPOINTS, settings.state().backend() == StateBackend.ROCKSDB);
        options.set(
                CheckpointingOptions.CHECKPOINTING_INTERVAL, settings.state().checkpointInterval());
        options.set(
                CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE,
                settings.output().delivery() == ForecastDelivery.EXACTLY_ONCE
                        ? CheckpointingMode.EXACTLY_ONCE
                        : CheckpointingMode.AT_LEAST_ONCE);
        options.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        options.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 3);
        settings.state().directory().ifPresent(directory -> {
            options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
            options.set(
                    CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                    directory.toUri().toString());
        });
        options.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
        options.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF, Duration.ofSeconds(1));
        options.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF, Duration.ofMinutes(1));
        options.addAll(Configuration.fromMap(settings.job().options()));
        return options;
    }

    @SuppressWarnings("deprecation") // the connector still takes Kafka's former enum
    private static OffsetsInitializer committedOrEarliest() {
        return OffsetsInitializer.committedOffsets(org.apache.kafka.clients.consumer.OffsetResetStrategy.EARLIEST);
    }

    private KafkaSource<Incoming> rates() {
        return this.<Incoming>source(TopicCatalogue.REQUEST_RATES, "")
                .setStartingOffsets(committedOrEarliest())
                .setDeserializer(new RateReader(
                        settings.clients().serdes(),
                        settings.topics(),
                        settings.input().maxClockSkew(),
                        clock,
                        settings.input().maxRecordBytes(),
                        LetterBounds.of(settings.clients().producer())))
                .build();
    }

    private KafkaSource<Declared> declarations() {
        return this.<Declared>source(TopicCatalogue.SERVICES, "-services")
                // a job that starts without state must read all of them again, committed or not
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setDeserializer(new DeclarationReader(
                        settings.clients().serdes(),
                        settings.topics(),
                        settings.input().maxClockSkew(),
                        clock,
                        settings.input().maxRecordBytes()))
                .build();
    }

    private <T> KafkaSourceBuilder<T> source(Topic<?> topic, String client) {
        Properties properties = new Properties();
        properties.putAll(settings.clients().consumer());
        return KafkaSource.<T>builder()
                .setProperties(properties)
                .setGroupId(settings.clients().groupId())
                .setClientIdPrefix(settings.clients().groupId() + client)
                .setTopics(settings.topics().names(topic));
    }

    private <T> KafkaSink<T> sink(String name, KafkaRecordSerializationSchema<T> writer) {
        Properties properties = new Properties();
        properties.putAll(settings.clients().producer());
        properties.putIfAbsent(
                "transaction.timeout.ms",
                Long.toString(settings.transactionTimeout().toMillis()));
        properties.put("client.id", settings.clients().groupId() + "-" + name);
        var builder = KafkaSink.<T>builder()
                .setKafkaProducerConfig(properties)
                .setBootstrapServers(properties.getProperty("bootstrap.servers"))
                .setRecordSerializer(writer)
                .setDeliveryGuarantee(settings.output().delivery().guarantee());
        if (settings.output().delivery().guarantee() == DeliveryGuarantee.EXACTLY_ONCE) {
            // with this naming a restart finds and aborts transactions that a lost task left open, and readers need
            // not wait for them
            builder.setTransactionalIdPrefix(settings.clients().groupId() + "-" + name)
                    .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING);
        }
        return builder.build();
    }

    /** Forecasts by service. */
    private static final class ForecastWriter extends TopicSerializer<DemandForecast> {
        private static final long serialVersionUID = 1L;

        private final ServiceKey keys;

        ForecastWriter(Map<String, String> properties, TopicCatalogue topics) {
            super(properties, topics);
            keys = new ServiceKey(topics.intakes());
        }

        @Override
        Topic<DemandForecast> topic() {
            return TopicCatalogue.DEMAND_FORECASTS;
        }

        @Override
        String key(DemandForecast forecast) {
            return keys.of(forecast.domain(), forecast.service());
        }

        @Override
        Instant time(DemandForecast forecast) {
            return forecast.issuedAt();
        }
    }

    /** Serializes progress, with the forecaster's name as key. */
    private static final class ProgressWriter extends TopicSerializer<Progress> {
        private static final long serialVersionUID = 1L;

        ProgressWriter(Map<String, String> properties, TopicCatalogue topics) {
            super(properties, topics);
        }

        @Override
        Topic<Progress> topic() {
            return TopicCatalogue.PROGRESS;
        }

        @Override
        String key(Progress progress) {
            return progress.service();
        }

        @Override
        Instant time(Progress progress) {
            return progress.eventTime();
        }
    }

    /** Writes dead letters unchanged. */
    private static final class DeadLetterWriter
            implements KafkaRecordSerializationSchema<RateDeadLetter>, KafkaDatasetFacetProvider {
        private static final long serialVersionUID = 1L;

        private final String topic;

        DeadLetterWriter(String topic) {
            this.topic = topic;
        }

        @Override
        public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
            return Optional.of(TopicSerializer.writesTo(topic));
        }

        @Override
        public ProducerRecord<byte[], byte[]> serialize(
                RateDeadLetter letter, KafkaSinkContext context, Long timestamp) {
            return letter.toTopic(topic);
        }
    }
}
