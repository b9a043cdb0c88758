package io.lendstream.core.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OutlookTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final Duration START = Duration.ofSeconds(40);
    private static final Duration SOON = Duration.ofMinutes(1);

    /** Demand in requests per second, one row of p10, p50, p90 and p99 a minute. */
    private static DemandForecast forecast(double[]... quantiles) {
        List<HorizonQuantiles> horizons = new ArrayList<>();
        for (double[] at : quantiles) {
            horizons.add(new HorizonQuantiles(Duration.ofMinutes(horizons.size() + 1), at[0], at[1], at[2], at[3]));
        }
        return new DemandForecast(
                new ServiceId("chat"),
                new DomainId("d"),
                NOW,
                Duration.ofMinutes(1),
                "ewma",
                horizons,
                Optional.empty(),
                Optional.empty());
    }

    private static double peak(double price, double... quantiles) {
        return new Outlook(price).peak(forecast(quantiles), SOON, START).perSecond();
    }

    /** 100 requests/s that would wait 40 s each: one GPU is worth it even if they come with 1 in 4,000. */
    @Test
    void aServiceWithManyRequestsIsReadyForItsP99() {
        assertThat(peak(1, 80, 100, 120, 150)).isEqualTo(150);
    }

    /** A request an hour, which waits 40 s: a GPU-hour for 5 times 40 GPU-seconds is too much. */
    @Test
    void aRequestAnHourIsNotWaitedForWithAGpu() {
        double hourly = 1.0 / 3600;

        assertThat(peak(5, 0, 0, 0, 2 * hourly)).isZero();
        assertThat(peak(Double.POSITIVE_INFINITY, 0, 0, 0, 2 * hourly)).isEqualTo(2 * hourly);
        assertThat(peak(1e7, 0, 0, 0, 2 * hourly)).isEqualTo(2 * hourly);
    }

    /** Of a mean of 0.1 requests/s that wait 40 s: 4 s/s. A price of 2.5 allows a risk of 0.1, one of 25 of 0.01. */
    @Test
    void theHigherThePriceTheHigherTheQuantile() {
        assertThat(peak(0.25, .1, .1, .1, .1)).isZero();
        assertThat(peak(0.3, .1, .1, .1, .1)).isEqualTo(.1);
        assertThat(peak(2.5, .07, .1, .12, .2)).isCloseTo(.12, within(.005));
        assertThat(peak(25, .07, .1, .12, .2)).isCloseTo(.2, within(.005));
        double before = 0;
        for (double price = 0.2; price < 50; price *= 1.1) {
            double now = peak(price, .07, .1, .12, .2);
            assertThat(now).as("price %.2f", price).isBetween(before, .2);
            before = now;
        }
    }

    /** What is kept ready is more often enough than the risk says: the p50 is exceeded in half of the cases. */
    @Test
    void anEvenRiskMeansTheMedian() {
        double mean = .05 * .1 + .4 * .1 + .5 * .1 + .05 * .1;

        assertThat(peak(1 / (.5 * mean * 40), .1, .1, .1, .1)).isCloseTo(.1, within(1e-9));
        assertThat(peak(1 / (.5 * .1 * 40), .08, .1, .12, .14)).isCloseTo(.1, within(.004));
    }

    @Test
    void theGreatestDemandOfTheHorizonsWithinCounts() {
        double[] low = {1, 2, 3, 4};
        double[] high = {5, 6, 7, 8};
        Outlook certain = Outlook.CERTAIN;

        assertThat(certain.peak(forecast(low, high, low), Duration.ofMinutes(3), START))
                .isEqualTo(new Outlook.Expected(8, NOW.plusSeconds(120)));
        assertThat(certain.peak(forecast(low, high), Duration.ofSeconds(50), START))
                .isEqualTo(new Outlook.Expected(4, NOW.plusSeconds(60)));
    }

    @Test
    void looksAheadUnlessWaitingCostsNothing() {
        assertThat(Outlook.PRESENT.looksAhead()).isFalse();
        assertThat(new Outlook(0.1).looksAhead()).isTrue();
        assertThatThrownBy(() -> new Outlook(-1)).hasMessage("wait-price must be at least 0, but was -1.0");
    }
}
