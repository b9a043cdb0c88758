package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.policy.placement.PooledKnapsack.PoolChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PooledKnapsackTest {
    private static final double[] NOWHERE = {0};

    @Test
    void aJobGoesToThePoolWhereItIsWorthTheMost() {
        double[] slow = {0, 1, 1.8};
        double[] fast = {0, 5, 9};
        double[] alike = {0, 1.1, 2};

        List<PoolChoice> choices =
                PooledKnapsack.choose(List.of(List.of(slow, slow), List.of(alike, fast)), new int[] {2, 2});

        assertThat(choices).containsExactly(new PoolChoice(0, 2), new PoolChoice(1, 2));
    }

    @Test
    void jobsThatAreAlikeUseAllPools() {
        double[] job = new double[9];
        for (int w = 1; w < job.length; w++) {
            job[w] = Math.sqrt(w);
        }
        List<double[]> jobs = List.of(job, job, job, job, job);

        List<PoolChoice> choices = PooledKnapsack.choose(List.of(jobs, jobs), new int[] {10, 10});

        assertThat(choices.stream()
                        .filter(choice -> choice.pool() == 0)
                        .mapToInt(PoolChoice::size)
                        .sum())
                .isEqualTo(10);
        assertThat(choices.stream()
                        .filter(choice -> choice.pool() == 1)
                        .mapToInt(PoolChoice::size)
                        .sum())
                .isEqualTo(10);
        assertThat(choices).allMatch(choice -> choice.size() >= 3);
    }

    @Test
    void aJobIsNeverInAPoolThatItMayNotUse() {
        double[] job = {0, 1, 2};

        assertThat(PooledKnapsack.choose(List.of(List.of(NOWHERE, job), List.of(job, NOWHERE)), new int[] {4, 0}))
                .containsExactly(new PoolChoice(-1, 0), new PoolChoice(0, 2));
        assertThat(PooledKnapsack.choose(List.of(List.of(NOWHERE), List.of(NOWHERE)), new int[] {4, 4}))
                .containsExactly(new PoolChoice(-1, 0));
    }

    @Test
    void withoutJobsOrPoolsThereIsNothingToChoose() {
        assertThat(PooledKnapsack.choose(List.of(), new int[0])).isEmpty();
        assertThat(PooledKnapsack.choose(List.of(List.of(), List.of()), new int[] {1, 2}))
                .isEmpty();
    }

    /** Jobs that scale, and are slower or faster on other pools; some cannot start small, or not use a pool. */
    @Test
    void isNearlyAsGoodAsTheBestOfAllChoices() {
        SplittableRandom random = new SplittableRandom(1);
        double sum = 0;
        int runs = 400;
        for (int run = 0; run < runs; run++) {
            int pools = 2 + random.nextInt(2);
            int jobs = 1 + random.nextInt(4);
            int[] capacities = new int[pools];
            List<List<double[]>> values = new ArrayList<>();
            for (int k = 0; k < pools; k++) {
                capacities[k] = random.nextInt(6);
                values.add(new ArrayList<>());
            }
            for (int j = 0; j < jobs; j++) {
                double power = random.nextDouble(0.3, 1);
                int least = 1 + random.nextInt(2);
                int most = least + random.nextInt(5);
                for (int k = 0; k < pools; k++) {
                    double factor = random.nextDouble(0.2, 5);
                    double[] own = new double[random.nextInt(5) == 0 ? 1 : Math.min(most, capacities[k]) + 1];
                    for (int w = 1; w < own.length; w++) {
                        own[w] = w < least ? Double.NEGATIVE_INFINITY : factor * Math.pow(w, power);
                    }
                    values.get(k).add(own);
                }
            }

            List<PoolChoice> choices = PooledKnapsack.choose(values, capacities);

            int[] left = capacities.clone();
            double worth = 0;
            for (int j = 0; j < jobs; j++) {
                PoolChoice choice = choices.get(j);
                if (choice.size() > 0) {
                    left[choice.pool()] -= choice.size();
                    worth += values.get(choice.pool()).get(j)[choice.size()];
                }
            }
            assertThat(IntStream.of(left).min().orElseThrow()).as("run %d", run).isNotNegative();
            double best = best(values, capacities.clone(), 0);
            assertThat(worth).as("run %d", run).isGreaterThanOrEqualTo(0.8 * best);
            sum += best > 0 ? worth / best : 1;
        }
        assertThat(sum / runs).isGreaterThan(0.99);
    }

    private static double best(List<List<double[]>> values, int[] left, int job) {
        if (job == values.get(0).size()) {
            return 0;
        }
        double best = best(values, left, job + 1);
        for (int k = 0; k < left.length; k++) {
            double[] own = values.get(k).get(job);
            for (int w = 1; w < own.length && w <= left[k]; w++) {
                left[k] -= w;
                best = Math.max(best, own[w] + best(values, left, job + 1));
                left[k] += w;
            }
        }
        return best;
    }
}
