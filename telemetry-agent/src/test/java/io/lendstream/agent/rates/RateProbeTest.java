package io.lendstream.agent.rates;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that plays given pages, read at moments ten seconds apart. */
class RateProbeTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    @TempDir
    Path directory;

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private HttpServer server;
    private Answer answer = exchange -> {};
    private long second;

    private interface Answer {
        void to(HttpExchange exchange) throws IOException;
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> answer.to(exchange));
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void countersStartAtZero() {
        probe(Optional.empty(), 1000);

        assertThat(metrics.find("lendstream.rate.readings").counters())
                .extracting(counter -> counter.getId().getTag("outcome") + " " + counter.count())
                .containsExactlyInAnyOrder("read 0.0", "failed 0.0");
        assertThat(metrics.get("lendstream.rate.windows").counter().count()).isZero();
        assertThat(metrics.get("lendstream.rate.restarts").counter().count()).isZero();
    }

    @Test
    void readsPackedTextWithTheTokenOfAFile() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "secret\n");
        RateProbe probe = probe(Optional.of(token), 1 << 20);
        answer = exchange -> {
            assertThat(exchange.getRequestHeaders().getFirst("Authorization")).isEqualTo("Bearer secret");
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
            send(exchange, 200, packed(text(100 + second)));
        };

        assertThat(look(probe)).isEmpty();
        assertThat(look(probe))
                .extracting(window -> window.rate().requests().arrivals())
                .containsExactly(10L);
    }

    @Test
    void aFailureIsCountedAndMadeUpForByTheNextReading() {
        RateProbe probe = probe(Optional.empty(), 1 << 20);
        answer = exchange -> send(exchange, 200, text(100).getBytes(UTF_8));
        look(probe);
        answer = exchange -> send(exchange, 500, "sorry".getBytes(UTF_8));
        assertThat(look(probe)).isEmpty();
        answer = exchange -> send(exchange, 200, "this is { no exposition".getBytes(UTF_8));
        assertThat(look(probe)).isEmpty();
        answer = exchange -> send(exchange, 200, text(160).getBytes(UTF_8));

        List<Window> windows = look(probe);

        assertThat(windows)
                .extracting(window -> window.rate().requests().arrivals())
                .containsExactly(60L);
        assertThat(windows.get(0).rate().window()).hasSeconds(30);
        assertThat(readings("failed")).isEqualTo(2);
        assertThat(readings("read")).isEqualTo(2);
    }

    @Test
    void anAnswerThatIsTooLargeIsBrokenOff() {
        RateProbe probe = probe(Optional.empty(), 1000);
        answer = exchange -> send(exchange, 200, text(1).repeat(100).getBytes(UTF_8));
        look(probe);
        assertThat(readings("failed")).isEqualTo(1);

        answer = exchange -> {
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
            send(exchange, 200, packed(" ".repeat(100_000)));
        };
        look(probe);
        assertThat(readings("failed")).isEqualTo(2);
    }

    @Test
    void anAnswerThatNeverEndsIsGivenUp() {
        RateProbe probe = probe(Optional.empty(), 1 << 20);
        answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("# HELP".getBytes(UTF_8));
            exchange.getResponseBody().flush();
            // and no more
        };

        long began = System.nanoTime();
        look(probe);

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
        assertThat(readings("failed")).isEqualTo(1);
    }

    @Test
    void whatASiteSaysOfAnEndpointIsRead() {
        Endpoint endpoint = Endpoint.parse(
                "triton@https://h:8002/metrics;stats=http://h:8000/v2/models/stats;profile=3g.40gb;kind=L4-24GB",
                EndpointPresets.ours());

        assertThat(endpoint.preset().name()).isEqualTo("triton");
        assertThat(endpoint.stats())
                .hasValueSatisfying(stats -> assertThat(stats).hasPort(8000));
        assertThat(endpoint.on()).isEqualTo(new ServedOn(Optional.of("3g.40gb"), Optional.of(new KindId("L4-24GB"))));
        assertThat(endpoint.source("n1")).isEqualTo("n1/h:8002");
        assertThat(endpoint.reader()).as("for every agent").isEmpty();
        assertThat(Endpoint.parse("vllm@http://gateway:8000/metrics;node=n7", EndpointPresets.ours())
                        .reader())
                .hasValue("n7");
    }

    private double readings(String outcome) {
        return metrics.find("lendstream.rate.readings").tag("outcome", outcome).counters().stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    private RateProbe probe(Optional<Path> token, int largest) {
        Endpoint endpoint = Endpoint.parse(
                "torchserve@http://127.0.0.1:%d/metrics"
                        .formatted(server.getAddress().getPort()),
                EndpointPresets.ours());
        var windows = new Windows(
                endpoint.preset(),
                ServiceNames.AS_LABELLED,
                new DomainId("d"),
                endpoint.source("n"),
                "boot",
                Duration.ofMinutes(1),
                ServedOn.WHOLE);
        return new RateProbe(
                endpoint,
                new Scraper(Duration.ofSeconds(1), largest, token),
                windows,
                metrics,
                () -> NOON.plusSeconds(second),
                () -> Duration.ofSeconds(second).toNanos());
    }

    private List<Window> look(RateProbe probe) {
        second += 10;
        return probe.look();
    }

    private static String text(long count) {
        return "ts_inference_requests_total{model_name=\"chat\",} %d.0\n".formatted(count);
    }

    private static byte[] packed(String text) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(UTF_8));
        }
        return bytes.toByteArray();
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
