package io.lendstream.core.goodput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Errors that the fits are expected to reach are those that SciPy 1.17's L-BFGS-B reaches on the same observations. */
class ThroughputFitTest {
    private static final double LEAST = 1e-8;

    private static final List<StepObservation> ONE_STEP = List.of(new StepObservation(1, 1, 64, 0.052, 0.00104));

    private static final List<StepObservation> TWO_GPUS = List.of(
            new StepObservation(1, 1, 128, 0.08484, 0.001697),
            new StepObservation(1, 1, 256, 0.14504, 0.002901),
            new StepObservation(1, 2, 96, 0.071361, 0.002001));

    private static final List<StepObservation> ONE_NODE = List.of(
            new StepObservation(1, 1, 128, 0.08484, 0.001697),
            new StepObservation(1, 2, 96, 0.072061, 0.002021),
            new StepObservation(1, 4, 64, 0.053957, 0.002997),
            new StepObservation(1, 4, 128, 0.088041, 0.002361),
            new StepObservation(1, 3, 200, 0.117983, 0.001583));

    private static final List<StepObservation> SEVERAL_NODES = List.of(
            new StepObservation(1, 1, 128, 0.08568, 0.001714),
            new StepObservation(1, 2, 96, 0.069262, 0.001942),
            new StepObservation(1, 4, 64, 0.05671, 0.00315),
            new StepObservation(2, 8, 64, 0.071275, 0.020315),
            new StepObservation(2, 8, 256, 0.161639, 0.012159),
            new StepObservation(4, 16, 32, 0.076619, 0.039179),
            new StepObservation(4, 16, 512, 0.281305, 0.013585),
            new StepObservation(3, 6, 48, 0.064599, 0.019719),
            new StepObservation(2, 2, 128, 0.094711, 0.009871),
            new StepObservation(1, 3, 200, 0.1192, 0.0016));

    @Test
    void reachesTheErrorThatThePublishedRoutineReaches() {
        assertThat(error(ONE_STEP, ThroughputFit.fit(ONE_STEP))).isCloseTo(0.0402025155, within(1e-6));
        assertThat(error(TWO_GPUS, ThroughputFit.fit(TWO_GPUS))).isCloseTo(0.0265019727, within(1e-6));
        assertThat(error(ONE_NODE, ThroughputFit.fit(ONE_NODE))).isCloseTo(0.0540313473, within(1e-6));
        assertThat(error(SEVERAL_NODES, ThroughputFit.fit(SEVERAL_NODES))).isCloseTo(0.0387206647, within(1e-6));
    }

    @Test
    void findsTheParametersThatThePublishedRoutineFinds() {
        ThroughputParameters fit = ThroughputFit.fit(SEVERAL_NODES);

        assertThat(fit.alphaC()).isCloseTo(0.02197449, within(1e-5));
        assertThat(fit.betaC()).isCloseTo(0.00048062, within(1e-7));
        assertThat(fit.alphaN()).isCloseTo(0.0196962, within(1e-4));
        assertThat(fit.betaN()).isCloseTo(0.0021692, within(1e-5));
        assertThat(fit.alphaR()).isCloseTo(0.0054303, within(1e-4));
        assertThat(fit.betaR()).isCloseTo(0.0010943, within(1e-5));
        assertThat(fit.gamma()).isCloseTo(1.27948, within(1e-3));
    }

    @Test
    void oneStepTellsNothingOfTheNetworkAndHalfOfTheConstant() {
        ThroughputParameters fit = ThroughputFit.fit(ONE_STEP);

        assertThat(fit.alphaC()).isEqualTo((0.052 - 0.00104) / 2);
        assertThat(fit.alphaR()).isEqualTo(LEAST);
        assertThat(fit.betaR()).isEqualTo(LEAST);
        assertThat(fit.alphaN()).isEqualTo(LEAST * 1.1);
        assertThat(fit.betaN()).isEqualTo(LEAST * 1.1);
    }

    @Test
    void severalNodesAreTakenForATenthSlowerThanOneUntilTheyWereTried() {
        ThroughputParameters fit = ThroughputFit.fit(ONE_NODE);

        assertThat(fit.alphaR()).isGreaterThan(0.001);
        assertThat(fit.alphaN()).isEqualTo(fit.alphaR() * 1.1);
        assertThat(fit.betaN()).isEqualTo(fit.betaR() * 1.1);
    }

    @Test
    void predictsTheStepTimesThatItHasSeen() {
        var range = new BatchRange(128, 4096, 32, 1024, Optional.empty());
        var fitted = new GoodputModel(ThroughputFit.fit(SEVERAL_NODES), new GradientNoise(1, 1), range);

        for (StepObservation one : SEVERAL_NODES) {
            assertThat(fitted.iterationSeconds(one.nodes(), one.replicas(), new Batch(one.localBatch(), 0)))
                    .isCloseTo(one.stepSeconds(), withinPercentage(6));
        }
    }

    @Test
    void equalObservationsGiveEqualParametersAndAnotherStartOthersAsGood() {
        assertThat(ThroughputFit.fit(SEVERAL_NODES)).isEqualTo(ThroughputFit.fit(new ArrayList<>(SEVERAL_NODES)));

        ThroughputParameters moved = ThroughputFit.fit(SEVERAL_NODES, 1 + 1e-9);

        assertThat(moved).isNotEqualTo(ThroughputFit.fit(SEVERAL_NODES));
        assertThat(error(SEVERAL_NODES, moved)).isCloseTo(0.0387206647, within(1e-6));
    }

    @Test
    void anErrorsGradientIsItsSlope() {
        var error = new StepTimeError(SEVERAL_NODES);
        double[] at = {0.03, 0.0007, 0.05, 0.003, 0.02, 0.001, 1.7};
        double[] gradient = new double[at.length];
        error.at(at, gradient);

        for (int i = 0; i < at.length; i++) {
            double step = 1e-6 * at[i];
            double[] above = at.clone();
            double[] below = at.clone();
            above[i] += step;
            below[i] -= step;
            double slope =
                    (error.at(above, new double[at.length]) - error.at(below, new double[at.length])) / (2 * step);
            assertThat(gradient[i]).isCloseTo(slope, within(1e-6 * Math.max(1, Math.abs(slope))));
        }
    }

    @Test
    void nothingSeenIsRefused() {
        assertThatThrownBy(() -> ThroughputFit.fit(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least one");
    }

    /** The error before unknown networks were set to a tenth above the known ones, which is not part of the minimum. */
    private static double error(List<StepObservation> seen, ThroughputParameters fit) {
        boolean tried = seen.stream().anyMatch(one -> one.nodes() > 1);
        double[] x = {
            fit.alphaC(),
            fit.betaC(),
            tried ? fit.alphaN() : LEAST,
            tried ? fit.betaN() : LEAST,
            fit.alphaR(),
            fit.betaR(),
            fit.gamma()
        };
        return new StepTimeError(seen).at(x, new double[x.length]);
    }
}
