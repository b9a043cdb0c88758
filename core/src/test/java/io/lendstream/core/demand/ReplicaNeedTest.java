package io.lendstream.core.demand;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ReplicaNeedTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration STEP = Duration.ofMinutes(1);
    private static final Duration LEAD = Duration.ofSeconds(53);

    /** One replica answers 10 requests/s, 8.5 of which are planned with. */
    private static InferenceService chat(Optional<Integer> concurrency) {
        return new InferenceService(
                new ServiceId("chat"),
                new DomainId("d"),
                NOW,
                List.of(),
                Duration.ofMillis(500),
                10,
                concurrency,
                1,
                Duration.ofSeconds(8));
    }

    /** In the last so many seconds. */
    private static RequestRate seen(int seconds, long arrivals, int inFlight, int queueDepth) {
        return new RequestRate(
                new ServiceId("chat"),
                new DomainId("d"),
                "gateway",
                "boot",
                1,
                NOW.minusSeconds(seconds),
                NOW,
                new RequestRate.Requests(arrivals, arrivals, inFlight, queueDepth),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of());
    }

    private static ReplicaNeed need(Optional<Integer> concurrency, RequestRate rate, Outlook outlook) {
        return ReplicaNeed.of(ServiceState.of(chat(concurrency)).observed(rate, false, 1), NOW, LEAD, outlook);
    }

    private static ServiceState expecting(Instant issued, double p99PerSecond) {
        InferenceService spec = chat(Optional.empty());
        HorizonQuantiles quantiles =
                new HorizonQuantiles(Duration.ofMinutes(10), 0, p99PerSecond / 2, p99PerSecond, p99PerSecond);
        return ServiceState.of(spec)
                .expecting(
                        new DemandForecast(
                                spec.service(),
                                spec.domain(),
                                issued,
                                STEP,
                                "test",
                                List.of(quantiles),
                                Optional.empty(),
                                Optional.empty()),
                        1);
    }

    private static int ahead(Instant issued) {
        return ReplicaNeed.of(expecting(issued, 40), NOW, LEAD, Outlook.CERTAIN).ahead();
    }

    @Test
    void aForecastIsTrustedForLessThanThreeOfItsSteps() {
        assertThat(ahead(NOW)).isEqualTo(5);
        assertThat(ahead(NOW.minus(STEP).minus(STEP).minus(STEP).plusMillis(1))).isEqualTo(5);
    }

    @Test
    void aForecastThreeStepsOldIsNotTrustedAnyMore() {
        assertThat(ahead(NOW.minus(STEP).minus(STEP).minus(STEP))).isZero();
        assertThat(ahead(NOW.minus(Duration.ofHours(1)))).isZero();
    }

    @Test
    void whoDoesNotLookAheadExpectsNothing() {
        ReplicaNeed need = ReplicaNeed.of(expecting(NOW, 40), NOW, LEAD, Outlook.PRESENT);

        assertThat(need).isEqualTo(new ReplicaNeed(0, 0, 1));
        assertThat(need.replicas()).isEqualTo(1);
    }

    @Test
    void whatWaitsIsToBeAnsweredWithinAWindow() {
        // 200 in 10 s are 20 a second, and 140 that wait are 14 a second more
        assertThat(need(Optional.empty(), seen(10, 200, 0, 140), Outlook.PRESENT)
                        .now())
                .isEqualTo(4);
        assertThat(need(Optional.empty(), seen(10, 200, 0, 0), Outlook.PRESENT).now())
                .isEqualTo(3);
        assertThat(need(Optional.empty(), seen(10, 0, 0, 700), Outlook.PRESENT).now())
                .isEqualTo(9);
    }

    @Test
    void aReplicaOfSoManyAtOnceIsNeededForEachPartOfThem() {
        Optional<Integer> four = Optional.of(4);

        assertThat(need(four, seen(10, 0, 0, 0), Outlook.PRESENT).now()).isZero();
        assertThat(need(four, seen(10, 0, 1, 0), Outlook.PRESENT).now()).isEqualTo(1);
        assertThat(need(four, seen(10, 0, 3, 5), Outlook.PRESENT).now()).isEqualTo(2);
        assertThat(need(four, seen(10, 0, 4, 5), Outlook.PRESENT).now()).isEqualTo(3);
    }

    @Test
    void withoutAForecastTheGreatestOfTheLastTenMinutesIsExpected() {
        assertThat(need(Optional.empty(), seen(10, 400, 0, 0), Outlook.CERTAIN).ahead())
                .isEqualTo(5);
        assertThat(need(Optional.empty(), seen(10, 400, 0, 0), Outlook.PRESENT).ahead())
                .isZero();
    }

    @Test
    void aForecastDecidesANeedOnlyIfItIsThere() {
        assertThat(need(Optional.empty(), seen(10, 400, 0, 0), Outlook.CERTAIN).isByForecast())
                .isFalse();
        assertThat(ReplicaNeed.of(expecting(NOW, 40), NOW, LEAD, Outlook.CERTAIN)
                        .isByForecast())
                .isTrue();
        assertThat(ReplicaNeed.of(expecting(NOW, 5), NOW, LEAD, Outlook.CERTAIN).isByForecast())
                .as("the floor is as great")
                .isFalse();
    }

    @Test
    void theNeedOfAServiceIsThatOfItsRoles() {
        ReplicaNeed prefill = new ReplicaNeed(1, 0, 2);
        ReplicaNeed decode = new ReplicaNeed(3, 4, 0);
        ReplicaNeed both =
                ReplicaNeed.of(new TreeMap<>(Map.of(ReplicaRole.PREFILL, prefill, ReplicaRole.DECODE, decode)));

        assertThat(both.replicas()).isEqualTo(6);
        assertThat(both.isAhead()).isTrue();
        assertThat(both.explained())
                .isEqualTo("prefill: 2 needed as its floor (1 for the current load);"
                        + " decode: 4 needed (3 for the current load, 4 by the peak of the last 10 minutes)");
        assertThat(ReplicaNeed.of(new TreeMap<>(Map.of(ReplicaRole.ALL, prefill))))
                .isEqualTo(prefill);
    }

    @Test
    void saysHowItCameAbout() {
        assertThat(new ReplicaNeed(2, 1, 1).explained()).isEqualTo("2 needed for the current load");
        assertThat(new ReplicaNeed(0, 1, 1).explained()).isEqualTo("1 needed as its floor (0 for the current load)");
        assertThat(new ReplicaNeed(2, 5, 1).explained())
                .isEqualTo("5 needed (2 for the current load, 5 by the peak of the last 10 minutes)");
        assertThat(new ReplicaNeed(3, 4, 1, Optional.of(Instant.parse("2026-01-01T12:05:00Z")), false).explained())
                .isEqualTo("4 needed (3 for the current load, 4 by the forecast for 12:05 UTC)");
        assertThat(new ReplicaNeed(1, 0, 0, Optional.empty(), true).explained())
                .isEqualTo("1 needed for the load beyond its MIG instances");
    }
}
