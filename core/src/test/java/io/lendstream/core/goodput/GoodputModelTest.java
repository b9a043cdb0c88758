package io.lendstream.core.goodput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GoodputModelTest {
    private static final ThroughputParameters PARAMETERS =
            new ThroughputParameters(0.1, 0.001, 0.3, 0.01, 0.05, 0.002, 1);
    private static final BatchRange RANGE = new BatchRange(100, 1600, 10, 200, Optional.empty());
    private final GoodputModel model = new GoodputModel(PARAMETERS, new GradientNoise(1, 1), RANGE);

    @Test
    void anIterationTakesItsAccumulationStepsAndOneSynchronisedStep() {
        // Two nodes, four replicas: T_acc = 0.1 + 0.001 * 100 = 0.2; T_net = 0.3 + 0.01 * 2 = 0.32; gamma 1 adds them.
        assertThat(model.iterationSeconds(2, 4, new Batch(100, 1))).isCloseTo(0.2 + 0.52, within(1e-12));
        // One node: T_net = 0.05 + 0.002 * 2 = 0.054.
        assertThat(model.iterationSeconds(1, 4, new Batch(100, 0))).isCloseTo(0.254, within(1e-12));
    }

    @Test
    void aLargerBatchTeachesLessPerSample() {
        // scale 4: gain = (1 + 1) / (1/4 + 1) = 1.6, efficiency 0.4.
        assertThat(model.gain(400)).isCloseTo(1.6, within(1e-12));
        assertThat(model.efficiency(400)).isCloseTo(0.4, within(1e-12));
        assertThat(model.efficiency(100)).isCloseTo(1.0, within(1e-12));
    }

    @Test
    void goodputIsThroughputTimesEfficiency() {
        Batch batch = new Batch(100, 0);

        assertThat(model.goodput(1, 4, batch)).isCloseTo(400 / 0.254 * 0.4, within(1e-9));
    }

    @Test
    void theBestBatchFitsTheGpuAndIsNoWorseThanTheInitialOne() {
        GoodputModel.Best best = model.best(1, 4);

        assertThat(best.batch().local()).isBetween(10, 200);
        assertThat(best.goodput()).isGreaterThanOrEqualTo(model.goodput(1, 4, new Batch(25, 0)));
    }

    @Test
    void aFixedBatchIsKept() {
        BatchRange fixed = new BatchRange(100, 1600, 10, 200, Optional.of(800));

        assertThat(new GoodputModel(PARAMETERS, new GradientNoise(1, 1), fixed)
                        .best(1, 2)
                        .batch())
                .isEqualTo(new Batch(200, 1));
    }

    @Test
    void moreGpusNeverLowerTheIdealGoodputOfANoisyJob() {
        GoodputModel noisy = new GoodputModel(PARAMETERS, new GradientNoise(1, 1e6), RANGE);

        for (int replicas = 2; replicas <= 8; replicas++) {
            assertThat(noisy.best(1, replicas).goodput())
                    .isGreaterThan(noisy.best(1, replicas - 1).goodput() * 0.999);
        }
    }

    @Test
    void noBatchOnTheGridIsBetterThanTheBestOne() {
        var random = new SplittableRandom(3);
        for (int run = 0; run < 300; run++) {
            var parameters = new ThroughputParameters(
                    random.nextDouble(0.2),
                    random.nextDouble(0.01),
                    random.nextDouble(0.5),
                    random.nextDouble(0.05),
                    random.nextDouble(0.2),
                    random.nextDouble(0.02),
                    random.nextDouble(1, 10));
            var noise = new GradientNoise(random.nextDouble(), random.nextDouble(100));
            var drawn = new GoodputModel(parameters, noise, RANGE);
            int replicas = 1 + random.nextInt(64);
            int nodes = 1 + random.nextInt(replicas);

            GoodputModel.Best best = drawn.best(nodes, replicas);

            assertThat(best).isEqualTo(bestOfAll(drawn, nodes, replicas));
        }
    }

    private static GoodputModel.Best bestOfAll(GoodputModel model, int nodes, int replicas) {
        double least = Math.max(RANGE.initial(), RANGE.localMin() * replicas);
        var best = new GoodputModel.Best(new Batch(1, 0), 0);
        for (int i = 0; i < 50; i++) {
            Batch batch = GoodputModel.split(RANGE, least * Math.pow(RANGE.max() / least, i / 49.0), replicas);
            double goodput = model.goodput(nodes, replicas, batch);
            if (batch.local() >= RANGE.localMin() && batch.local() <= RANGE.localMax() && goodput > best.goodput()) {
                best = new GoodputModel.Best(batch, goodput);
            }
        }
        return best;
    }
}
