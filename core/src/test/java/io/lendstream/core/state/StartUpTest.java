package io.lendstream.core.state;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The start-up time to reckon with, by the declared one and those that were measured. */
class StartUpTest {
    private static final Duration DECLARED = ofSeconds(60);

    private static StartUp measured(int... seconds) {
        StartUp known = StartUp.none(Optional.empty(), Optional.empty(), false);
        for (int each : seconds) {
            known = known.with(ofSeconds(each));
        }
        return known;
    }

    @Test
    void theDeclaredTimeCountsUntilSomethingIsMeasured() {
        assertThat(measured().estimate(DECLARED)).isEqualTo(DECLARED);
    }

    @Test
    void aLongerTimeCountsAtOnce() {
        assertThat(measured(61).estimate(DECLARED)).isEqualTo(ofSeconds(61));
        assertThat(measured(20, 20, 20, 20, 20, 20, 20, 45).estimate(DECLARED)).isEqualTo(ofSeconds(45));
        int[] many = new int[StartUp.MOST];
        java.util.Arrays.fill(many, 20);
        many[StartUp.MOST - 1] = 90;
        assertThat(measured(many).estimate(DECLARED)).isEqualTo(ofSeconds(90));
    }

    @Test
    void aShorterTimeIsBelievedFromFiveStartsOn() {
        assertThat(measured(20, 20, 20, 20).estimate(DECLARED)).isEqualTo(DECLARED);
        assertThat(measured(20, 25, 20, 20, 20).estimate(DECLARED)).isEqualTo(ofSeconds(25));
    }

    /** One of twenty starts was slow: the 95th percentile leaves it out once faster ones have followed. */
    @Test
    void oneSlowStartOfManyDoesNotCountForever() {
        int[] many = new int[StartUp.MOST];
        java.util.Arrays.fill(many, 20);
        many[3] = 600;
        assertThat(measured(many).estimate(DECLARED)).isEqualTo(ofSeconds(20));

        many[4] = 500;
        assertThat(measured(many).estimate(DECLARED)).isEqualTo(ofSeconds(500));
    }

    @Test
    void onlyTheLastStartsAreKept() {
        StartUp known = measured(300, 300);
        for (int i = 0; i < StartUp.MOST; i++) {
            known = known.with(ofSeconds(20));
        }

        assertThat(known.millis()).hasSize(StartUp.MOST);
        assertThat(known.estimate(DECLARED)).isEqualTo(ofSeconds(20));
    }

    @Test
    void aClockThatGoesBackGivesNoNegativeTime() {
        assertThat(measured().with(ofMillis(-5)).millis()).containsExactly(0L);
    }
}
