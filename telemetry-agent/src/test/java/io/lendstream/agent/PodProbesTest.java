package io.lendstream.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.agent.kubernetes.PodTarget;
import io.lendstream.agent.rates.Endpoint;
import io.lendstream.agent.rates.EndpointPresets;
import io.lendstream.agent.rates.RateProbe;
import io.lendstream.agent.rates.Scraper;
import io.lendstream.agent.rates.ServedOn;
import io.lendstream.agent.rates.ServiceNames;
import io.lendstream.agent.rates.Window;
import io.lendstream.agent.rates.Windows;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods that come and go, read at moments ten seconds apart; the agent has started at noon. */
class PodProbesTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Instant LONG_AGO = NOON.minusSeconds(1000);

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final List<PodTarget> pods = new ArrayList<>();
    private HttpServer server;
    private long served;
    private long second;
    private PodProbes probes;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] text = "ts_inference_requests_total{model_name=\"m\"} %d.0\n"
                    .formatted(served)
                    .getBytes(UTF_8);
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        server.start();
        probes = probes(Set.of());
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void aPodThatWasThereBeforeTheAgentIsCountedFromItsFirstReading() throws Exception {
        pods.add(pod("chat-0", LONG_AGO));

        assertThat(at(10, 500)).isEmpty();
        List<Window> windows = at(20, 530);

        assertThat(windows).singleElement().satisfies(window -> {
            assertThat(window.rate().service()).isEqualTo(new ServiceId("chat"));
            assertThat(window.rate().source()).isEqualTo("n1/ml/chat-0:%d/chat-0".formatted(port()));
            assertThat(window.rate().requests().arrivals()).isEqualTo(30);
            assertThat(window.remarks()).isEmpty();
        });
        assertThat(metrics.get("lendstream.rate.pods").gauge().value()).isEqualTo(1);
    }

    @Test
    void aPodThatComesLaterIsCountedFromItsStart() throws Exception {
        at(10, 0);
        pods.add(pod("chat-0", NOON.plusSeconds(14)));

        List<Window> windows = at(20, 42);

        assertThat(windows).singleElement().satisfies(window -> {
            assertThat(window.rate().requests().arrivals()).isEqualTo(42);
            assertThat(window.rate().windowStart()).isEqualTo(NOON.plusSeconds(14));
            assertThat(window.rate().windowEnd()).isEqualTo(NOON.plusSeconds(20));
            assertThat(window.remarks()).isEmpty();
        });
    }

    /** A counter that has outgrown what it was would otherwise pass for one that went on. */
    @Test
    void aRestartedContainerCountsFromZero() throws Exception {
        pods.add(pod("chat-0", LONG_AGO));
        at(10, 100);
        pods.set(0, pod("chat-0", NOON.plusSeconds(12)));

        List<Window> windows = at(20, 130);
        List<Window> later = at(30, 150);

        assertThat(windows)
                .extracting(window -> window.rate().requests().arrivals())
                .containsExactly(130L);
        assertThat(windows.get(0).remarks()).containsExactly(Window.Remark.RESTARTED);
        assertThat(later)
                .extracting(window -> window.rate().requests().arrivals())
                .containsExactly(20L);
        assertThat(later.get(0).remarks()).isEmpty();
    }

    @Test
    void aContainerThatIsDownIsNotReadAndWhatItCountsLaterIsNotLost() throws Exception {
        pods.add(pod("chat-0", LONG_AGO));
        at(10, 100);
        pods.set(0, new PodTarget("chat-0", "ml/chat-0", endpoint("chat-0"), service(), Optional.empty(), false));
        assertThat(at(20, 0)).isEmpty();
        pods.set(0, pod("chat-0", NOON.plusSeconds(25)));

        List<Window> windows = at(30, 7);

        assertThat(windows)
                .extracting(window -> window.rate().requests().arrivals())
                .containsExactly(7L);
        assertThat(windows.get(0).rate().windowStart()).isEqualTo(NOON.plusSeconds(10));
    }

    @Test
    void aPodThatGoesTakesItsRateBackOnce() throws Exception {
        pods.add(pod("chat-0", LONG_AGO));
        at(10, 100);
        at(20, 150);
        pods.clear();

        List<Window> last = at(30, 0);

        assertThat(last).singleElement().satisfies(window -> {
            RequestRate rate = window.rate();
            assertThat(rate.service()).isEqualTo(new ServiceId("chat"));
            assertThat(rate.requests().arrivals()).isZero();
            assertThat(rate.requests().inFlight()).isZero();
            assertThat(rate.sequence()).isEqualTo(2);
            assertThat(rate.windowStart()).isEqualTo(NOON.plusSeconds(20));
            assertThat(rate.windowEnd()).isEqualTo(NOON.plusSeconds(30));
            assertThat(window.remarks()).containsExactly(Window.Remark.LEFT);
        });
        assertThat(at(40, 0)).isEmpty();
        assertThat(metrics.find("lendstream.rate.readings").meters()).isEmpty();
        assertThat(metrics.get("lendstream.rate.pods").gauge().value()).isZero();
    }

    @Test
    void aPodThatGoesRightAfterItWasReadTakesItsRateBackLater() throws Exception {
        pods.add(pod("chat-0", LONG_AGO));
        at(10, 100);
        at(20, 150);
        pods.clear();

        assertThat(at(22, 0)).isEmpty();
        assertThat(at(26, 0))
                .extracting(window -> window.rate().requests().arrivals())
                .containsExactly(0L);
    }

    @Test
    void anAddressThatIsReadAlreadyIsNotCountedTwice() throws Exception {
        probes = probes(Set.of(endpoint("chat-0").url()));
        pods.add(pod("chat-0", LONG_AGO));
        PodTarget one = pod("code-0", LONG_AGO);
        pods.add(one);
        pods.add(new PodTarget("other", "ml/same-host", one.endpoint(), service(), one.started(), true));
        at(10, 100);

        assertThat(at(20, 150))
                .extracting(window -> window.rate().source())
                .containsExactly("n1/ml/code-0:%d/code-0".formatted(port()));
    }

    @Test
    void aPodThatIsAnnotatedOtherwiseIsAnotherOne() throws Exception {
        pods.add(pod("chat-0", LONG_AGO));
        at(10, 100);
        at(20, 150);
        PodTarget before = pods.get(0);
        pods.set(
                0,
                new PodTarget(
                        before.uid(),
                        before.name(),
                        before.endpoint(),
                        Optional.of(new ServiceId("code")),
                        before.started(),
                        true));

        assertThat(at(30, 160))
                .extracting(window -> window.rate().service().value() + " "
                        + window.rate().requests().arrivals())
                .containsExactly("chat 0");
        assertThat(at(40, 175))
                .extracting(window -> window.rate().service().value() + " "
                        + window.rate().requests().arrivals())
                .containsExactly("code 15");
    }

    /** The windows at a second of the day at which the server has served so many. */
    private List<Window> at(long seconds, long count) throws Exception {
        second = seconds;
        served = count;
        var windows = new ArrayList<Window>();
        for (Callable<List<Window>> reading : probes.readings()) {
            windows.addAll(reading.call());
        }
        windows.addAll(probes.farewells());
        return windows;
    }

    private PodProbes probes(Set<URI> elsewhere) {
        var scraper = new Scraper(Duration.ofSeconds(5), 1 << 20, Optional.empty());
        return new PodProbes(
                () -> pods,
                elsewhere,
                NOON,
                pod -> new RateProbe(
                        pod.endpoint(),
                        scraper,
                        new Windows(
                                pod.endpoint().preset(),
                                ServiceNames.only(pod.service().orElseThrow()),
                                new DomainId("d"),
                                pod.source("n1"),
                                "boot",
                                Duration.ofMinutes(1),
                                ServedOn.WHOLE),
                        metrics,
                        () -> NOON.plusSeconds(second),
                        () -> Duration.ofSeconds(second).toNanos()),
                metrics);
    }

    private PodTarget pod(String name, Instant started) {
        return new PodTarget(name, "ml/" + name, endpoint(name), service(), Optional.of(started), true);
    }

    private static Optional<ServiceId> service() {
        return Optional.of(new ServiceId("chat"));
    }

    private Endpoint endpoint(String name) {
        return Endpoint.parse("torchserve@http://127.0.0.1:%d/%s".formatted(port(), name), EndpointPresets.ours());
    }

    private int port() {
        return server.getAddress().getPort();
    }
}
