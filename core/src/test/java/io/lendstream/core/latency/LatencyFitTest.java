package io.lendstream.core.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.mig.MigGpu;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatencyFitTest {
    private static final List<Slice> SLICES =
            List.of(new Slice(1, 1), new Slice(2, 2), new Slice(3, 4), new Slice(4, 4), new Slice(7, 8));

    /** A floor of 6 ms; 4 ms and 2 ms an input on the smallest slice. */
    private static final Hinge TRUTH = new Hinge(Math.log(6), Math.log(4), Math.log(2), .5, .4, Math.log(.8));

    private static List<LatencySample> samples(Hinge truth, double noise, int seed) {
        Random random = new Random(seed);
        List<LatencySample> samples = new ArrayList<>();
        for (Slice slice : SLICES) {
            for (int batch = 1; batch <= 128; batch *= 2) {
                for (double size : new double[] {.125, .5, 1}) {
                    double millis = Math.exp(truth.logMillis(slice, batch, size) + noise * random.nextGaussian());
                    samples.add(new LatencySample(slice, batch, size, millis));
                }
            }
        }
        return samples;
    }

    @Test
    void slopesAreThoseOfTheCurve() {
        for (Slice slice : SLICES) {
            for (int batch : new int[] {1, 2, 3, 16}) {
                double[] slopes = TRUTH.slopes(slice, batch, .5);
                for (int i = 0; i < Hinge.PARAMETERS; i++) {
                    double[] up = TRUTH.toArray();
                    double[] down = TRUTH.toArray();
                    up[i] += 1e-5;
                    down[i] -= 1e-5;
                    double difference = (Hinge.of(up).logMillis(slice, batch, .5)
                                    - Hinge.of(down).logMillis(slice, batch, .5))
                            / 2e-5;
                    assertThat(slopes[i]).as("parameter %d", i).isCloseTo(difference, within(1e-6));
                }
            }
        }
    }

    @Test
    void findsTheCurveThatSamplesLieOn() {
        LatencyModel model = LatencyFit.of(samples(TRUTH, 0, 1), LatencyPrior.WIDE);

        for (LatencySample sample : samples(TRUTH, 0, 1)) {
            assertThat(model.millis(sample.slice(), sample.batch(), sample.size()) / sample.millis())
                    .isBetween(.995, 1.005);
        }
    }

    @Test
    void isSureWhereItWasMeasuredAndLessSoElsewhere() {
        List<LatencySample> few = samples(TRUTH, .01, 2).stream()
                .filter(sample -> sample.slice().compute() == 1 && sample.size() == 1)
                .toList();
        LatencyModel model = LatencyFit.of(few, LatencyPrior.WIDE);

        assertThat(model.spread(SLICES.get(0), 16, 1)).isLessThan(.06);
        assertThat(model.spread(SLICES.get(4), 16, 1)).isGreaterThan(.2);
        assertThat(model.millisAtMost(SLICES.get(4), 16, 1, 1.64)).isGreaterThan(model.millis(SLICES.get(4), 16, 1));
    }

    @Test
    void learnsFromOtherModelsWhereTheirCurvesLie() {
        List<List<LatencySample>> others = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            others.add(samples(new Hinge(i / 3.0, i / 3.0 - .4, i / 3.0 - 1.1, .5, .4, Math.log(.8)), .01, i));
        }
        LatencyPrior prior = LatencyPrior.of(others);
        List<LatencySample> two = samples(TRUTH, 0, 1).stream()
                .filter(sample -> sample.size() == 1
                        && ((sample.batch() == 1 && sample.slice().compute() == 7)
                                || (sample.batch() == 64 && sample.slice().compute() == 1)))
                .toList();

        assertThat(prior.means().get(1)).isCloseTo(.5, within(.05));
        assertThat(error(LatencyFit.of(two, prior)))
                .as("from two samples")
                .isLessThan(.15)
                .isLessThan(.5 * error(LatencyFit.of(two, LatencyPrior.WIDE)));
    }

    private static double error(LatencyModel model) {
        return samples(TRUTH, 0, 1).stream()
                .mapToDouble(sample ->
                        Math.abs(model.millis(sample.slice(), sample.batch(), sample.size()) / sample.millis() - 1))
                .average()
                .orElseThrow();
    }

    @Test
    void aSliceCountsMultiprocessorsWhereTheyAreKnown() {
        MigGpu h100 = MigGpu.named("H100-SXM5").orElseThrow();
        MigGpu b200 = MigGpu.named("B200").orElseThrow();

        assertThat(Slice.of(h100, h100.profile("3g.40gb").orElseThrow())).isEqualTo(new Slice(3.75, 4));
        assertThat(Slice.of(b200, b200.profile("3g.90gb").orElseThrow())).isEqualTo(new Slice(3, 4));
    }

    @Test
    void withoutSamplesThereIsNoModel() {
        assertThatThrownBy(() -> LatencyFit.of(List.of(), LatencyPrior.WIDE)).hasMessageContaining("at least 1 sample");
        assertThatThrownBy(() -> new LatencySample(SLICES.get(0), 1, 1.5, 3)).hasMessageContaining("1.5");
    }
}
