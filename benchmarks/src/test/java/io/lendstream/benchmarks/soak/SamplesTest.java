package io.lendstream.benchmarks.soak;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SamplesTest {
    private final Samples samples = new Samples();

    private void sampled(SoakMetric figure, DoubleUnaryOperator valueAtMinute) {
        IntStream.range(0, 240)
                .mapToDouble(sample -> sample / 2.0)
                .forEach(minute -> samples.add("load", figure, minute, valueAtMinute.applyAsDouble(minute)));
    }

    @Test
    void aLineIsItsOwnSlope() {
        Slope slope = Slope.of(
                IntStream.range(0, 100).mapToDouble(i -> i).toArray(),
                IntStream.range(0, 100).mapToDouble(i -> 5 + 2 * i).toArray());

        assertThat(slope.perMinute()).isEqualTo(2, within(1e-9));
        assertThat(slope.low()).isEqualTo(2, within(1e-6));
        assertThat(slope.high()).isEqualTo(2, within(1e-6));
    }

    @Test
    void anIntervalHoldsTheSlopeOfOscillations() {
        var chance = new SplittableRandom(7);
        int held = 0;
        for (int run = 0; run < 200; run++) {
            Slope slope = Slope.of(
                    IntStream.range(0, 200).mapToDouble(i -> i).toArray(),
                    IntStream.range(0, 200)
                            .mapToDouble(i -> 0.1 * i + 20 * chance.nextDouble())
                            .toArray());
            held += slope.low() <= 0.1 && slope.high() >= 0.1 ? 1 : 0;
        }

        assertThat(held).isBetween(180, 199);
    }

    @Test
    void fewSamplesHaveNoSlope() {
        assertThatThrownBy(() -> Slope.of(new double[15], new double[15])).hasMessageContaining("at least 16");
        samples.add("load", SoakMetric.RSS, 0, 100);

        assertThat(samples.misses()).singleElement().asString().contains("make the run longer");
    }

    @Test
    void whatGrowsOverItsBoundIsAMiss() {
        sampled(SoakMetric.RSS, minute -> 118 + 2.1 * minute);

        assertThat(samples.misses())
                .containsExactly("load: rssMegabytes grows by 2.10 a minute (2.10 to 2.10), but may by 1.00");
    }

    @Test
    void whatOnlySwingsOrOnlyGrowsAtTheStartIsNone() {
        sampled(SoakMetric.HEAP, minute -> 20 + 5 * Math.sin(minute));
        sampled(SoakMetric.RSS, minute -> Math.min(200, 100 + 10 * minute));
        sampled(SoakMetric.MAPPED, minute -> 100 * minute);

        assertThat(samples.misses()).isEmpty();
    }

    @Test
    void metricsTellTheSlopeWithItsInterval() {
        sampled(SoakMetric.THREADS, minute -> 28);

        assertThat(samples.metrics())
                .isEqualTo(Map.of(
                        "load",
                        Map.of("threads", Map.of("first", 28.0, "last", 28.0, "perMinute", List.of(0.0, 0.0, 0.0)))));
    }

    @Test
    void thisProcessCanBeSampled() {
        ProcessSampler.sample("me", ProcessHandle.current().pid(), 0, samples);

        Map<?, ?> mine = (Map<?, ?>) samples.metrics().get("me");
        assertThat(mine.keySet().stream().map(String::valueOf))
                .contains("rssMegabytes", "heapMegabytes", "threads", "descriptors");
    }

    @Test
    void filesOfSegmentsAreNoLeakOfDescriptors(@TempDir Path log) throws IOException {
        Map<String, Double> before = openFiles();
        try (var segment = Files.newByteChannel(log.resolve("00000000000000000042.timeindex"), CREATE, WRITE);
                var other = Files.newByteChannel(log.resolve("00000000000000000042.txt"), CREATE, WRITE)) {
            assertThat(segment.isOpen() && other.isOpen()).isTrue();
            Map<String, Double> now = openFiles();

            assertThat(now.get("openSegmentFiles")).isEqualTo(1 + before.getOrDefault("openSegmentFiles", 0.0));
            assertThat(now.get("descriptors")).isGreaterThanOrEqualTo(1 + before.getOrDefault("descriptors", 0.0));
        }
    }

    private static Map<String, Double> openFiles() {
        var samples = new Samples();
        ProcessSampler.sample("me", ProcessHandle.current().pid(), 0, samples);
        Map<?, ?> mine = (Map<?, ?>) samples.metrics().get("me");
        return mine.entrySet().stream().collect(Collectors.toMap(entry -> String.valueOf(entry.getKey()), entry ->
                (Double) ((Map<?, ?>) entry.getValue()).get("last")));
    }

    @Test
    void topicsAreCountedWithAllTheirPartitions(@TempDir Path data) throws IOException {
        for (String partition : List.of("decisions-0", "decisions-1")) {
            Path log = Files.createDirectories(data.resolve("broker/log").resolve(partition));
            Files.write(log.resolve("00000000000000000000.log"), new byte[1 << 20]);
            Files.write(log.resolve("00000000000000000000.index"), new byte[1 << 20]);
        }

        ProcessSampler.sampleFiles(data, 0, samples);

        assertThat(samples.metrics())
                .isEqualTo(Map.of(
                        "topic decisions", Map.of("megabytes", Map.of("first", 2.0, "last", 2.0)),
                        "files of broker", Map.of("megabytes", Map.of("first", 4.0, "last", 4.0))));
    }
}
