package io.lendstream.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DistributionTest {
    @Test
    void interpolatesQuantilesLinearlyAsNumpyDoes() {
        Distribution sample = new Distribution();
        for (double value : new double[] {15, 20, 35, 40, 50}) {
            sample.add(value);
        }

        assertThat(sample.mean()).isEqualTo(32);
        assertThat(sample.quantile(.5)).isEqualTo(35);
        assertThat(sample.quantile(.4)).isCloseTo(29, within(1e-9));
        assertThat(sample.quantile(.95)).isCloseTo(48, within(1e-9));
        assertThat(sample.quantile(1)).isEqualTo(50);
    }

    @Test
    void countsEqualValuesAsOftenAsTheyWereSeen() {
        Distribution sample = new Distribution();
        sample.add(0, 99);
        sample.add(10, 1);

        assertThat(sample.quantile(.5)).isZero();
        assertThat(sample.quantile(.99)).isCloseTo(.1, within(1e-9));
        assertThat(sample.upTo(0)).isEqualTo(99);
    }

    @Test
    void nothingHasNoQuantiles() {
        assertThat(new Distribution().quantile(.99)).isZero();
        assertThat(new Distribution().mean()).isZero();
    }
}
