package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class MeanIntervalTest {
    @Test
    void quantilesAreThoseOfTheTables() {
        assertThat(MeanInterval.tQuantile(1)).isCloseTo(12.706, within(.001));
        assertThat(MeanInterval.tQuantile(4)).isCloseTo(2.776, within(.001));
        assertThat(MeanInterval.tQuantile(9)).isCloseTo(2.262, within(.001));
        assertThat(MeanInterval.tQuantile(1000)).isCloseTo(1.962, within(.001));
    }

    @Test
    void theIntervalIsThatOfStudent() {
        MeanInterval interval = MeanInterval.of(List.of(1.0, 2.0, 3.0, 4.0, 5.0));

        assertThat(interval.mean()).isEqualTo(3);
        assertThat(interval.half()).isCloseTo(2.776 * Math.sqrt(2.5 / 5), within(.001));
    }

    @Test
    void oneNumberHasNoInterval() {
        assertThat(MeanInterval.of(List.of(2.0)).hasInterval()).isFalse();
        assertThat(MeanInterval.of(List.of(2.0)).mean()).isEqualTo(2);
        assertThat(MeanInterval.of(List.of()).mean()).isNaN();
    }
}
