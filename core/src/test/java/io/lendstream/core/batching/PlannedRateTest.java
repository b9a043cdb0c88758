package io.lendstream.core.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PlannedRateTest {
    private static final Duration AHEAD = Duration.ofMinutes(5);

    /** A normal distribution's quantiles, of mean 100 and deviation 10, and a higher one later on. */
    private static final DemandForecast FORECAST = new DemandForecast(
            new ServiceId("s"),
            new DomainId("d"),
            Instant.parse("2026-01-01T00:00:00Z"),
            Duration.ofMinutes(1),
            "test",
            List.of(
                    new HorizonQuantiles(Duration.ofMinutes(5), 87.2, 100, 112.816, 123.263),
                    new HorizonQuantiles(Duration.ofMinutes(30), 100, 200, 300, 400)),
            Optional.empty(),
            Optional.empty());

    private static double rate(double present, double recentPeak) {
        return PlannedRate.DEFAULT.of(FORECAST, AHEAD, present, recentPeak);
    }

    @Test
    void isTheForecastsQuantileWhereThatIsALittleAboveThePresentRate() {
        assertThat(rate(100, 0)).isCloseTo(116.449, within(.001));
        assertThat(new PlannedRate(.9, 2).of(FORECAST, AHEAD, 100, 0)).isCloseTo(112.816, within(1e-9));
        assertThat(new PlannedRate(.99, 2).of(FORECAST, AHEAD, 100, 0)).isCloseTo(123.263, within(1e-9));
        assertThat(new PlannedRate(.9, 9).of(FORECAST, Duration.ofMinutes(20), 100, 0))
                .as("the highest until the plan ends")
                .isCloseTo(300, within(1e-9));
    }

    @Test
    void isNeverBelowThePresentRate() {
        assertThat(rate(140, 0)).isEqualTo(140);
    }

    @Test
    void isAtMostThreeTenthsAboveThePresentRateUnlessTheRecentPeakWas() {
        assertThat(rate(50, 0)).isEqualTo(65);
        assertThat(rate(50, 60)).isEqualTo(65);
        assertThat(rate(50, 90)).isEqualTo(90);
        assertThat(rate(50, 500)).isCloseTo(116.449, within(.001));
    }

    @Test
    void refusesQuantilesThatForecastsDoNotHave() {
        assertThatThrownBy(() -> new PlannedRate(.5, 1.3)).hasMessage("quantile must be from 0.9 to 0.99, but is 0.5");
        assertThatThrownBy(() -> new PlannedRate(.95, .9)).hasMessageContaining("at least 1 times");
    }
}
