package io.lendstream.agent.rates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Presets on pages of servers that were run, against the counts of the clients that posted to them: {@code
 * rates/live/README.md}.
 */
class LiveServersTest {
    private static final Path PAGES = Path.of("src/test/resources/rates/live");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    @Test
    void torchServeCountsRefusedRequestsAsOffered() throws IOException {
        RequestRate rate = window("torchserve", "torchserve-0.12.0", ServiceNames.AS_LABELLED)
                .rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("sleepy"));
        assertThat(rate.requests().arrivals()).isEqualTo(208 + 3393);
        assertThat(rate.requests().completions())
                .as("as nothing of a model tells better")
                .isEqualTo(208 + 3393);
        assertThat(rate.latency().p50LatencySeconds()).isEmpty();
    }

    @Test
    void whereTheServersOnlyModelIsNamedRefusedRequestsAreNoAnswers() throws IOException {
        var only = new ServiceNames(Map.of(), Optional.of(new ServiceId("sleepy")), false);
        RequestRate rate = window("torchserve", "torchserve-0.12.0", only).rate();

        assertThat(rate.requests().arrivals()).isEqualTo(208 + 3393);
        assertThat(rate.requests().completions()).isEqualTo(208);
    }

    @Test
    void tritonTellsAnswersQueueQuantilesAndBatches() throws IOException {
        Window window = window("triton", "triton-2.51.0", ServiceNames.AS_LABELLED);
        RequestRate rate = window.rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("slow"));
        assertThat(rate.requests().completions()).isEqualTo(202 - 106);
        assertThat(rate.requests().queueDepth()).isEqualTo(12);
        assertThat(rate.requests().arrivals()).as("answered, and queued").isEqualTo(202 - 106 + 12);
        assertThat(window.remarks()).contains(Window.Remark.ARRIVALS_DERIVED);
        assertThat(rate.latency().p50LatencySeconds().orElseThrow()).isCloseTo(55_446e-6, within(1e-9));
        assertThat(rate.latency().p99LatencySeconds().orElseThrow()).isCloseTo(1_051_073e-6, within(1e-9));
        assertThat(rate.batches()).extracting(BatchTimes::batch).containsExactly(8);
        assertThat(rate.batches().get(0).count()).isEqualTo(12);
        assertThat(rate.batches().get(0).meanMillis()).isBetween(50.0, 60.0);
    }

    @Test
    void rayServeTellsOfferedRefusedAndFailedRequestsApart() throws IOException {
        Window window = window("ray-serve", "ray-serve-2.60.0", ServiceNames.AS_LABELLED);
        RequestRate rate = window.rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("Sleepy"));
        assertThat(rate.requests().arrivals()).isEqualTo(295 + 33 + 2525);
        assertThat(rate.requests().completions()).isEqualTo(295);
        assertThat(window.remarks()).doesNotContain(Window.Remark.ARRIVALS_DERIVED);
        assertThat(rate.latency().p50LatencySeconds().orElseThrow()).isBetween(.05, .1);
        assertThat(rate.latency().p99LatencySeconds().orElseThrow()).isBetween(.05, .2);
    }

    /**
     * 32 were answered, 8 refused, 3 given up by their clients; 4 were being computed and 5 waited. Four asked for
     * another model.
     */
    @Test
    void dynamoTellsAnsweredRefusedAndWaitingRequestsApart() throws IOException {
        Window window = window("dynamo", "dynamo-1.6.1", ServiceNames.AS_LABELLED);
        RequestRate rate = window.rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("tiny"));
        assertThat(rate.requests().arrivals()).isEqualTo(32 + 8 + 3 + 4 + 5);
        assertThat(rate.requests().completions()).isEqualTo(32);
        assertThat(rate.requests().inFlight()).isEqualTo(4);
        assertThat(rate.requests().queueDepth()).isEqualTo(5);
        assertThat(window.remarks()).doesNotContain(Window.Remark.ARRIVALS_DERIVED);
        assertThat(rate.latency().p50LatencySeconds().orElseThrow())
                .as("the first bar reaches to 2 s")
                .isBetween(.9, 1.1);
        assertThat(rate.inputSizes().stream().mapToLong(SizeCount::requests).sum())
                .as("what was answered, given up and is being computed")
                .isEqualTo(32 + 3 + 4);
    }

    @Test
    void envoyTellsOfferedAndAnsweredRequestsWhateverBecameOfThem() throws IOException {
        Map<ServiceId, RequestRate> rates = new TreeMap<>();
        ended("envoy", "envoy-1.40.0", ServiceNames.AS_LABELLED)
                .forEach(window -> rates.put(window.rate().service(), window.rate()));

        assertThat(rates.entrySet().stream()
                        .map(of -> "%s: %d of %d"
                                .formatted(
                                        of.getKey(),
                                        of.getValue().requests().completions(),
                                        of.getValue().requests().arrivals())))
                .containsExactly(
                        "again: 10 of 20", // 10 failed, each of them three times
                        "chat: 296 of 556", // 249 refused by max_pending_requests, 7 failed, 4 being computed
                        "empty: 0 of 10", // no server
                        "few: 10 of 40", // 30 refused by max_requests
                        "gone: 0 of 10", // no listener
                        "late: 2 of 24", // of 10 the time was up, 12 clients left
                        "shut: 0 of 6"); // maintenance
        RequestRate chat = rates.get(new ServiceId("chat"));
        assertThat(chat.requests().inFlight()).isEqualTo(4);
        assertThat(chat.requests().queueDepth())
                .as("of which arrivals do not know yet")
                .isEqualTo(6);
        assertThat(chat.latency().p50LatencySeconds().orElseThrow()).isBetween(.05, .25);
        assertThat(chat.latency().p99LatencySeconds().orElseThrow()).isBetween(.1, .5);
    }

    /**
     * What NGINX tells by itself: 120 were answered, 100 refused, 7 failed, and one was the look at {@code
     * stub_status}.
     */
    @Test
    void nginxTellsRequestsOfTheWholeServerAndItsOwnLook() throws IOException {
        var only = new ServiceNames(Map.of(), Optional.of(new ServiceId("chat")), false);
        RequestRate rate = window("nginx", "nginx-1.22.1", only).rate();

        assertThat(rate.service()).isEqualTo(new ServiceId("chat"));
        assertThat(rate.requests().inFlight()).isEqualTo(4 + 1);
        assertThat(rate.requests().arrivals()).isEqualTo(120 + 100 + 7 + 4 + 1);
        assertThat(rate.requests().completions())
                .as("as nothing tells better")
                .isEqualTo(rate.requests().arrivals());
        assertThat(ended("nginx", "nginx-1.22.1", ServiceNames.AS_LABELLED))
                .as("without agent.rate-service")
                .isEmpty();
    }

    /** Triton shows {@code Nan} for quantiles of nothing. */
    @Test
    void aTritonThatHasAnsweredNothingYetHasNoQuantiles() throws IOException {
        var windows = windows("triton", ServiceNames.AS_LABELLED);
        windows.upTo(reading(0, "triton-2.51.0-idle", Optional.empty()));
        List<Window> idle = windows.upTo(reading(10, "triton-2.51.0-idle", Optional.empty()));

        assertThat(idle).hasSize(1);
        assertThat(idle.get(0).rate().requests().arrivals()).isZero();
        assertThat(idle.get(0).rate().latency().p50LatencySeconds()).isEmpty();
        assertThat(idle.get(0).rate().latency().p99LatencySeconds()).isEmpty();
    }

    private static Window window(String preset, String page, ServiceNames names) throws IOException {
        List<Window> ended = ended(preset, page, names);
        assertThat(ended).hasSize(1);
        return ended.get(0);
    }

    private static List<Window> ended(String preset, String page, ServiceNames names) throws IOException {
        var windows = windows(preset, names);
        windows.upTo(reading(0, page, Optional.of(page + "-statistics.json")));
        return windows.upTo(reading(10, page + "-later", Optional.of(page + "-statistics-later.json")));
    }

    private static Windows windows(String preset, ServiceNames names) {
        return new Windows(
                EndpointPresets.ours().named(preset),
                names,
                new DomainId("d"),
                "node/host:1",
                "boot",
                Duration.ofMinutes(1),
                ServedOn.WHOLE);
    }

    private static EndpointReading reading(int second, String page, Optional<String> statistics) throws IOException {
        List<Point> points = Exposition.parse(Files.readString(PAGES.resolve(page + ".prom"))).stream()
                .flatMap(family -> family.samples().stream())
                .map(sample -> new Point(sample.name(), sample.labels(), sample.value()))
                .toList();
        EndpointReading reading = EndpointReading.of(
                NOON.plusSeconds(second), Duration.ofSeconds(second).toNanos(), points);
        Path file = PAGES.resolve(statistics.orElse("none"));
        return Files.exists(file) ? reading.with(TritonStatistics.read(Files.readString(file))) : reading;
    }
}
