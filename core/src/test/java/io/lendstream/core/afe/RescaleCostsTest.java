package io.lendstream.core.afe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RescaleCostsTest {
    /** bert of DeepBoot's table: 103 s for a start, 5 s for a change in place. */
    private final RescaleCosts bert = new RescaleCosts(Duration.ofSeconds(103), Duration.ofSeconds(5));

    @Test
    void withoutAfeEveryChangeIsARestart() {
        assertThat(bert.delay(8, 4, false)).hasSeconds(103);
        assertThat(bert.delay(4, 8, false)).hasSeconds(103);
    }

    @Test
    void withAfeOnlyTheFirstStartCostsAsMuch() {
        assertThat(bert.delay(0, 4, true)).hasSeconds(103);
        assertThat(bert.delay(8, 4, true)).hasSeconds(5);
    }

    @Test
    void growingCostsTheShareOfTheNewcomers() {
        // 5 + 98 * 4 / 8
        assertThat(bert.delay(4, 8, true)).hasSeconds(54);
        // 5 + floor(98 * 1 / 3)
        assertThat(bert.delay(2, 3, true)).hasSeconds(37);
    }

    @Test
    void aPausedJobStartsAgainByAResume() {
        PauseCosts pauses = new PauseCosts(Duration.ofSeconds(9), Duration.ofSeconds(5), Duration.ofSeconds(14), 1);

        assertThat(bert.pausing(pauses).whilePaused().delay(0, 4, false)).hasSeconds(14);
        assertThat(bert.whilePaused()).isEqualTo(bert);
        assertThat(bert.pausing(pauses).with(Duration.ofSeconds(7), true).pausing())
                .contains(pauses);
    }

    @Test
    void movingToOtherGpusIsARestartAndStoppingCostsNothing() {
        assertThat(bert.delay(4, 4, true)).hasSeconds(103);
        assertThat(bert.delay(4, 0, true)).isZero();
    }
}
