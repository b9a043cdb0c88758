package io.lendstream.agent.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.agent.rates.EndpointPresets;
import io.lendstream.agent.rates.ServedOn;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodReaderTest {
    private static final String SINCE = "2026-01-01T12:00:00Z";

    private final PodReader reader = new PodReader(EndpointPresets.ours(), Set.of());

    @Test
    void annotationsSayHowAPodIsRead() {
        PodTarget target = reader.apply(pod(Map.of(
                        "lendstream.io/scrape-preset", "triton",
                        "lendstream.io/scrape-service", "chat",
                        "lendstream.io/scrape-port", "8002",
                        "lendstream.io/scrape-path", "/other/metrics",
                        "lendstream.io/scrape-scheme", "https",
                        "lendstream.io/scrape-stats", "8000/v2/models/stats",
                        "lendstream.io/scrape-profile", "3g.40gb",
                        "lendstream.io/scrape-kind", "L4-24GB")))
                .orElseThrow();

        assertThat(target.endpoint().preset().name()).isEqualTo("triton");
        assertThat(target.endpoint().url()).hasToString("https://127.0.0.1:8002/other/metrics");
        assertThat(target.endpoint().stats())
                .hasValueSatisfying(url -> assertThat(url).hasToString("https://127.0.0.1:8000/v2/models/stats"));
        assertThat(target.endpoint().on())
                .isEqualTo(new ServedOn(Optional.of("3g.40gb"), Optional.of(new KindId("L4-24GB"))));
        assertThat(target.service()).hasValue(new ServiceId("chat"));
        assertThat(target.started()).hasValue(Instant.parse(SINCE));
        assertThat(target.running()).isTrue();
        assertThat(target.source("n1")).isEqualTo("n1/ml/chat-0:8002/other/metrics");
    }

    @Test
    void annotationsForPrometheusCountIfOursAreMissing() {
        PodTarget target = reader.apply(pod(Map.of(
                        "lendstream.io/scrape-preset", "vllm",
                        "prometheus.io/port", "9000",
                        "prometheus.io/path", "stats/prometheus",
                        "prometheus.io/scheme", "https")))
                .orElseThrow();

        assertThat(target.endpoint().url()).hasToString("https://127.0.0.1:9000/stats/prometheus");
    }

    @Test
    void theOnlyPortNeedNotBeSaid() {
        PodTarget target =
                reader.apply(pod(Map.of("lendstream.io/scrape-preset", "vllm"))).orElseThrow();

        assertThat(target.endpoint().url()).hasToString("http://127.0.0.1:8000/metrics");
        assertThat(target.source("n1")).isEqualTo("n1/ml/chat-0:8000");
        assertThat(target.service()).as("as its server calls services").isEmpty();
    }

    @Test
    void podsThatSayNothingOrAreOfAnotherNamespaceAreNotCounted() {
        var others = new PodReader(EndpointPresets.ours(), Set.of("web"));

        assertThat(reader.apply(pod(Map.of("prometheus.io/scrape", "true", "prometheus.io/port", "8000"))))
                .isEmpty();
        assertThat(others.apply(pod(Map.of("lendstream.io/scrape-preset", "vllm"))))
                .isEmpty();
    }

    @Test
    void aPodWithoutAnAddressOrThatHasEndedIsNotCounted() {
        ObjectNode young = pod(Map.of("lendstream.io/scrape-preset", "vllm"));
        ((ObjectNode) young.get("status")).remove("podIP");
        ObjectNode over = pod(Map.of("lendstream.io/scrape-preset", "vllm"));
        ((ObjectNode) over.get("status")).put("phase", "Succeeded");

        assertThat(reader.apply(young)).isEmpty();
        assertThat(reader.apply(over)).isEmpty();
    }

    @Test
    void aContainerThatWaitsIsNotReadAndKeepsItsPlace() {
        ObjectNode waiting = pod(Map.of("lendstream.io/scrape-preset", "vllm"));
        ObjectNode state = (ObjectNode) waiting.at("/status/containerStatuses/0/state");
        state.remove("running");
        state.putObject("waiting").put("reason", "CrashLoopBackOff");

        PodTarget target = reader.apply(waiting).orElseThrow();

        assertThat(target.running()).isFalse();
        assertThat(target.started()).isEmpty();
    }

    @Test
    void ofSeveralContainersTheOneWithThePortCounts() {
        ObjectNode pod = pod(Map.of("lendstream.io/scrape-preset", "vllm", "lendstream.io/scrape-port", "9100"));
        ObjectNode second = ((ArrayNode) pod.at("/spec/containers")).addObject().put("name", "side");
        second.putArray("ports").addObject().put("containerPort", 9100);
        ObjectNode status =
                ((ArrayNode) pod.at("/status/containerStatuses")).addObject().put("name", "side");
        status.putObject("state").putObject("running").put("startedAt", "2026-01-01T12:05:00Z");
        ObjectNode unknown = pod.deepCopy();
        ((ObjectNode) unknown.at("/metadata/annotations")).put("lendstream.io/scrape-port", "15020");

        assertThat(reader.apply(pod).flatMap(PodTarget::started)).hasValue(Instant.parse("2026-01-01T12:05:00Z"));
        PodTarget target = reader.apply(unknown).orElseThrow();
        assertThat(target.started())
                .as("the port belongs to no known container")
                .isEmpty();
        assertThat(target.running()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lendstream.io/scrape-preset | vlm | there is no rate preset 'vlm'",
                "lendstream.io/scrape-service | chat | but not lendstream.io/scrape-preset",
                "lendstream.io/scrape-prot | 80 | it has the annotation lendstream.io/scrape-prot, but there are only",
                "lendstream.io/scrape-port | http | the port is 'http', but must be a number from 1 to 65535",
                "lendstream.io/scrape-port | 70000 | the port is '70000'",
                "lendstream.io/scrape-scheme | ftp | the scheme is 'ftp', but must be http or https",
                "lendstream.io/scrape-stats | /v2 | scrape-stats is '/v2', but must be a port and a path",
            })
    void invalidAnnotationsAreReportedWithThePodsName(String annotation, String value, String said) {
        Map<String, String> annotations = annotation.matches(".*(preset|service)")
                ? Map.of(annotation, value)
                : Map.of("lendstream.io/scrape-preset", "vllm", annotation, value);

        assertThatThrownBy(() -> reader.apply(pod(annotations)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("pod ml/chat-0 is not counted: ")
                .hasMessageContaining(said);
    }

    @Test
    void addressesOfTheSixthVersionAreBracketed() {
        ObjectNode pod = pod(Map.of("lendstream.io/scrape-preset", "vllm"));
        ((ObjectNode) pod.get("status")).put("podIP", "fd00::7");

        assertThat(reader.apply(pod).orElseThrow().endpoint().url()).hasToString("http://[fd00::7]:8000/metrics");
    }

    private static ObjectNode pod(Map<String, String> annotations) {
        return PlayedApi.pod("n1", "u1", "chat-0", annotations, SINCE);
    }
}
