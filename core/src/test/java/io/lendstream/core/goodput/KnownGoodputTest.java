package io.lendstream.core.goodput;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class KnownGoodputTest {
    private static final ThroughputParameters PARAMETERS =
            new ThroughputParameters(0.1, 0.001, 0.3, 0.01, 0.05, 0.002, 1.5);
    private static final BatchRange RANGE = new BatchRange(100, 16_000, 10, 200, Optional.empty());

    /** More placements than are kept, so that some take the place of others; twice, so that some are found again. */
    @Test
    void isTheModelsGoodputOnEveryPlacementHoweverOftenItIsAskedFor() {
        var model = new GoodputModel(PARAMETERS, new GradientNoise(3, 200), RANGE);
        var known = new KnownGoodput(model);

        for (int round = 0; round < 2; round++) {
            for (int nodes = 1; nodes <= 8; nodes++) {
                for (int replicas = nodes; replicas <= 64; replicas++) {
                    assertThat(known.on(nodes, replicas))
                            .isEqualTo(model.best(nodes, replicas).goodput());
                    assertThat(known.on(nodes, replicas)).isPositive();
                }
            }
        }
    }

    /** Nodes of two sizes in turn, and more GPUs than are kept. */
    @Test
    void packedGoodputIsThatOnTheFewestNodes() {
        var model = new GoodputModel(PARAMETERS, new GradientNoise(3, 200), RANGE);
        var known = new SpeedOnKind(new KnownGoodput(model), 2);

        for (int round = 0; round < 2; round++) {
            for (int replicas = 70; replicas > 0; replicas--) {
                for (int gpusPerNode : new int[] {4, 8}) {
                    int nodes = (replicas + gpusPerNode - 1) / gpusPerNode;
                    assertThat(known.packed(gpusPerNode, replicas))
                            .isEqualTo(2 * model.best(nodes, replicas).goodput());
                }
            }
        }
    }

    @Test
    void equalsAnotherOfTheSameModelWhateverEachWasAskedFor() {
        var model = new GoodputModel(PARAMETERS, new GradientNoise(3, 200), RANGE);
        var asked = new KnownGoodput(model);
        asked.on(1, 4);

        assertThat(asked).isEqualTo(new KnownGoodput(model)).hasSameHashCodeAs(new KnownGoodput(model));
        assertThat(asked)
                .isNotEqualTo(new KnownGoodput(new GoodputModel(PARAMETERS, new GradientNoise(3, 201), RANGE)));
    }
}
