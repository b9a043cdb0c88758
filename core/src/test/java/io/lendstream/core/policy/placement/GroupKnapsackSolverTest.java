package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.ojalgo.optimisation.Expression;
import org.ojalgo.optimisation.ExpressionsBasedModel;
import org.ojalgo.optimisation.Optimisation;
import org.ojalgo.optimisation.Variable;
import org.ojalgo.optimisation.integer.IntegerStrategy;
import org.ojalgo.type.context.NumberContext;

/** The optimum is that of a mixed-integer solver that others wrote. */
class GroupKnapsackSolverTest {
    private static final int GPUS = 64;

    @Test
    void isWorthWhatASolverFindsOnSmallInstances() {
        SplittableRandom random = new SplittableRandom(11);
        for (int run = 0; run < 100; run++) {
            int capacity = 1 + random.nextInt(12);
            List<double[]> values = new ArrayList<>();
            for (int job = 1 + random.nextInt(6); job > 0; job--) {
                double[] value = new double[2 + random.nextInt(6)];
                for (int w = 1; w < value.length; w++) {
                    value[w] = random.nextInt(6) == 0 ? Double.NEGATIVE_INFINITY : random.nextDouble(10);
                }
                values.add(value);
            }
            assertBest(run, values, capacity);
        }
    }

    /** Jobs as a plan for 64 GPUs has them: goodput over that of one GPU, some of which need more than one. */
    @Test
    void isWorthWhatASolverFindsForPlansOf64Gpus() {
        SplittableRandom random = new SplittableRandom(12);
        for (int run = 0; run < 5; run++) {
            List<double[]> values = new ArrayList<>();
            for (int job = 8 + random.nextInt(18); job > 0; job--) {
                values.add(speedups(random));
            }
            assertBest(run, values, GPUS);
        }
    }

    private static double[] speedups(SplittableRandom random) {
        ThroughputParameters throughput = new ThroughputParameters(
                random.nextDouble(0.01, 0.1),
                random.nextDouble(0.0001, 0.001),
                random.nextDouble(0.02, 0.2),
                random.nextDouble(0.001, 0.01),
                random.nextDouble(0.01, 0.1),
                random.nextDouble(0.001, 0.005),
                random.nextDouble(1, 3));
        GoodputModel model = new GoodputModel(
                throughput,
                new GradientNoise(1, random.nextDouble(1, 50)),
                new BatchRange(128, 4096, 32, 1024, Optional.empty()));
        double one = model.best(1, 1).goodput();
        int least = 1 + random.nextInt(3);
        double[] value = new double[17];
        for (int w = 1; w < value.length; w++) {
            value[w] = w < least
                    ? Double.NEGATIVE_INFINITY
                    : model.best((w + 3) / 4, w).goodput() / one;
        }
        return value;
    }

    private static void assertBest(int run, List<double[]> values, int capacity) {
        int[] sizes = GroupKnapsack.choose(values, capacity);
        double worth = 0;
        int used = 0;
        for (int i = 0; i < sizes.length; i++) {
            worth += values.get(i)[sizes[i]];
            used += sizes[i];
        }
        double best = solved(values, capacity);
        assertThat(used).isLessThanOrEqualTo(capacity);
        assertThat(worth).as("run %d", run).isCloseTo(best, within(1e-9 * Math.max(1, best)));
    }

    private static double solved(List<double[]> values, int capacity) {
        ExpressionsBasedModel model = new ExpressionsBasedModel();
        model.options.integer(IntegerStrategy.newConfigurable().withGapTolerance(NumberContext.of(12)));
        Expression room = model.newExpression("room").upper(capacity);
        List<Variable> taken = new ArrayList<>();
        List<Double> worth = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            Expression once = model.newExpression("once " + i).upper(1);
            double[] value = values.get(i);
            for (int w = 1; w < value.length; w++) {
                if (value[w] > 0) {
                    Variable take = model.newVariable("job %d on %d".formatted(i, w))
                            .binary()
                            .weight(value[w]);
                    once.set(take, 1);
                    room.set(take, w);
                    taken.add(take);
                    worth.add(value[w]);
                }
            }
        }
        if (taken.isEmpty()) {
            return 0;
        }
        Optimisation.Result result = model.maximise();
        assertThat(result.getState().isOptimal()).as("%s", result.getState()).isTrue();
        double sum = 0;
        for (int i = 0; i < worth.size(); i++) {
            sum += result.doubleValue(i) > 0.5 ? worth.get(i) : 0;
        }
        return sum;
    }
}
