package io.lendstream.agent.rates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.agent.exposition.Exposition;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each preset on what its server shows at two moments, ten seconds apart; the figures are reckoned by hand. */
class EndpointPresetsTest {
    private static final Path FIXTURES = Path.of("src/test/resources/rates");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    @TempDir
    Path directory;

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        // preset, service, arrivals, completions, in flight, queue, p50 ms, p99 ms, derived
        "dynamo,        qwen,                              40,  30, 20,  5, 1000,  1980, false",
        "envoy,         chat,                             120,  95, 10,  4,   50,    99, false",
        "generic,       rank,                              23,  20,  4,  0,   50,    99, true",
        "istio,         chat,                              27,  20,  0,  0,    5,   9.9, true",
        "kserve,        iris,                              15,  15,  0,  0, 17.5, 24.85, false",
        "nginx,         the-only,                         232, 232,  5,  0,     ,      , false",
        "nginx-ingress, chat-svc,                          33,  30,  0,  0,   50,    99, true",
        "nginx-vts,     chat,                              28,  25,  0,  0,  250,   495, true",
        "ray-serve,     Translator,                        50,  40,  8, 19,  100,   198, false",
        "torchserve,    resnet-18,                         60,  60,  0,  0,     ,      , false",
        "triton,        bert,                             100,  90,  0,  7,   15,    60, true",
        "vllm,          meta-llama/Llama-3.1-8B-Instruct,  49,  49, 14,  0, 1300,  9722, true"
    })
    void readsItsServer(
            String preset,
            String service,
            long arrivals,
            long completions,
            int inFlight,
            int queue,
            Double p50Millis,
            Double p99Millis,
            boolean derived)
            throws IOException {
        Window window = window(preset);
        RequestRate rate = window.rate();

        assertThat(rate.service().value()).isEqualTo(service);
        assertThat(rate.requests().arrivals()).as("arrivals").isEqualTo(arrivals);
        assertThat(rate.requests().completions()).as("completions").isEqualTo(completions);
        assertThat(rate.requests().inFlight()).as("in flight").isEqualTo(inFlight);
        assertThat(rate.requests().queueDepth()).as("queue").isEqualTo(queue);
        assertThat(millis(rate.latency().p50LatencySeconds()))
                .isEqualTo(millis(Optional.ofNullable(p50Millis).map(ms -> ms / 1000)));
        assertThat(millis(rate.latency().p99LatencySeconds()))
                .isEqualTo(millis(Optional.ofNullable(p99Millis).map(ms -> ms / 1000)));
        assertThat(window.remarks().contains(Window.Remark.ARRIVALS_DERIVED)).isEqualTo(derived);
    }

    @Test
    void tokensOfPromptsAreInputSizes() throws IOException {
        assertThat(window("vllm").rate().inputSizes()).containsExactly(new SizeCount(200, 41), new SizeCount(2000, 9));
        assertThat(window("dynamo").rate().inputSizes())
                .containsExactly(new SizeCount(100, 10), new SizeCount(1000, 20));
    }

    @Test
    void everyPresetIsTriedAndSaysWhatItIsFor() {
        assertThat(EndpointPresets.ours().all().values()).allSatisfy(preset -> {
            assertThat(FIXTURES.resolve(preset.name() + ".prom")).exists();
            assertThat(preset.about()).isNotBlank();
        });
    }

    @Test
    void thePageListsEveryPreset() throws IOException {
        String page = Files.readString(Path.of("../docs/agent-rates.md"));

        assertThat(EndpointPresets.ours().all().keySet())
                .allSatisfy(name -> assertThat(page).contains("| `" + name + "` |"));
    }

    @Test
    void aSiteWritesItsOwnInTheSameFormat() throws IOException {
        Path file = Files.writeString(directory.resolve("own.properties"), """
                ours.service = app
                ours.arrivals = in_total - health_total | requests_total{path!~"/health.*"}
                vllm.service = model
                vllm.completions = done_total
                """);

        EndpointPresets presets = EndpointPresets.ours().and(file);

        assertThat(presets.named("ours").arrivals().alternatives()).hasSize(2);
        assertThat(presets.named("vllm").labels()).containsExactly("model");
        assertThat(presets.named("triton")).isEqualTo(EndpointPresets.ours().named("triton"));
    }

    @Test
    void aFileThatIsWrongSaysWhere() throws IOException {
        assertThatThrownBy(() -> EndpointPresets.ours().and(written("ours.arivals = a")))
                .hasMessageStartingWith("rate preset ours has 'arivals', but may have only about, service, arrivals");
        assertThatThrownBy(() -> EndpointPresets.ours().and(written("ours.arrivals = a{b=c}")))
                .hasMessageContaining("ours.arrivals")
                .hasMessageContaining("code=\"200\"");
        assertThatThrownBy(() -> EndpointPresets.ours().and(written("ours.queue = a")))
                .hasMessageContaining("neither arrivals nor completions");
        assertThatThrownBy(() -> EndpointPresets.ours().and(directory.resolve("none")))
                .hasMessageContaining("cannot be read");
        assertThatThrownBy(() -> EndpointPresets.ours().named("vlm"))
                .hasMessageContaining("there is no rate preset 'vlm'; presets are dynamo, envoy");
    }

    @Test
    void batchesOfTritonAreReadByModelAndSize() {
        String text = """
                {"model_stats":[{"name":"bert","version":"1","inference_count":40,"execution_count":10,
                 "batch_stats":[{"batch_size":4,"compute_input":{"count":10,"ns":1000},
                 "compute_infer":{"count":10,"ns":90000},"compute_output":{"count":10,"ns":500}}]},
                 {"name":"bert","version":"2","batch_stats":[{"batch_size":4,"compute_input":{"count":1,"ns":1},
                 "compute_infer":{"count":1,"ns":1},"compute_output":{"count":1,"ns":1}}]}]}
                """;

        assertThat(TritonStatistics.read(text).get("bert").get(4).infer().count())
                .isEqualTo(11);
        assertThatThrownBy(() -> TritonStatistics.read("<html>")).isInstanceOf(UnreadableException.class);
    }

    private Path written(String text) throws IOException {
        return Files.writeString(directory.resolve("wrong.properties"), text);
    }

    private static Window window(String preset) throws IOException {
        var windows = new Windows(
                EndpointPresets.ours().named(preset),
                new ServiceNames(Map.of(), Optional.of(new ServiceId("the-only")), false),
                new DomainId("d"),
                "node/host:1",
                "boot",
                Duration.ofMinutes(1),
                ServedOn.WHOLE);
        windows.upTo(reading(0, preset + ".prom"));
        List<Window> ended = windows.upTo(reading(10, preset + "-later.prom"));
        assertThat(ended).hasSize(1);
        return ended.get(0);
    }

    private static EndpointReading reading(int second, String file) throws IOException {
        List<Point> points = Exposition.parse(Files.readString(FIXTURES.resolve(file), StandardCharsets.UTF_8)).stream()
                .flatMap(family -> family.samples().stream())
                .map(sample -> new Point(sample.name(), sample.labels(), sample.value()))
                .toList();
        return EndpointReading.of(
                NOON.plusSeconds(second), Duration.ofSeconds(second).toNanos(), points);
    }

    private static String millis(Optional<Double> seconds) {
        return seconds.map(value -> String.format(Locale.ROOT, "%.4g ms", 1000 * value))
                .orElse("unknown");
    }
}
