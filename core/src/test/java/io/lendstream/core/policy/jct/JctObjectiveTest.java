package io.lendstream.core.policy.jct;

import static io.lendstream.core.policy.Views.gpu;
import static io.lendstream.core.policy.Views.job;
import static io.lendstream.core.policy.Views.pace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.DescribedJob;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.policy.Views;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JctObjectiveTest {
    private final JctObjective objective = new JctObjective(0.5, Duration.ofMinutes(5));

    private static JobView upTo(int least, int most, Pace pace, GpuId... held) {
        return changed(0, Duration.ZERO, least, most, pace, held);
    }

    private static JobView changed(int changes, Duration age, int least, int most, Pace pace, GpuId... held) {
        return new DescribedJob(
                job("a"),
                Views.NOW.minus(age),
                new TrainingJob.Scaling(least, least, most, true),
                List.of(held),
                new DescribedJob.Usage(most, changes, 0),
                Optional.empty(),
                pace,
                Optional.empty(),
                Views.COSTS);
    }

    /** By the formula: 1, then (4 - 1)^(1/2) and (9 - 4)^(1/2). */
    @Test
    void theMoreWorkRemainsTheLessAJobWeighs() {
        assertThat(objective.weights(new double[] {10, 3000, 200}))
                .containsExactly(new double[] {Math.sqrt(5), 1, Math.sqrt(3)}, within(1e-12));
        assertThat(new JctObjective(0, Duration.ofSeconds(1)).weights(new double[] {10, 3000}))
                .containsExactly(1, 1);
    }

    @Test
    void stoppingAJobCostsTheStartThatItNeedsLater() {
        assertThat(objective.stop(upTo(1, 4, pace(1000, 1)), 2, 1000)).isZero();
        assertThat(objective.stop(upTo(1, 4, pace(1000, 1), gpu(0, 0), gpu(0, 1)), 2, 1000))
                .isCloseTo(2 * 2 * 30 / 300.0, within(1e-9));
    }

    @Test
    void sizesBelowTheFewestAndBetweenLargeStepsAreNotWeighed() {
        double[] values = objective.values(upTo(3, 200, pace(1e6, 1)), 150, 2, 1e6, Views.NOW);

        assertThat(values).hasSize(151);
        assertThat(values[0]).isZero();
        assertThat(values[2]).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(values[3]).isCloseTo(6, within(1e-3));
        assertThat(values[63]).isCloseTo(126, within(1.0));
        assertThat(values[65]).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(values[128]).isCloseTo(256, within(2.0));
        assertThat(values[150]).as("the largest").isCloseTo(300, within(2.0));
    }

    @Test
    void aJobThatStartsWithMoreThanTheLargestWeighedSizeIsWeighedThere() {
        double[] values = objective.values(upTo(1500, 2000, pace(1e6, 1)), 1600, 1, 1e6, Views.NOW);

        assertThat(values).hasSize(1501);
        assertThat(values[1500]).isCloseTo(1500 * (1 - 30 / (1e6 / 1500 + 30)), within(1e-6));
    }

    /** Growing from 1 to 2 pauses for 3 + 27 / 2 = 16 s, of which 300 s are left, or the 10 s of the job and 16. */
    @Test
    void aChangeCountsForTheRestOfThePaybackTimeOrOfTheJob() {
        double[] longer = objective.values(upTo(1, 2, pace(1e6, 1), gpu(0, 0)), 2, 1, 1e6, Views.NOW);
        double[] ends = objective.values(upTo(1, 2, pace(20, 1), gpu(0, 0)), 2, 1, 20, Views.NOW);

        assertThat(longer[1]).isCloseTo(1, within(1e-9));
        assertThat(longer[2]).isCloseTo(2 * (1 - 16 / 300.0), within(1e-9));
        assertThat(ends[2]).isCloseTo(2 * (1 - 16 / 26.0), within(1e-9));
    }

    /** A start takes 30 s: with 4 GPUs that is a third of the time until the end, with one a ninth. */
    @Test
    void aStartCountsOverTheRestOfTheJob() {
        double[] values = objective.values(upTo(1, 4, pace(240, 1)), 4, 1, 240, Views.NOW);

        assertThat(values[1]).isCloseTo(240 / 270.0, within(1e-9));
        assertThat(values[4]).isCloseTo(4 * 60 / 90.0, within(1e-9));
    }

    /** After 25 changes in 1,500 s: (5 x 300 + 1,500) / (5 + 25) = 100 s; after one, 3,000 / 6 is more than 300 s. */
    @Test
    void aChangeOfAJobThatIsChangedOftenHasToPaySooner() {
        Duration age = Duration.ofMinutes(25);
        double[] often = objective.values(changed(25, age, 1, 2, pace(1e6, 1), gpu(0, 0)), 2, 1, 1e6, Views.NOW);
        double[] seldom = objective.values(changed(1, age, 1, 2, pace(1e6, 1), gpu(0, 0)), 2, 1, 1e6, Views.NOW);

        assertThat(often[2]).isCloseTo(2 * (1 - 16 / 100.0), within(1e-9));
        assertThat(seldom[2]).isCloseTo(2 * (1 - 16 / 300.0), within(1e-9));
    }

    /** Its remaining work is a guess from the work done: it must not keep a young job from growing. */
    @Test
    void aJobThatNeverSaidHowMuchWorkItHasGrowsAsIfItWentOn() {
        Pace guessed = guess(pace(20, 1));

        double[] values = objective.values(upTo(1, 2, guessed, gpu(0, 0)), 2, 1, 20, Views.NOW);

        assertThat(values[2]).isCloseTo(2 * (1 - 16 / 300.0), within(1e-9));
    }

    static Pace guess(Pace known) {
        return new Pace() {
            @Override
            public double iterationSeconds(int gpus) {
                return known.iterationSeconds(gpus);
            }

            @Override
            public int iterationSamples(int gpus) {
                return known.iterationSamples(gpus);
            }

            @Override
            public double remainingIterations() {
                return known.remainingIterations();
            }

            @Override
            public boolean isTotalKnown() {
                return false;
            }
        };
    }
}
