package io.lendstream.core.goodput;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class LearnedSpeedTest {
    private static final ThroughputParameters TRUTH =
            new ThroughputParameters(0.02, 0.001, 0.1, 0.01, 0.04, 0.005, 1.5);
    /** The declaration of an owner with GPUs twice as fast, and the same network. */
    private static final ThroughputParameters DECLARED =
            new ThroughputParameters(0.01, 0.0005, 0.1, 0.01, 0.04, 0.005, 1.5);

    private static StepObservation step(int nodes, int replicas, int local, double factor) {
        double step = factor * TRUTH.stepSeconds(nodes, replicas, local);
        return new StepObservation(nodes, replicas, local, step, step - factor * TRUTH.accumulationSeconds(local));
    }

    @Test
    void whatTheModelExplainsChangesNothing() {
        LearnedSpeed speed = LearnedSpeed.declared(TRUTH).with(step(1, 2, 128, 1.2), FitRule.COARSE);

        assertThat(speed.parameters()).isEqualTo(TRUTH);
        assertThat(speed.measured()).hasSize(1);
    }

    @Test
    void aFineRuleHeedsTheFirstStepOnAPlacement() {
        LearnedSpeed speed = LearnedSpeed.declared(TRUTH).with(step(1, 2, 128, 1.1), FitRule.FINE);

        assertThat(speed.parameters().stepSeconds(1, 2, 128))
                .isCloseTo(1.1 * TRUTH.stepSeconds(1, 2, 128), Percentage.withPercentage(1));
    }

    @Test
    void aFineRuleLeavesSmallAndLaterDifferencesAlone() {
        LearnedSpeed near = LearnedSpeed.declared(TRUTH).with(step(1, 2, 128, 1.03), FitRule.FINE);
        LearnedSpeed later = near.with(step(1, 2, 128, 1.6), FitRule.FINE);

        assertThat(near.parameters()).isEqualTo(TRUTH);
        assertThat(later.parameters()).isEqualTo(TRUTH);
        assertThat(later.measured().get(0).stepSeconds()).isGreaterThan(1.1 * TRUTH.stepSeconds(1, 2, 128));
    }

    @Test
    void aSurpriseOnOneGpuCorrectsComputationAndLeavesTheNetworkAsDeclared() {
        ThroughputParameters learned = LearnedSpeed.declared(DECLARED)
                .with(step(1, 1, 128, 1), FitRule.COARSE)
                .parameters();

        assertThat(learned.stepSeconds(1, 1, 128))
                .isCloseTo(TRUTH.stepSeconds(1, 1, 128), Percentage.withPercentage(1));
        assertThat(learned.networkSeconds(1, 4)).isCloseTo(DECLARED.networkSeconds(1, 4), Percentage.withPercentage(5));
        assertThat(learned.networkSeconds(2, 8)).isCloseTo(DECLARED.networkSeconds(2, 8), Percentage.withPercentage(5));
    }

    @Test
    void knowsWhereItHasBeen() {
        LearnedSpeed speed = LearnedSpeed.declared(DECLARED);
        for (StepObservation seen : new StepObservation[] {
            step(1, 1, 128, 1),
            step(1, 1, 256, 1),
            step(1, 2, 128, 1),
            step(1, 4, 128, 1),
            step(2, 4, 256, 1),
            step(2, 8, 128, 1)
        }) {
            speed = speed.with(seen, FitRule.COARSE);
        }

        for (StepObservation seen : speed.measured()) {
            assertThat(speed.parameters().stepSeconds(seen.nodes(), seen.replicas(), seen.localBatch()))
                    .isCloseTo(seen.stepSeconds(), Percentage.withPercentage(10));
        }
    }

    @Test
    void theSameAgainIsNoNews() {
        LearnedSpeed speed = LearnedSpeed.declared(DECLARED).with(step(1, 2, 128, 1), FitRule.COARSE);

        assertThat(speed.with(step(1, 2, 128, 1), FitRule.COARSE)).isSameAs(speed);
    }

    @Test
    void aSpeedThatChangesIsFollowed() {
        LearnedSpeed speed = LearnedSpeed.declared(TRUTH).with(step(1, 2, 128, 1), FitRule.COARSE);
        for (int report = 0; report < 20; report++) {
            speed = speed.with(step(1, 2, 128, 2 + report * 1e-6), FitRule.COARSE);
        }

        assertThat(speed.measured()).hasSize(1);
        assertThat(speed.parameters().stepSeconds(1, 2, 128))
                .isCloseTo(2 * TRUTH.stepSeconds(1, 2, 128), Percentage.withPercentage(10));
    }

    @Test
    void forgetsTheOldestOfManyPlacements() {
        LearnedSpeed speed = LearnedSpeed.declared(TRUTH);
        for (int local = 1; local <= LearnedSpeed.MOST_MEASURED + 5; local++) {
            speed = speed.with(step(1, 1, local, 1), FitRule.COARSE);
        }

        assertThat(speed.measured()).hasSize(LearnedSpeed.MOST_MEASURED);
        assertThat(speed.measured().get(0).localBatch()).isEqualTo(6);
    }
}
