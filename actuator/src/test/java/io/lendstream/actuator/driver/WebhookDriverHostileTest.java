package io.lendstream.actuator.driver;

import static io.lendstream.actuator.driver.HostileServer.write;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server can do to one who asks it: it must cost one try its time, and never more. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WebhookDriverHostileTest {
    private static final Duration TIMEOUT = ofMillis(700);
    /** For a machine that does much else. */
    private static final Duration SLACK = ofSeconds(5);

    private static final Order ORDER = Orders.place(1, Orders.CHAT, Orders.gpus("a"), List.of());
    private static final String PASSWORD = "sec%20ret";

    @TempDir
    private Path folder;

    private final RecordingListener heard = new RecordingListener();
    private HostileServer server;
    private WebhookDriver driver;

    @BeforeEach
    void serve() throws IOException {
        server = new HostileServer();
        driver = driver(Optional.empty());
    }

    private WebhookDriver driver(Optional<Path> token) {
        return new WebhookDriver(
                server.address("me:" + PASSWORD + "@"), token, new DriverLimits(2, 100, TIMEOUT), heard);
    }

    @AfterEach
    void stop() throws IOException {
        driver.close();
        server.close();
    }

    private enum Trouble implements HostileServer.Answer {
        NOTHING {
            @Override
            public void give(java.io.OutputStream out, java.net.Socket socket) {}
        },
        HALF_HEADERS {
            @Override
            public void give(java.io.OutputStream out, java.net.Socket socket) throws IOException {
                write(out, "HTTP/1.1 200 OK\r\nContent-Le");
            }
        },
        ENDLESS_HEADERS {
            @Override
            public void give(java.io.OutputStream out, java.net.Socket socket) throws IOException {
                write(out, "HTTP/1.1 200 OK\r\n");
                while (true) {
                    write(out, "X-More: %s\r\n".formatted("x".repeat(1000)));
                }
            }
        },
        NO_BODY {
            @Override
            public void give(java.io.OutputStream out, java.net.Socket socket) throws IOException {
                write(out, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
            }
        },
        NO_CHUNK {
            @Override
            public void give(java.io.OutputStream out, java.net.Socket socket) throws IOException {
                write(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
            }
        },
        SLOW_DRIP {
            @Override
            public void give(java.io.OutputStream out, java.net.Socket socket)
                    throws IOException, InterruptedException {
                write(out, "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n");
                while (true) {
                    write(out, "x");
                    TimeUnit.MILLISECONDS.sleep(50);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAnswerThatDoesNotEndInTimeIsNoAnswerAndItsConnectionIsClosed(Trouble trouble) throws Exception {
        server.answers(trouble);

        long begun = System.nanoTime();
        Attempt attempt = driver.attempt(ORDER);

        assertThat(attempt).isInstanceOf(Attempt.Again.class);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(TIMEOUT.plus(SLACK));
        if (trouble
                != Trouble.ENDLESS_HEADERS) { // of which the JDK's client reads 384 KiB, and leaves the connection open
            assertThat(server.isLeft()).as("the connection is closed").isTrue();
        }
        assertThat(attempt.toString()).doesNotContain("sec").contains("http://(hidden)@127.0.0.1");
    }

    @Test
    void anOrderIsTriedAgainUntilAnAnswerIsWhole() {
        server.answers(Trouble.NO_BODY);
        driver.take(ORDER);
        await().atMost(ofSeconds(20)).until(() -> server.heads().size() >= 2);
        assertThat(heard.deeds()).isEmpty();

        server.answers(HostileServer.OK);

        await().atMost(ofSeconds(20))
                .until(() -> heard.deeds().contains(new DriverEvent.InForce(Orders.CHAT, Orders.decision(1))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 999999999999", "Transfer-Encoding: chunked", "X-Until: closed"})
    void ofABodyWithoutEndTheStartIsReadAndTheConnectionIsClosed(String how) throws Exception {
        String chunk = how.startsWith("Transfer") ? "3E8\r\n%s\r\n".formatted("x".repeat(1000)) : "x".repeat(1000);
        server.answers((out, socket) -> {
            write(out, "HTTP/1.1 422 No\r\n%s\r\n\r\n".formatted(how));
            while (true) {
                write(out, chunk);
            }
        });

        Attempt attempt = driver.attempt(ORDER);

        assertThat(attempt)
                .isInstanceOfSatisfying(
                        Attempt.Hopeless.class,
                        hopeless -> assertThat(hopeless.why())
                                .contains("answered 422: xxx")
                                .hasSizeLessThan(300));
        assertThat(server.isLeft()).as("the connection is closed").isTrue();
    }

    @Test
    void aConnectionThatIsResetIsTriedAgain() {
        server.answers((out, socket) -> {
            socket.setSoLinger(true, 0);
            socket.close();
        });

        assertThat(driver.attempt(ORDER)).isInstanceOf(Attempt.Again.class);
    }

    @Test
    void aRedirectIsNotFollowedAndTakesNoPasswordAnywhere() throws Exception {
        try (var other = new HostileServer()) {
            server.answers((out, socket) -> write(
                    out,
                    "HTTP/1.1 307 Temporary Redirect\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n"
                            .formatted(other.address(""))));

            assertThat(driver.attempt(ORDER))
                    .isInstanceOfSatisfying(
                            Attempt.Hopeless.class,
                            hopeless -> assertThat(hopeless.why())
                                    .contains("answered 307, and redirects are not followed"));
            assertThat(other.heads()).isEmpty();
        }
    }

    @Test
    void userAndPasswordAreSentAndNeverShown() throws Exception {
        server.answers((out, socket) -> write(out, "HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nwhy"));

        Attempt attempt = driver.attempt(ORDER);

        String login =
                Base64.getEncoder().encodeToString("me:sec ret".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        assertThat(server.heads()).singleElement().asString().contains("Authorization: Basic " + login);
        assertThat(attempt.toString()).contains("answered 500: why").doesNotContain("sec");
        assertThat(driver.plan(ORDER)).noneMatch(line -> line.contains("sec"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"secret\nX-Other: 1", "sécret", ""})
    void aTokenThatCanStandInNoHeaderIsNeverShown(String token) throws Exception {
        Path file = Files.writeString(folder.resolve("token"), token);
        driver.close();
        driver = driver(Optional.of(file));

        Attempt attempt = driver.attempt(ORDER);

        assertThat(attempt)
                .isInstanceOfSatisfying(
                        Attempt.Again.class,
                        again -> assertThat(again.why())
                                .contains("must have one line of printable ASCII characters")
                                .doesNotContain("cret"));
        assertThat(server.heads()).isEmpty();
    }

    @Test
    void aTokenThatOthersMayReadIsWarnedOf() throws Exception {
        Path file = Files.writeString(folder.resolve("token"), "secret");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        driver.close();
        driver = driver(Optional.of(file));
        assertThat(driver.warnings()).singleElement().asString().contains("chmod 600");

        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

        assertThat(driver.warnings()).isEmpty();
    }

    @Test
    void anAddressIsShownWithoutWhatMayBeSecret() {
        assertThat(ShownAddress.of(java.net.URI.create("https://u:p@host:8443/a/b?code=key")))
                .isEqualTo("https://(hidden)@host:8443/a/b?(hidden)");
        assertThat(ShownAddress.of(java.net.URI.create("https://host/a"))).isEqualTo("https://host/a");
        assertThat(ShownAddress.of("https://u:p/q r@host/?code=key")).isEqualTo("https://(hidden)@host/?(hidden)");
    }
}
