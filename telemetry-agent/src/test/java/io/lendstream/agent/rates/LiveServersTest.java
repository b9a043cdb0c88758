package io.lendstream.agent.rates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Presets on pages of servers that were run, against what whoever posted to them counted: {@code rates/live/README.md}. */
class LiveServersTest {
    private static final Path PAGES = Path.of("src/test/resources/rates/live");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    @Test
    void torchServeCountsRefusedRequestsAsOffered() throws IOException {
        RequestRate rate = window("torchserve", "torchserve-0.12.0", ServiceNames.AS_LABELLED)
                .rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("sleepy"));
        assertThat(rate.arrivals()).isEqualTo(208 + 3393);
        assertThat(rate.completions()).as("as nothing of a model tells better").isEqualTo(208 + 3393);
        assertThat(rate.p50LatencySeconds()).isEmpty();
    }

    @Test
    void whereTheServersOnlyModelIsNamedRefusedRequestsAreNoAnswers() throws IOException {
        var only = new ServiceNames(Map.of(), Optional.of(new ServiceId("sleepy")), false);
        RequestRate rate = window("torchserve", "torchserve-0.12.0", only).rate();

        assertThat(rate.arrivals()).isEqualTo(208 + 3393);
        assertThat(rate.completions()).isEqualTo(208);
    }

    @Test
    void tritonTellsAnswersQueueQuantilesAndBatches() throws IOException {
        Window window = window("triton", "triton-2.51.0", ServiceNames.AS_LABELLED);
        RequestRate rate = window.rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("slow"));
        assertThat(rate.completions()).isEqualTo(202 - 106);
        assertThat(rate.queueDepth()).isEqualTo(12);
        assertThat(rate.arrivals()).as("answered, and queued").isEqualTo(202 - 106 + 12);
        assertThat(window.remarks()).contains(Window.Remark.ARRIVALS_DERIVED);
        assertThat(rate.p50LatencySeconds().orElseThrow()).isCloseTo(55_446e-6, within(1e-9));
        assertThat(rate.p99LatencySeconds().orElseThrow()).isCloseTo(1_051_073e-6, within(1e-9));
        assertThat(rate.batches()).extracting(BatchTimes::batch).containsExactly(8);
        assertThat(rate.batches().get(0).count()).isEqualTo(12);
        assertThat(rate.batches().get(0).meanMillis()).isBetween(50.0, 60.0);
    }

    @Test
    void rayServeTellsOfferedRefusedAndFailedRequestsApart() throws IOException {
        Window window = window("ray-serve", "ray-serve-2.60.0", ServiceNames.AS_LABELLED);
        RequestRate rate = window.rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("Sleepy"));
        assertThat(rate.arrivals()).isEqualTo(295 + 33 + 2525);
        assertThat(rate.completions()).isEqualTo(295);
        assertThat(window.remarks()).doesNotContain(Window.Remark.ARRIVALS_DERIVED);
        assertThat(rate.p50LatencySeconds().orElseThrow()).isBetween(.05, .1);
        assertThat(rate.p99LatencySeconds().orElseThrow()).isBetween(.05, .2);
    }

    /** Triton shows {@code Nan} for quantiles of nothing. */
    @Test
    void aTritonThatHasAnsweredNothingYetHasNoQuantiles() throws IOException {
        var windows = windows("triton", ServiceNames.AS_LABELLED);
        windows.upTo(reading(0, "triton-2.51.0-idle", Optional.empty()));
        List<Window> idle = windows.upTo(reading(10, "triton-2.51.0-idle", Optional.empty()));

        assertThat(idle).hasSize(1);
        assertThat(idle.get(0).rate().arrivals()).isZero();
        assertThat(idle.get(0).rate().p50LatencySeconds()).isEmpty();
        assertThat(idle.get(0).rate().p99LatencySeconds()).isEmpty();
    }

    private static Window window(String preset, String page, ServiceNames names) throws IOException {
        var windows = windows(preset, names);
        windows.upTo(reading(0, page, Optional.of(page + "-statistics.json")));
        List<Window> ended = windows.upTo(reading(10, page + "-later", Optional.of(page + "-statistics-later.json")));
        assertThat(ended).hasSize(1);
        return ended.get(0);
    }

    private static Windows windows(String preset, ServiceNames names) {
        return new Windows(
                Presets.ours().named(preset),
                names,
                new DomainId("d"),
                "node/host:1",
                "boot",
                Duration.ofMinutes(1),
                Optional.empty());
    }

    private static Reading reading(int second, String page, Optional<String> statistics) throws IOException {
        List<Point> points = Exposition.parse(Files.readString(PAGES.resolve(page + ".prom"))).stream()
                .flatMap(family -> family.samples().stream())
                .map(sample -> new Point(sample.name(), sample.labels(), sample.value()))
                .toList();
        Reading reading =
                Reading.of(NOON.plusSeconds(second), Duration.ofSeconds(second).toNanos(), points);
        Path file = PAGES.resolve(statistics.orElse("none"));
        return Files.exists(file) ? reading.with(TritonStatistics.read(Files.readString(file))) : reading;
    }
}
