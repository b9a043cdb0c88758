package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.policy.placement.PooledKnapsack.PoolChoice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PooledKnapsackTest {
    private static final double[] NOWHERE = {0};

    /** The choices for jobs that are nowhere yet. */
    private static List<PoolChoice> choose(List<List<double[]>> values, int[] capacities) {
        int[] nowhere = values.isEmpty() ? new int[0] : new int[values.get(0).size()];
        Arrays.fill(nowhere, -1);
        return choose(values, capacities, nowhere);
    }

    private static List<PoolChoice> choose(List<List<double[]>> values, int[] capacities, int[] now) {
        double[][][] own =
                values.stream().map(pool -> pool.toArray(double[][]::new)).toArray(double[][][]::new);
        return PooledKnapsack.choose(own, capacities, now);
    }

    @Test
    void aJobGoesToThePoolWhereItIsWorthTheMost() {
        double[] slow = {0, 1, 1.8};
        double[] fast = {0, 5, 9};
        double[] alike = {0, 1.1, 2};

        List<PoolChoice> choices = choose(List.of(List.of(slow, slow), List.of(alike, fast)), new int[] {2, 2});

        assertThat(choices).containsExactly(new PoolChoice(0, 2), new PoolChoice(1, 2));
    }

    @Test
    void jobsThatAreAlikeUseAllPools() {
        double[] job = new double[9];
        for (int w = 1; w < job.length; w++) {
            job[w] = Math.sqrt(w);
        }
        List<double[]> jobs = List.of(job, job, job, job, job);

        List<PoolChoice> choices = choose(List.of(jobs, jobs), new int[] {10, 10});

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

        assertThat(choose(List.of(List.of(NOWHERE, job), List.of(job, NOWHERE)), new int[] {4, 0}))
                .containsExactly(new PoolChoice(-1, 0), new PoolChoice(0, 2));
        assertThat(choose(List.of(List.of(NOWHERE), List.of(NOWHERE)), new int[] {4, 4}))
                .containsExactly(new PoolChoice(-1, 0));
    }

    @Test
    void withoutJobsOrPoolsThereIsNothingToChoose() {
        assertThat(choose(List.of(), new int[0])).isEmpty();
        assertThat(choose(List.of(List.of(), List.of()), new int[] {1, 2})).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 30, 600})
    void jobsStayWhereTheyAreIfNothingElseIsWorthMore(int jobs) {
        double[] job = {0, 1, 1.5};
        List<double[]> alike = Collections.nCopies(jobs, job);
        int[] now = IntStream.range(0, jobs).map(j -> 1 - j % 2).toArray();

        List<PoolChoice> choices = choose(List.of(alike, alike), new int[] {jobs, jobs}, now);

        assertThat(choices.stream().mapToInt(PoolChoice::pool).toArray()).isEqualTo(now);
    }

    @Test
    void aJobThatIsWhereItMayNotBeLeaves() {
        double[] job = {0, 1, 2};

        assertThat(choose(List.of(List.of(NOWHERE), List.of(job)), new int[] {4, 4}, new int[] {0}))
                .containsExactly(new PoolChoice(1, 2));
    }

    @Test
    void isTheBestOfAllChoicesForAFewJobs() {
        SplittableRandom random = new SplittableRandom(1);
        for (int run = 0; run < 400; run++) {
            Drawn drawn = Drawn.draw(random, 2 + random.nextInt(2), 1 + random.nextInt(4), 0, 6);

            assertThat(drawn.share()).as("run %d", run).isGreaterThan(1 - 1e-9);
        }
    }

    @Test
    void isTheBestOfAllChoicesForSmallPools() {
        SplittableRandom random = new SplittableRandom(2);
        for (int run = 0; run < 100; run++) {
            Drawn drawn = Drawn.draw(random, 2 + random.nextInt(2), 8 + random.nextInt(8), 0, 9);

            assertThat(drawn.share()).as("run %d", run).isGreaterThan(1 - 1e-9);
        }
    }

    /** Here the choices are searched. */
    @Test
    void isNearlyAsGoodAsTheBestOfAllChoicesForMoreJobs() {
        SplittableRandom random = new SplittableRandom(3);
        double sum = 0;
        int runs = 40;
        for (int run = 0; run < runs; run++) {
            Drawn drawn = Drawn.draw(random, 3, 30 + random.nextInt(15), 15, 21);

            double share = drawn.share();

            assertThat(share).as("run %d", run).isGreaterThanOrEqualTo(0.95);
            sum += share;
        }
        assertThat(sum / runs).isGreaterThanOrEqualTo(0.99);
    }

    /** Here the choices follow from prices. */
    @Test
    void isNearlyWorthTheBoundForManyJobs() {
        SplittableRandom random = new SplittableRandom(4);
        for (int run = 0; run < 5; run++) {
            Drawn drawn = Drawn.draw(random, 4, 600, 200, 400);

            assertThat(drawn.worth(choose(drawn.values(), drawn.capacities())))
                    .as("run %d", run)
                    .isGreaterThanOrEqualTo(0.99 * drawn.bound());
        }
    }

    /** Jobs that scale, and are slower or faster on other pools; some cannot start small, or not use a pool. */
    @SuppressWarnings("ArrayRecordComponent") // instances are never compared
    private record Drawn(List<List<double[]>> values, int[] capacities) {
        static Drawn draw(SplittableRandom random, int pools, int jobs, int fewestGpus, int gpusBelow) {
            int[] capacities = new int[pools];
            List<List<double[]>> values = new ArrayList<>();
            for (int k = 0; k < pools; k++) {
                capacities[k] = random.nextInt(fewestGpus, gpusBelow);
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
            return new Drawn(values, capacities);
        }

        /** What is chosen is worth this share of the best. */
        double share() {
            double worth = worth(choose(values, capacities));
            double best = best();
            return best > 0 ? worth / best : 1;
        }

        /** What choices are worth, which fit the pools. */
        private double worth(List<PoolChoice> choices) {
            int[] left = capacities.clone();
            double worth = 0;
            for (int j = 0; j < choices.size(); j++) {
                PoolChoice choice = choices.get(j);
                if (choice.size() > 0) {
                    left[choice.pool()] -= choice.size();
                    worth += values.get(choice.pool()).get(j)[choice.size()];
                }
            }
            assertThat(IntStream.of(left).min().orElseThrow()).isNotNegative();
            return worth;
        }

        /** The least that GPUs at some prices, and jobs beyond these, are worth: no choices are worth more. */
        private double bound() {
            double[] prices = new double[capacities.length];
            double least = Double.POSITIVE_INFINITY;
            for (int round = 1; round <= 400; round++) {
                double bound = 0;
                double[] excess = new double[prices.length];
                for (int k = 0; k < prices.length; k++) {
                    bound += prices[k] * capacities[k];
                    excess[k] = -capacities[k];
                }
                for (int j = 0; j < values.get(0).size(); j++) {
                    double most = 0;
                    int from = 0;
                    int takes = 0;
                    for (int k = 0; k < prices.length; k++) {
                        double[] own = values.get(k).get(j);
                        for (int w = 1; w < own.length; w++) {
                            if (own[w] - w * prices[k] > most) {
                                most = own[w] - w * prices[k];
                                from = k;
                                takes = w;
                            }
                        }
                    }
                    bound += most;
                    excess[from] += takes;
                }
                least = Math.min(least, bound);
                for (int k = 0; k < prices.length; k++) {
                    prices[k] = Math.max(0, prices[k] + excess[k] / capacities[k] / Math.sqrt(round));
                }
            }
            return least;
        }

        /** By the most that the first jobs are worth in each room that is left in all pools. */
        private double best() {
            int rooms = 1;
            int[] step = new int[capacities.length];
            for (int k = 0; k < capacities.length; k++) {
                step[k] = rooms;
                rooms *= capacities[k] + 1;
            }
            double[] best = new double[rooms];
            for (int j = 0; j < values.get(0).size(); j++) {
                double[] next = best.clone();
                for (int room = 0; room < rooms; room++) {
                    for (int k = 0; k < capacities.length; k++) {
                        double[] own = values.get(k).get(j);
                        int left = room / step[k] % (capacities[k] + 1);
                        for (int w = 1; w < own.length && w <= left; w++) {
                            next[room] = Math.max(next[room], own[w] + best[room - w * step[k]]);
                        }
                    }
                }
                best = next;
            }
            return best[rooms - 1];
        }
    }
}
