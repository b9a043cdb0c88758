package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.service.Rates;
import io.lendstream.core.id.ServiceId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Declarations beside request rates in the whole graph, on a MiniCluster whose sources never end. */
@Timeout(120)
class DeclaredServicesTest {
    private static final Queue<DemandForecast> FORECASTS = new ConcurrentLinkedQueue<>();
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Ten requests/s of chat, for which these have three and twelve GPUs. */
    private static final List<RequestRate> CHAT = windows(Rates.of("gateway"), 20_000);

    private static final Declared FIRST = new Declared("chat", Optional.of(new ReplicaCapacity(4, 0)));
    private static final Declared THEN = new Declared("chat", Optional.of(new ReplicaCapacity(1, 0)));

    /** Half a minute of chat, and five minutes of search. */
    private static final List<RequestRate> BOTH = Stream.concat(
                    windows(Rates.of("gateway"), 2).stream(),
                    windows(Rates.of("other"), 20).stream().map(DeclaredServicesTest::ofSearch))
            .toList();

    @TempDir
    private Path directory;

    @BeforeEach
    void forget() {
        FORECASTS.clear();
    }

    @Test
    void forecastsAreInGpusAndFollowANewDeclaration() throws Exception {
        JobClient job = start(
                new DataGeneratorSource<>(
                        index -> new Incoming.Measured(CHAT.get(index.intValue())),
                        CHAT.size(),
                        parallelism -> new Gate(CHAT.size(), Duration.ofMillis(2)),
                        IncomingSerializer.TYPE),
                new DataGeneratorSource<>(
                        index -> gpus().contains(3) ? THEN : FIRST,
                        Long.MAX_VALUE,
                        parallelism -> new Gate(Long.MAX_VALUE, Duration.ofMillis(5)),
                        DeclaredSerializer.TYPE));

        await().atMost(PATIENCE).until(() -> gpus().contains(12));
        job.cancel().get();

        assertThat(gpus()).containsOnly(3, 12).isSorted();
    }

    /** A step of chat is closed by event time alone, which search moves on. */
    @Test
    void declarationsThatAreFollowedByNoneHoldNoStepBack() throws Exception {
        JobClient job = start(
                new DataGeneratorSource<>(
                        index -> new Incoming.Measured(BOTH.get(index.intValue())),
                        BOTH.size() + 1,
                        parallelism -> new Gate(BOTH.size()),
                        IncomingSerializer.TYPE),
                new DataGeneratorSource<>(index -> FIRST, 2, parallelism -> new Gate(1), DeclaredSerializer.TYPE));

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(FORECASTS)
                        .filteredOn(forecast -> forecast.service().equals(Rates.SERVICE))
                        .extracting(DemandForecast::issuedAt)
                        .containsExactly(MIDNIGHT.plusSeconds(60)));
        job.cancel().get();
    }

    /** What forecasts have said in GPUs for the p50 of the first horizon. */
    private static List<Integer> gpus() {
        return FORECASTS.stream()
                .flatMap(forecast -> forecast.horizons().get(0).gpus().stream())
                .map(GpuQuantiles::p50)
                .toList();
    }

    private JobClient start(Source<Incoming, ?, ?> rates, Source<Declared, ?, ?> declarations) throws Exception {
        var options = new Configuration();
        options.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        options.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        var environment = StreamExecutionEnvironment.createLocalEnvironment(1, options);
        Instant later = MIDNIGHT.plus(Duration.ofDays(10));
        new ForecasterJob(ForecasterSettingsTest.settings().withStateDirectory(directory), () -> later)
                .build(
                        environment,
                        new ForecasterJob.Sources(rates, declarations),
                        new ForecasterJob.Sinks(
                                new CollectingSink<>(forecast -> FORECASTS.add(forecast)),
                                new CollectingSink<>(progress -> {}),
                                new CollectingSink<>(letter -> {})));
        return environment.executeAsync();
    }

    private static List<RequestRate> windows(Rates source, int count) {
        List<RequestRate> windows = new ArrayList<>();
        for (int window = 0; window < count; window++) {
            windows.add(source.next(150));
        }
        return List.copyOf(windows);
    }

    private static RequestRate ofSearch(RequestRate rate) {
        return Rates.of(rate, new ServiceId("search"), rate.domain());
    }
}
