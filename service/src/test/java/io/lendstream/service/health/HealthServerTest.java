package io.lendstream.service.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HealthServerTest {
    private final Health health = new Health();
    private final PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final HealthServer server = HealthServer.start("127.0.0.1", 0, health, metrics);

    HealthServerTest() throws IOException {}

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void aServiceThatStartsLivesButIsNotReady() throws Exception {
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
        assertThat(get("/health/ready").statusCode()).isEqualTo(503);
        assertThat(get("/health/ready").body()).isEqualTo("no: starting\n");
    }

    @Test
    void itIsNotReadyWhileAConditionHoldsThoughItSaysSo() throws Exception {
        AtomicReference<Optional<String>> condition = new AtomicReference<>(Optional.of("most is refused"));
        health.notReadyWhile(Optional::empty);
        health.notReadyWhile(condition::get);
        health.ready();

        assertThat(get("/health/ready").body()).isEqualTo("no: most is refused\n");
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
        condition.set(Optional.empty());
        assertThat(get("/health/ready").statusCode()).isEqualTo(200);
        health.notReady("closing");
        assertThat(get("/health/ready").body()).isEqualTo("no: closing\n");
    }

    @Test
    void itIsReadyWhenItSaysSo() throws Exception {
        health.ready();

        assertThat(get("/health/ready").statusCode()).isEqualTo(200);

        health.notReady("the registry cannot be reached");

        assertThat(get("/health/ready").body()).isEqualTo("no: the registry cannot be reached\n");
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
    }

    @Test
    void aServiceThatFailedIsNeitherAliveNorReady() throws Exception {
        health.ready();
        health.failed("fenced");

        assertThat(get("/health/live").statusCode()).isEqualTo(503);
        assertThat(get("/health/ready").body()).isEqualTo("no: fenced\n");
    }

    @Test
    void metricsAreInPrometheusFormat() throws Exception {
        metrics.counter("lendstream.decisions", "kind", "lend").increment(3);

        assertThat(get("/metrics").body()).contains("lendstream_decisions_total{kind=\"lend\"} 3.0");
    }

    @Test
    void nothingElseIsServed() throws Exception {
        HttpRequest delete = HttpRequest.newBuilder(uri("/metrics")).DELETE().build();

        assertThat(get("/").statusCode()).isEqualTo(404);
        assertThat(get("/metrics/x").statusCode()).isEqualTo(404);
        assertThat(HttpClient.newHttpClient()
                        .send(delete, HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(405);
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path));
    }
}
