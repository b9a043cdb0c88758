package io.lendstream.core.forecast.service;

import static io.lendstream.core.forecast.service.Rates.DOMAIN;
import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static io.lendstream.core.forecast.service.Rates.SERVICE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ServiceForecasterTest {
    private final ServiceForecaster forecaster = new ServiceForecaster(ForecastSettings.DEFAULT, SERVICE, DOMAIN);

    @Test
    void answersTheRecordThatCompletesAStep() {
        var gateway = Rates.of("gateway");
        assertThat(forecaster.observe(gateway.next(15))).isEmpty();
        assertThat(forecaster.observe(gateway.next(15))).isEmpty();
        assertThat(forecaster.observe(gateway.next(15))).isEmpty();

        var forecast = forecaster.observe(gateway.next(15)).orElseThrow();

        assertThat(forecast.service()).isEqualTo(SERVICE);
        assertThat(forecast.domain()).isEqualTo(DOMAIN);
        assertThat(forecast.issuedAt()).isEqualTo(MIDNIGHT.plusSeconds(60));
        assertThat(forecast.model()).isEqualTo("lendstream");
        assertThat(forecast.horizons())
                .extracting(HorizonQuantiles::horizon)
                .containsExactlyElementsOf(ForecastSettings.DEFAULT.horizons());
        assertThat(forecast.horizons().get(0).p50()).isBetween(0.99, 1.01);
        assertThat(forecast.recentError()).isEmpty();
    }

    @Test
    void closesAStepByTheClockWhenTheOnlySourceFellSilent() {
        var gateway = Rates.of("gateway");
        forecaster.observe(gateway.next(15));
        forecaster.observe(gateway.next(15));
        var by = forecaster.closesBy().orElseThrow();

        assertThat(by).isEqualTo(MIDNIGHT.plusSeconds(30 + 3 * 15).plusMillis(1));
        assertThat(forecaster.advanceTo(by))
                .hasValueSatisfying(forecast -> assertThat(forecast.issuedAt()).isEqualTo(MIDNIGHT.plusSeconds(60)));
        assertThat(forecaster.closesBy()).isEmpty();
    }

    @Test
    void tellsInTheMiddleOfAStepThatDemandHasLeftItsBand() {
        var left = Rates.of("left");
        var right = Rates.of("right");
        for (int window = 0; window < 4 * 60; window++) {
            forecaster.observe(left.next(300));
            forecaster.observe(right.next(300));
            assertThat(forecaster.early()).isEmpty();
        }
        forecaster.observe(left.next(900));
        assertThat(forecaster.early()).as("half of demand is not reported yet").isEmpty();
        forecaster.observe(right.next(900));

        var early = forecaster.early().orElseThrow();

        assertThat(early.issuedAt()).isEqualTo(MIDNIGHT.plusSeconds(60 * 60 + 15));
        assertThat(early.horizons().get(0).p99()).isGreaterThan(80);
        assertThat(forecaster.early()).as("once a window").isEmpty();
        assertThat(forecaster.observe(left.next(900))).isEmpty();
    }

    /**
     * The p99 of five minutes is far above demand of the next one, or far below; in neither case it was a forecast of
     * the open step.
     */
    @Test
    void forecastsNothingEarlyWhereTheOpenStepHadNoForecast() {
        var fiveMinutesAhead = new ServiceForecaster(
                new ForecastSettings("lendstream", Duration.ofMinutes(1), List.of(Duration.ofMinutes(5))),
                SERVICE,
                DOMAIN);
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 4 * 60; window++) {
            fiveMinutesAhead.observe(gateway.next(300));
        }
        fiveMinutesAhead.observe(gateway.next(900));

        assertThat(fiveMinutesAhead.early()).isEmpty();
    }

    @Test
    void learnsOnceFromAStepWithAnEarlyForecast() {
        var spoke = new ServiceForecaster(ForecastSettings.DEFAULT, SERVICE, DOMAIN);
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 4 * 60; window++) {
            var rate = gateway.next(window < 4 * 59 ? 300 : 900);
            var expected = forecaster.observe(rate);
            assertThat(spoke.observe(rate)).isEqualTo(expected);
            spoke.early();
        }
    }

    @Test
    void staysQuietWhereAFewRequestsMoreMayBeChance() {
        var gateway = Rates.of("gateway");
        for (int window = 0; window < 4 * 600; window++) {
            forecaster.observe(gateway.next(window % 7 == 0 ? 2 : 0));
            assertThat(forecaster.early()).isEmpty();
        }
    }

    @Test
    void countsDuplicatesAndLateRecords() {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        var first = gateway.next(60);
        forecaster.observe(first);
        forecaster.observe(first);
        forecaster.observe(Rates.of("newcomer").next(15));

        assertThat(forecaster.duplicates()).isEqualTo(1);
        assertThat(forecaster.late()).isEqualTo(1);
    }

    @Test
    void restartsAfterMonthsOfSilence() {
        var gateway = Rates.of("gateway").every(Duration.ofMinutes(1));
        for (int minute = 0; minute < 100; minute++) {
            forecaster.observe(gateway.next(6000));
        }
        var later = gateway.from(MIDNIGHT.plus(Duration.ofDays(90))).rebooted("boot-2");

        var forecast = forecaster.observe(later.next(60)).orElseThrow();

        assertThat(forecast.horizons().get(0).p50()).isBetween(0.99, 1.01);
        assertThat(forecast.recentError()).isEmpty();
    }

    @Test
    void refusesTheRecordsOfAnotherServiceAndAStateOfAnotherFormat() {
        var other = new ServiceForecaster(ForecastSettings.DEFAULT, new ServiceId("search"), DOMAIN);
        byte[] snapshot = forecaster.snapshot();
        snapshot[3] = 9;

        assertThatThrownBy(() -> other.observe(Rates.of("gateway").next(1)))
                .hasMessage("the forecaster of search was given a record of chat");
        assertThatThrownBy(() -> ServiceForecaster.restore(snapshot))
                .hasMessage("the forecaster's state has format 9, but this version reads 2 to 5;"
                        + " start it without the old state");
    }

    /**
     * The size of a service's state: its model, 7,405 bytes whatever it has seen; settings, counts and clocks, 128; its
     * own names; of each source 42 and its names; of each step in hand 16, and 8 for each source. The bound holds for
     * two sources and two steps, all names as long as those of Kubernetes may be, and boot ids that are UUIDs.
     */
    @Test
    void staysSmallAlsoWithTwoSourcesOfLongNames() {
        String longest = "x".repeat(62);
        var service = new ServiceId("s" + longest);
        var domain = new DomainId("d" + longest);
        var one = new ServiceForecaster(ForecastSettings.DEFAULT, service, domain);
        var two = new ServiceForecaster(ForecastSettings.DEFAULT, service, domain);
        var left = Rates.of("a" + longest).rebooted(UUID.randomUUID().toString());
        var right = Rates.of("b" + longest).rebooted(UUID.randomUUID().toString());
        for (int window = 0; window < 3 * 24 * 60 * 4 - 1; window++) {
            var ahead = Rates.of(left.next(window % 50), service, domain);
            one.observe(ahead);
            two.observe(ahead);
            // the other lags by a step, so that more than one is in hand
            if (window >= 4) {
                two.observe(Rates.of(right.next(window % 50), service, domain));
            }
        }

        int always = 7405 + 128 + 2 * 63;
        int source = 42 + 63 + 36;
        assertThat(one.snapshot()).hasSize(always + source + 16 + 8);
        assertThat(two.snapshot())
                .hasSize(always + 2 * source + 2 * (16 + 2 * 8))
                .hasSizeLessThanOrEqualTo(8 * 1024);
    }
}
