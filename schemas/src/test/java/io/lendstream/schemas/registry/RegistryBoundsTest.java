package io.lendstream.schemas.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.avro.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a record's schema id, or a registry that was taken over, can make the client do. */
final class RegistryBoundsTest {
    private final FakeRegistry registry = new FakeRegistry();
    private final AtomicLong nanos = new AtomicLong();
    private final RegistryClient client = client(registry.url(), Map.of());

    @AfterEach
    void close() {
        registry.close();
    }

    @Test
    void anUnknownIdIsAskedForOnceAndAgainLater() {
        for (int i = 0; i < 5_000; i++) {
            assertUnknown(99);
        }
        assertThat(registry.requests()).hasSize(1);

        pass(Duration.ofSeconds(5));
        assertUnknown(99);
        assertUnknown(99);
        assertThat(registry.requests()).hasSize(2);

        pass(Duration.ofSeconds(9));
        assertUnknown(99);
        assertThat(registry.requests()).hasSize(2);
        pass(Duration.ofSeconds(1));
        assertUnknown(99);
        assertThat(registry.requests()).hasSize(3);
    }

    @Test
    void aSchemaThatAppearsLaterIsFound() {
        assertUnknown(1);
        registry.add("\"string\"", "AVRO", List.of());

        pass(Duration.ofMinutes(1));

        assertThat(client.schemaById(1).getType()).isEqualTo(org.apache.avro.Schema.Type.STRING);
    }

    @Test
    void manyUnknownIdsDoNotHoldUpKnownOnes() {
        int known = client.register(
                "s", SchemaBuilder.record("Sample").fields().requiredInt("x").endRecord());
        int before = registry.requests().size();

        for (int id = 100; id < 5_100; id++) {
            assertUnknown(id);
        }

        assertThat(registry.requests()).hasSize(before + UnknownIds.MOST_QUESTIONS);
        assertThatThrownBy(() -> client.schemaById(5_000)).hasMessageStartingWith("schema id 5000 was not requested");
        assertThat(client.schemaById(known).getName()).isEqualTo("Sample");
        pass(UnknownIds.WINDOW);
        int late = registry.add("\"string\"", "AVRO", List.of());
        assertThat(client.schemaById(late).getType()).isEqualTo(org.apache.avro.Schema.Type.STRING);
    }

    @Test
    void aReferenceToItselfDoesNotGoOnForEver() {
        int id = registry.add("\"Other\"", "AVRO", List.of(Map.of("name", "Other", "subject", "other", "version", 1)));
        registry.addVersion("other", id);

        assertThatThrownBy(() -> client.schemaById(id))
                .isInstanceOf(UnreadableSchemaException.class)
                .hasMessageContaining("refers to more than 100 schemas, or more than 16 deep");
        assertThat(registry.requests()).hasSizeLessThan(20);
    }

    @Test
    void anAnswerWithoutEndIsNotReadIntoMemory() throws IOException {
        HttpServer endless = server(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] much = " ".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 1_000; i++) {
                exchange.getResponseBody().write(much);
            }
        });
        try {
            assertThatThrownBy(() -> client(url(endless), Map.of()).schemaById(7))
                    .isInstanceOf(UnreadableSchemaException.class)
                    .hasMessageContaining("answered with more than 4194304 bytes");
        } finally {
            endless.stop(0);
        }
    }

    @Test
    void anAnswerThatDoesNotEndIsGivenUp() throws IOException {
        var over = new CountDownLatch(1);
        HttpServer slow = server(exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write('{');
            exchange.getResponseBody().flush();
            await(over);
        });
        try {
            assertThatThrownBy(() -> client(
                                    url(slow),
                                    Map.of(
                                            RegistrySettings.READ_TIMEOUT,
                                            "200",
                                            RegistrySettings.CONNECT_TIMEOUT,
                                            "200"))
                            .subjects())
                    .isInstanceOf(RegistryUnavailableException.class)
                    .hasMessageContaining("no complete answer within 400 ms");
        } finally {
            over.countDown();
            slow.stop(0);
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Test
    void aRedirectIsNotFollowed() throws IOException {
        var asked = new AtomicInteger();
        HttpServer elsewhere = server(exchange -> {
            asked.incrementAndGet();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        HttpServer here = server(exchange -> {
            exchange.getResponseHeaders().set("Location", url(elsewhere) + "/subjects");
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
        try {
            assertThatThrownBy(() -> client(url(here), Map.of()).subjects())
                    .isInstanceOf(RegistryException.class)
                    .hasMessageContaining("answered with a redirect to " + url(elsewhere))
                    .hasMessageContaining("Set schema.registry.url to the registry's own address");
            assertThat(asked).hasValue(0);
        } finally {
            here.stop(0);
            elsewhere.stop(0);
        }
    }

    private interface Handling {
        void handle(HttpExchange exchange) throws IOException;
    }

    private static HttpServer server(Handling handling) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(java.util.concurrent.Executors.newCachedThreadPool(body -> {
            var thread = new Thread(body, "server");
            thread.setDaemon(true);
            return thread;
        }));
        server.createContext("/", handling::handle);
        server.start();
        return server;
    }

    private static String url(HttpServer server) {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void assertUnknown(int id) {
        assertThatThrownBy(() -> client.schemaById(id)).isInstanceOf(SchemaNotFoundException.class);
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private RegistryClient client(String url, Map<String, String> more) {
        Map<String, String> properties = new HashMap<>();
        properties.put(RegistrySettings.URL, url);
        properties.put(RegistrySettings.RETRIES, "0");
        properties.putAll(more);
        return new RegistryClient(RegistrySettings.from(properties), nanos::get);
    }
}
