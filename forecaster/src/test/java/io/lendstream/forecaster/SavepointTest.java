package io.lendstream.forecaster;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.service.Rates;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The job goes on from savepoints that earlier versions took. One for each format of state is kept; {@code ./dev
 * savepoint} takes that of the present format.
 */
@Timeout(120)
class SavepointTest {
    private static final Path KEPT = Path.of("src/test/resources/savepoints");
    private static final Queue<DemandForecast> FORECASTS = new ConcurrentLinkedQueue<>();
    private static final Queue<Progress> PROGRESS = new ConcurrentLinkedQueue<>();
    private static final Queue<RateDeadLetter> DEAD_LETTERS = new ConcurrentLinkedQueue<>();

    /** Four windows a minute, and every record comes twice. */
    private static final List<RequestRate> RATES = rates(160);

    /** Of the service that the rates are of, before the savepoint; and of another. */
    private static final List<Declared> DECLARED = List.of(
            new Declared("chat", Optional.of(new ReplicaCapacity(1000, 3))), new Declared("search", Optional.empty()));

    private static final int STEPS = RATES.size() / 8;
    /** In the middle of a step, between a record and its duplicate. */
    private static final long BEFORE_SAVEPOINT = 205;

    @TempDir
    private Path directory;

    @BeforeAll
    static void takesTheSavepointOfThisFormatIfTold(@TempDir Path temporary) throws Exception {
        if (Boolean.getBoolean("savepoint.update")) {
            forget();
            JobClient job = start(new Configuration(), BEFORE_SAVEPOINT, 1, temporary);
            while (FORECASTS.size() < BEFORE_SAVEPOINT / 8) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
            String taken = job.stopWithSavepoint(false, temporary.toUri().toString(), SavepointFormatType.CANONICAL)
                    .get();
            Path here = Files.createDirectories(ofThisFormat());
            Files.copy(
                    Path.of(URI.create(taken)).resolve("_metadata"),
                    here.resolve("_metadata"),
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }

    @BeforeEach
    void begin() {
        forget();
    }

    static Stream<Path> kept() throws Exception {
        try (Stream<Path> formats = Files.list(KEPT)) {
            return formats.sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("kept")
    void goesOnFromASavepointOfEveryFormat(Path savepoint) throws Exception {
        var options = new Configuration();
        options.set(
                StateRecoveryOptions.SAVEPOINT_PATH,
                savepoint.toAbsolutePath().toUri().toString());

        start(options, Long.MAX_VALUE, Long.MAX_VALUE, directory)
                .getJobExecutionResult()
                .get();

        int first = (int) BEFORE_SAVEPOINT / 8 + 1;
        assertThat(FORECASTS).extracting(DemandForecast::issuedAt).containsExactlyElementsOf(minutes(first, STEPS));
        assertThat(FORECASTS).allSatisfy(forecast -> {
            // 60 requests a window: more if a duplicate was counted, unknown if nothing was remembered
            assertThat(forecast.horizons().get(0).p50()).isBetween(3.9, 4.1);
            assertThat(forecast.recentError()).isPresent();
            // formats before that know of no declarations
            if (savepoint.endsWith("format-5")) {
                assertThat(forecast.horizons().get(0).gpus()).contains(new GpuQuantiles(3, 3, 3, 3));
            }
        });
        assertThat(PROGRESS).hasSize(STEPS - first + 1);
    }

    @Test
    void aSavepointOfThisFormatIsKept() {
        assertThat(ofThisFormat())
                .as("take it with ./dev savepoint, and keep those of earlier formats")
                .isDirectory();
    }

    private static Path ofThisFormat() {
        return KEPT.resolve("format-" + StateWriter.FORMAT);
    }

    /** With so many request rates, and so many declarations, and then none. */
    private static JobClient start(Configuration options, long rates, long declarations, Path stateDirectory)
            throws Exception {
        options.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(8));
        options.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(8));
        var environment = StreamExecutionEnvironment.createLocalEnvironment(1, options);
        new ForecasterJob(ForecasterSettingsTest.settings().withStateDirectory(stateDirectory), Instant::now)
                .build(
                        environment,
                        new ForecasterJob.Sources(
                                new DataGeneratorSource<>(
                                        index -> new Incoming.Measured(RATES.get(index.intValue())),
                                        RATES.size(),
                                        parallelism -> new Gate(rates),
                                        IncomingSerializer.TYPE),
                                new DataGeneratorSource<>(
                                        index -> DECLARED.get(index.intValue()),
                                        DECLARED.size(),
                                        parallelism -> new Gate(declarations),
                                        DeclaredSerializer.TYPE)),
                        new ForecasterJob.Sinks(
                                new CollectingSink<>(forecast -> FORECASTS.add(forecast)),
                                new CollectingSink<>(progress -> PROGRESS.add(progress)),
                                new CollectingSink<>(letter -> DEAD_LETTERS.add(letter))));
        return environment.executeAsync();
    }

    private static void forget() {
        FORECASTS.clear();
        PROGRESS.clear();
        DEAD_LETTERS.clear();
    }

    private static List<RequestRate> rates(int windows) {
        var gateway = Rates.of("gateway");
        var rates = new ArrayList<RequestRate>();
        for (int window = 0; window < windows; window++) {
            RequestRate rate = gateway.next(60);
            rates.add(rate);
            rates.add(rate);
        }
        return List.copyOf(rates);
    }

    private static List<Instant> minutes(int first, int last) {
        return Stream.iterate(first, minute -> minute + 1)
                .limit(last - first + 1)
                .map(minute -> Rates.MIDNIGHT.plusSeconds(60L * minute))
                .toList();
    }
}
