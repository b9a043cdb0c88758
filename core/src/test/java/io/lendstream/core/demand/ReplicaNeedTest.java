package io.lendstream.core.demand;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.cluster.ServiceState;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReplicaNeedTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration STEP = Duration.ofMinutes(1);
    private static final Duration LEAD = Duration.ofSeconds(53);

    /** One replica answers 10 requests/s, 8.5 of which are planned with. */
    private static ServiceState expecting(Instant issued, double p99PerSecond) {
        InferenceService spec = new InferenceService(
                new ServiceId("chat"),
                new DomainId("d"),
                NOW,
                List.of(),
                Duration.ofMillis(500),
                10,
                Optional.empty(),
                1,
                Duration.ofSeconds(8));
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
        return ReplicaNeed.of(expecting(issued, 40), NOW, LEAD, true).ahead();
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
        ReplicaNeed need = ReplicaNeed.of(expecting(NOW, 40), NOW, LEAD, false);

        assertThat(need).isEqualTo(new ReplicaNeed(0, 0, 1));
        assertThat(need.replicas()).isEqualTo(1);
    }
}
