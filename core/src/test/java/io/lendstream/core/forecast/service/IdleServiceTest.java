package io.lendstream.core.forecast.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Services without demand, at first or for long, and services whose demand never changes. */
class IdleServiceTest {
    private static final double DEMAND = 50;
    private static final double SECONDS = 60;

    private final ForecastModel model = Models.create(ForecastSettings.DEFAULT);
    private final SplittableRandom random = new SplittableRandom(3);
    private long step;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 60, 1440, 14_400})
    void aServiceThatHadNoDemandYetBeginsWithItsFirst(int zeros) {
        idle(zeros);

        for (int after = 0; after < 1500; after++) {
            observe(around(DEMAND));
            assertThat(model.forecast()).allSatisfy(horizon -> {
                assertThat(horizon.p50() * SECONDS).isBetween(0.5 * DEMAND, 2 * DEMAND);
                assertThat(horizon.p99() * SECONDS).isBetween(horizon.p50() * SECONDS, 4 * DEMAND);
            });
        }
    }

    @Test
    void aServiceThatNeverHadDemandIsExpectedToHaveHardlyAny() {
        idle(1440);

        assertThat(model.forecast())
                .allSatisfy(horizon -> assertThat(horizon.p99() * SECONDS).isBetween(0.0, 0.01));
    }

    /**
     * After days or weeks without demand as much of it as before comes back; p99 is neither absurd nor on the forecast.
     */
    @ParameterizedTest
    @CsvSource({"1440, 1440", "1440, 14400", "1440, 30000", "10080, 1440", "10080, 7200", "10080, 14400", "10080, 45000"
    })
    void demandThatComesBackHasABandAroundIt(int before, int zeros) {
        for (int i = 0; i < before; i++) {
            observe(around(DEMAND));
        }
        idle(zeros);
        assertThat(model.forecast().get(0).p99() * SECONDS).isLessThan(0.1 * DEMAND);

        int passed = 0;
        for (int after = 0; after < 1440; after++) {
            double p99 = model.forecast().get(0).p99() * SECONDS;
            double demand = around(DEMAND);
            observe(demand);
            passed += after >= 10 && demand > p99 ? 1 : 0;
            assertThat(model.forecast())
                    .extracting(HorizonQuantiles::p99)
                    .allSatisfy(each -> assertThat(each * SECONDS).isLessThan(8 * DEMAND));
        }

        // one in a hundred is promised
        assertThat(passed).isLessThanOrEqualTo(30);
    }

    /** Forecasts are kept to within 0.1 %: 50 comes back as a little less, and 100 as a little more. */
    @ParameterizedTest
    @ValueSource(doubles = {50, 100})
    void demandThatNeverChangesIsUnderItsQuantiles(double demand) {
        for (int i = 0; i < 3000; i++) {
            observe(demand);
        }

        assertThat(model.forecast().get(0).recent())
                .hasValueSatisfying(covered -> assertThat(covered.p90()).isGreaterThan(0.99));
        assertThat(model.forecast().get(0).p99() * SECONDS).isBetween(0.999 * demand, 1.01 * demand);
    }

    private void idle(int steps) {
        for (int i = 0; i < steps; i++) {
            observe(0);
        }
    }

    private void observe(double requests) {
        model.observe(step++, requests / SECONDS);
    }

    /** A count with this mean. */
    private double around(double mean) {
        int count = -1;
        for (double left = 1; left > Math.exp(-mean); left *= random.nextDouble()) {
            count++;
        }
        return count;
    }
}
