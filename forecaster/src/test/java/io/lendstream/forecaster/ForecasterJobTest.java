package io.lendstream.forecaster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Progress;
import io.lendstream.core.forecast.service.Rates;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole graph on a MiniCluster, between lists in place of topics. */
class ForecasterJobTest {
    private static final Queue<DemandForecast> FORECASTS = new ConcurrentLinkedQueue<>();
    private static final Queue<Progress> PROGRESS = new ConcurrentLinkedQueue<>();
    private static final Queue<RateDeadLetter> DEAD_LETTERS = new ConcurrentLinkedQueue<>();

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"heap", "rocksdb"})
    void forecastsEveryStepAndPutsPoisonAside(String backend) throws Exception {
        FORECASTS.clear();
        PROGRESS.clear();
        DEAD_LETTERS.clear();
        Configuration options = new Configuration();
        options.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(32));
        options.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        options.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        var environment = StreamExecutionEnvironment.createLocalEnvironment(2, options);
        var settings = ForecasterSettingsTest.settings("forecaster.state-backend=" + backend)
                .withStateDirectory(directory);
        new ForecasterJob(settings, Instant::now)
                .build(
                        environment,
                        new ForecasterJob.Sources(
                                new DataGeneratorSource<>(
                                        index -> records().get(index.intValue()),
                                        records().size(),
                                        IncomingSerializer.TYPE),
                                new DataGeneratorSource<>(
                                        index -> new Declared("chat", Optional.empty()), 1, DeclaredSerializer.TYPE)),
                        new ForecasterJob.Sinks(
                                new CollectingSink<>(forecast -> FORECASTS.add(forecast)),
                                new CollectingSink<>(progress -> PROGRESS.add(progress)),
                                new CollectingSink<>(letter -> DEAD_LETTERS.add(letter))));
        environment.execute();

        assertThat(FORECASTS)
                .extracting(DemandForecast::issuedAt)
                .containsExactly(
                        Rates.MIDNIGHT.plusSeconds(60),
                        Rates.MIDNIGHT.plusSeconds(120),
                        Rates.MIDNIGHT.plusSeconds(180));
        assertThat(PROGRESS).hasSize(3);
        assertThat(DEAD_LETTERS).extracting(RateDeadLetter::kind).containsExactly("test");
        assertThat(environment.getMaxParallelism()).isEqualTo(120);
    }

    @ParameterizedTest
    @EnumSource(ForecastDelivery.class)
    void givesEveryOperatorANameThatItsStateIsFoundByAtAnyDelivery(ForecastDelivery delivery) {
        var environment = StreamExecutionEnvironment.createLocalEnvironment(1);

        new ForecasterJob(
                        ForecasterSettingsTest.settings("forecaster.delivery="
                                + delivery.name().toLowerCase(Locale.ROOT).replace('_', '-')),
                        Instant::now)
                .build(environment);

        assertThat(environment.getStreamGraph().getStreamNodes())
                .isNotEmpty()
                .allSatisfy(node -> assertThat(node.getTransformationUID()).isNotNull());
    }

    /** Three minutes of two sources, each record twice, and a poison record in between. */
    private static List<Incoming> records() {
        var left = Rates.of("left").every(Duration.ofSeconds(30));
        var right = Rates.of("right").every(Duration.ofSeconds(30));
        List<Incoming> records = new ArrayList<>();
        for (int window = 0; window < 6; window++) {
            var first = new Incoming.Measured(left.next(30));
            var second = new Incoming.Measured(right.next(60));
            records.addAll(List.of(first, second, first, second));
        }
        var poison = new ConsumerRecord<>("lendstream.request-rates", 0, 5L, "chat".getBytes(UTF_8), new byte[] {1});
        records.add(7, new Incoming.Poison(new RateDeadLetter(poison, "test", "not a record")));
        return records;
    }
}
