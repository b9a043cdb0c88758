package io.lendstream.core.forecast.mixture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TailLevelTest {
    private static final double MINUTES = 1440;
    private static final double TEN_MINUTES = 144;

    @Test
    void readsAtThePromiseWhileItIsKept() {
        var level = new TailLevel(MINUTES, 1);

        for (int step = 1; step <= 10 * MINUTES; step++) {
            level.learn(step % 100 != 0, step);
        }

        assertThat(level.level(10 * MINUTES)).isCloseTo(0.99, within(0.0005));
    }

    /** {@code 0.01 * exp(-4 * (1/oneIn / 0.01 - 1))}: 1.9 % for one in 120 and 0.64 % for one in 90. */
    @ParameterizedTest
    @CsvSource({"120, 0.9805", "90, 0.9936"})
    void answersAShareThatStaysOffThePromiseByAsMuchWhateverTheStep(int oneIn, double expected) {
        assertThat(meanLevel(oneIn, MINUTES)).isCloseTo(expected, within(0.001));
        assertThat(meanLevel(oneIn, TEN_MINUTES)).isCloseTo(expected, within(0.001));
    }

    /** Over the second half of 60 days of which one step in so many passes. */
    private static double meanLevel(int oneIn, double perDay) {
        var level = new TailLevel(perDay, 1);
        double sum = 0;
        for (int step = 1; step <= 60 * perDay; step++) {
            level.learn(step % oneIn != 0, step);
            sum += step > 30 * perDay ? level.level(step) : 0;
        }
        return sum / (30 * perDay);
    }

    /** Without an answer 0.4 and 1.8 steps in a hundred would pass. */
    @ParameterizedTest
    @CsvSource({"0.4, 1440, 1", "1.8, 1440, 1", "0.4, 144, 1", "1.8, 144, 1", "0.4, 288, 12"})
    void bringsASpreadThatIsTooWideOrTooNarrowNearThePromise(double times, double perDay, double overlap) {
        var random = new SplittableRandom(1);
        var level = new TailLevel(perDay, overlap);
        int passed = 0;
        int judged = 0;
        for (int step = 1; step <= 200 * perDay; step++) {
            boolean under = random.nextDouble() >= times * (1 - level.level(step));
            level.learn(under, step);
            if (step > 20 * perDay) {
                passed += under ? 0 : 1;
                judged++;
            }
        }

        assertThat((double) passed / judged).isBetween(0.0065, 0.0135);
    }

    /** 59 in 100 services pass none of the first 53 steps, 13 in 100 none of 200. */
    @ParameterizedTest
    @CsvSource({"53, 1440", "100, 1440", "200, 1440", "53, 24", "100, 24", "200, 24"})
    void doesNotComeDownFarBeforeThereIsEvidence(int steps, double perDay) {
        var level = new TailLevel(perDay, 1);

        for (int step = 1; step <= steps; step++) {
            level.learn(true, step);
        }

        assertThat(level.level(steps)).isBetween(0.98, 0.99);
    }

    @ParameterizedTest
    @CsvSource({"1440, 1, 60", "24, 1, 60", "144, 6, 60", "24, 1, 1"})
    void isNotAtTheTopAfterASingleMiss(double perDay, double overlap, int missed) {
        var level = new TailLevel(perDay, overlap);

        for (int step = 1; step <= 60; step++) {
            level.learn(step != missed, step);
        }

        assertThat(level.level(60)).isBetween(0.985, 0.9925);
        assertThat(level.strain(60)).isLessThan(0.3);
    }

    /**
     * A miss a week at steps of an hour is one in 168, fewer than promised; the level must not jump between its ends.
     */
    @Test
    void isNotThrownFromEndToEndByOneMissWhereStepsAreLong() {
        var level = new TailLevel(24, 1);
        double before = 0;
        double farthest = 0;
        for (int step = 1; step <= 100 * 24; step++) {
            level.learn(step % 168 != 0, step);
            farthest = step > 1000 ? Math.max(farthest, Math.abs(level.level(step) - before)) : 0;
            before = level.level(step);
        }

        assertThat(farthest).isLessThan(0.015);
    }

    @Test
    void isUnderStrainOnlyWherePassedTooOften() {
        var kept = new TailLevel(TEN_MINUTES, 1);
        var missed = new TailLevel(TEN_MINUTES, 1);

        for (int step = 1; step <= 7 * TEN_MINUTES; step++) {
            kept.learn(true, step);
            missed.learn(step % 10 != 0, step);
        }

        assertThat(kept.strain(7 * TEN_MINUTES)).isZero();
        assertThat(missed.strain(7 * TEN_MINUTES)).isBetween(0.9, 1.0);
    }

    @Test
    void goesOnFromALevelOfAnEarlierVersionThatWasBeyondItsBounds() {
        var level = new TailLevel(MINUTES, 1);

        level.load(new StateReader(new StateWriter().number(0.9985).bytes()));

        assertThat(level.level(MINUTES)).isEqualTo(0.996);
    }
}
