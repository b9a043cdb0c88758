package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GroupKnapsackTest {
    @Test
    void prefersTwoHalvesToOneWhole() {
        double[] job = {0, 1.0, 1.6};

        assertThat(GroupKnapsack.choose(List.of(job, job), 2)).containsExactly(1, 1);
    }

    @Test
    void neverTakesASizeThatIsNotAllowed() {
        double[] rigid = {0, Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY, 5};

        assertThat(GroupKnapsack.choose(List.of(rigid), 2)).containsExactly(0);
        assertThat(GroupKnapsack.choose(List.of(rigid), 3)).containsExactly(3);
    }

    @Test
    void prefersAWorthlessGpuToNone() {
        double[] young = {0, 0, 0};

        assertThat(GroupKnapsack.choose(List.of(young, young, young), 2)).containsExactly(0, 1, 1);
        assertThat(GroupKnapsack.choose(List.of(young, young, young), 9)).containsExactly(1, 1, 1);
    }

    @Test
    void withoutJobsOrGpusThereIsNothingToChoose() {
        assertThat(GroupKnapsack.choose(List.of(), 5)).isEmpty();
        assertThat(GroupKnapsack.choose(List.of(new double[] {0, 1}), 0)).containsExactly(0);
    }

    /** Jobs that scale less and less, as real ones do, some of which cannot start small. */
    @Test
    void choosesWhatThePlainProgramChoosesForJobsThatScale() {
        SplittableRandom random = new SplittableRandom(1);
        for (int run = 0; run < 300; run++) {
            int capacity = 1 + random.nextInt(120);
            List<double[]> values = new ArrayList<>();
            for (int job = 1 + random.nextInt(30); job > 0; job--) {
                double power = random.nextDouble(0.2, 1.1);
                double factor = random.nextDouble();
                int least = 1 + random.nextInt(4);
                double[] value = new double[2 + random.nextInt(32)];
                for (int w = 1; w < value.length; w++) {
                    value[w] = w < least ? Double.NEGATIVE_INFINITY : factor * Math.pow(w, power);
                }
                values.add(value);
            }

            assertThat(GroupKnapsack.choose(values, capacity)).as("run %d", run).isEqualTo(plain(values, capacity));
        }
    }

    /**
     * Few different whole values, so that many plans are worth the same; and values that are no whole numbers of
     * anything.
     */
    @Test
    void choosesWhatThePlainProgramChoosesAmongEqualPlans() {
        SplittableRandom random = new SplittableRandom(2);
        for (int run = 0; run < 3000; run++) {
            int capacity = random.nextInt(40);
            double unit = random.nextBoolean() ? 1 : 0.1;
            List<double[]> values = new ArrayList<>();
            double[] twin = value(random, unit);
            for (int job = random.nextInt(12); job > 0; job--) {
                values.add(random.nextBoolean() ? twin : value(random, unit));
            }

            assertThat(GroupKnapsack.choose(values, capacity)).as("run %d", run).isEqualTo(plain(values, capacity));
        }
    }

    private static double[] value(SplittableRandom random, double unit) {
        double[] value = new double[1 + random.nextInt(9)];
        for (int w = 1; w < value.length; w++) {
            value[w] = random.nextInt(8) == 0 ? Double.NEGATIVE_INFINITY : unit * random.nextInt(5);
        }
        return value;
    }

    /**
     * The published program: every job, every room, every size; traced back to the smallest size that makes up the sum.
     */
    private static int[] plain(List<double[]> values, int capacity) {
        int jobs = values.size();
        double[][] best = new double[jobs + 1][capacity + 1];
        for (int i = 1; i <= jobs; i++) {
            double[] value = values.get(i - 1);
            best[i] = Arrays.copyOf(best[i - 1], capacity + 1);
            for (int w = 1; w < value.length; w++) {
                for (int room = w; room <= capacity; room++) {
                    best[i][room] = Math.max(best[i][room], best[i - 1][room - w] + value[w]);
                }
            }
        }
        int[] sizes = new int[jobs];
        int room = capacity;
        for (int i = jobs; i >= 1; i--) {
            double[] value = values.get(i - 1);
            for (int w = 1; w < value.length && w <= room && sizes[i - 1] == 0; w++) {
                if (best[i - 1][room - w] + value[w] == best[i][room]) {
                    sizes[i - 1] = w;
                }
            }
            room -= sizes[i - 1];
        }
        return sizes;
    }
}
