package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.goodput.Batch;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LeastSquaresThroughputTest {
    private static final BatchRange RANGE = new BatchRange(128, 4096, 32, 1024, Optional.empty());

    @Test
    void findsTheTimesOfAJobThatFollowsTheModel() {
        ThroughputParameters real = new ThroughputParameters(0.02, 0.0005, 0.08, 0.002, 0.01, 0.001, 2);
        GoodputModel model = new GoodputModel(real, new GradientNoise(1, 1), RANGE);
        List<StepTimes.Measured> measured = new ArrayList<>();
        for (int nodes = 1; nodes <= 8; nodes *= 2) {
            for (int replicas = nodes; replicas <= 4 * nodes; replicas += nodes) {
                for (int batch = 32; batch <= 1024; batch *= 2) {
                    double step = model.iterationSeconds(nodes, replicas, new Batch(batch, 0));
                    double sync = step - model.throughput().accumulationSeconds(batch);
                    measured.add(new StepTimes.Measured(nodes, replicas, batch, new StepTime(step, Math.max(0, sync))));
                }
            }
        }

        GoodputModel fitted = new GoodputModel(LeastSquaresThroughput.of(measured), new GradientNoise(1, 1), RANGE);

        for (StepTimes.Measured one : measured) {
            assertThat(fitted.iterationSeconds(one.nodes(), one.replicas(), new Batch(one.localBatch(), 0)))
                    .isCloseTo(one.time().seconds(), within(0.02 * one.time().seconds()));
        }
    }
}
