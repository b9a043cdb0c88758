package io.lendstream.actuator.driver;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.core.actuation.DriverEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WebhookDriverTest {
    @TempDir
    private Path folder;

    private final RecordingListener heard = new RecordingListener();
    private final List<String> posted = new CopyOnWriteArrayList<>();
    private final Deque<Integer> answers = new ArrayDeque<>();
    private HttpServer server;
    private Driver driver;

    @BeforeEach
    void serve() throws IOException {
        Path token = Files.writeString(folder.resolve("token"), "secret\n");
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/hook", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            posted.add(exchange.getRequestHeaders().getFirst("Authorization") + " "
                    + exchange.getRequestHeaders().getFirst("Idempotency-Key") + " " + body);
            byte[] text = "because".getBytes(StandardCharsets.UTF_8);
            int status = answers.size() > 1 ? answers.removeFirst() : answers.getFirst();
            exchange.sendResponseHeaders(status, status == 204 ? -1 : text.length);
            if (status != 204) {
                exchange.getResponseBody().write(text);
            }
            exchange.close();
        });
        server.start();
        URI address = URI.create(
                "http://127.0.0.1:%d/hook".formatted(server.getAddress().getPort()));
        driver = new WebhookDriver(address, Optional.of(token), new DriverLimits(2, 100, ofSeconds(5)), heard);
        assertThat(driver.complaints()).isEmpty();
    }

    @AfterEach
    void stop() {
        driver.close();
        server.stop(0);
    }

    private void answers(Integer... statuses) {
        answers.addAll(Arrays.asList(statuses));
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("a"), List.of()));
        await().atMost(ofSeconds(20)).until(() -> !heard.deeds().isEmpty());
    }

    @Test
    void anOrderIsPostedWithTheTokenAndAKeyByWhichItIsKnownAgain() {
        answers(204);

        assertThat(heard.deeds().get(0)).isEqualTo(new DriverEvent.Started(Orders.CHAT, Orders.gpus("a")));
        assertThat(posted)
                .singleElement()
                .asString()
                .matches("Bearer secret [-0-9a-f]{36} \\{\"decision\":\"d/1/1\".*");
    }

    @Test
    void theSameOrderHasTheSameKeyAndAnotherOrderOfTheSameDecisionAnotherOne() {
        answers(503, 204);
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("b"), List.of()));
        await().atMost(ofSeconds(20)).until(() -> posted.size() == 3);

        List<String> keys = posted.stream().map(each -> each.split(" ", -1)[2]).toList();
        assertThat(keys.get(0)).isEqualTo(keys.get(1)).isNotEqualTo(keys.get(2));
    }

    @Test
    void anOrderInProgressOrInTroubleIsPostedAgain() {
        answers(202, 503, 429, 200);

        assertThat(heard.deeds().get(0)).isInstanceOf(DriverEvent.Started.class);
        assertThat(posted).hasSize(4);
    }

    @Test
    void aRefusalIsAFailureWithItsReason() {
        answers(422);

        assertThat(heard.deeds())
                .singleElement()
                .isInstanceOfSatisfying(
                        DriverEvent.Failed.class,
                        failed -> assertThat(failed.reason()).contains("answered 422: because"));
    }

    @Test
    void saysWhatIsWrongWithIt() {
        Driver wrong =
                new WebhookDriver(URI.create("ftp://x"), Optional.empty(), new DriverLimits(1, 1, ofSeconds(1)), heard);

        assertThat(wrong.complaints().get(0)).contains("must be an http or https address");
    }
}
