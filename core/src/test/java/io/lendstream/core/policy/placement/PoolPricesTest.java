package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Prices and divisions are, to the last digit, those of a plain program that keeps nothing between its steps. */
class PoolPricesTest {
    @Test
    void aDivisionIsThatOfThePlainProgram() {
        SplittableRandom random = new SplittableRandom(5);
        for (int run = 0; run < 300; run++) {
            int pools = 1 + random.nextInt(4);
            int jobs = run % 10 == 0 ? PooledKnapsack.MANY + random.nextInt(200) : 1 + random.nextInt(60);
            int[] capacities = IntStream.range(0, pools)
                    .map(k -> random.nextInt(4 * jobs / pools + 2))
                    .toArray();
            double[][][] values = values(random, pools, jobs, run % 3 == 0);

            PoolPrices prices = new PoolPrices(new PooledValues(values, capacities));
            Plain plain = new Plain(values, capacities);

            int[] division = plain.division();
            assertThat(prices.division()).as("run %d", run).isEqualTo(division);
            assertThat(prices.bound(division)).as("run %d", run).isEqualTo(plain.bound(division));
        }
    }

    /** @param round whether jobs are worth whole numbers, so that many are worth the same */
    private static double[][][] values(SplittableRandom random, int pools, int jobs, boolean round) {
        double[][][] values = new double[pools][jobs][];
        for (int j = 0; j < jobs; j++) {
            double power = round ? 1 : random.nextDouble(0.3, 1.1);
            int least = 1 + random.nextInt(3);
            int most = least + random.nextInt(12);
            for (int k = 0; k < pools; k++) {
                double factor = round ? random.nextInt(4) : random.nextDouble(0.2, 5);
                double[] own = new double[random.nextInt(6) == 0 ? 1 : most + 1];
                int held = random.nextInt(most + 1);
                for (int w = 1; w < own.length; w++) {
                    double worth = factor * Math.pow(w, power) * (w == held ? 1 : round ? 0.5 : 0.9);
                    own[w] = w < least ? Double.NEGATIVE_INFINITY : worth;
                }
                values[k][j] = own;
            }
        }
        return values;
    }

    private static final class Plain {
        private final double[][][] values;
        private final int[] capacities;
        private final double[] prices;
        private final int jobs;

        Plain(double[][][] values, int[] capacities) {
            this.values = values;
            this.capacities = capacities;
            this.prices = new double[capacities.length];
            this.jobs = values[0].length;
            double worth = 0;
            for (int j = 0; j < jobs; j++) {
                double most = 0;
                for (int k = 0; k < prices.length; k++) {
                    for (int w : corners(k, j)) {
                        most = Math.max(most, values[k][j][w]);
                    }
                }
                worth += most;
            }
            Arrays.fill(prices, worth / Math.max(1, IntStream.of(capacities).sum()));
            settle();
        }

        private void settle() {
            double[] steps = new double[prices.length];
            double[] before = new double[prices.length];
            Arrays.fill(steps, 0.5);
            double farthest = 1;
            for (int round = 0; round < 16 && farthest > 0.002; round++) {
                int every = round < 10 && jobs >= PooledKnapsack.MANY ? 4 : 1;
                long[] wanted = wanted(every);
                farthest = every - 1;
                for (int k = 0; k < prices.length; k++) {
                    double excess = (double) (every * wanted[k] - capacities[k]) / Math.max(1, capacities[k]);
                    farthest = Math.max(farthest, Math.abs(excess));
                    steps[k] = Math.min(2, steps[k] * (excess * before[k] < 0 ? 0.7 : 1.1));
                    prices[k] *= Math.exp(steps[k] * Math.max(-1, Math.min(1, excess)));
                    before[k] = excess;
                }
            }
        }

        private long[] wanted(int every) {
            long[] wanted = new long[prices.length];
            for (int j = 0; j < jobs; j += every) {
                double most = 0;
                int from = 0;
                int takes = 0;
                for (int k = 0; k < prices.length; k++) {
                    int size = 0;
                    for (int w : corners(k, j)) {
                        if ((worth(k, j, w) - worth(k, j, size)) / (w - size) <= prices[k]) {
                            break;
                        }
                        size = w;
                    }
                    double surplus = worth(k, j, size) - prices[k] * size;
                    if (surplus > most) {
                        most = surplus;
                        from = k;
                        takes = size;
                    }
                }
                wanted[from] += takes;
            }
            return wanted;
        }

        private double worth(int pool, int job, int size) {
            return size == 0 ? 0 : values[pool][job][size];
        }

        /** The sizes on the concave hull of what a job is worth in a pool. */
        private List<Integer> corners(int pool, int job) {
            List<Integer> corners = new ArrayList<>(List.of(0));
            for (int w = 1; w < values[pool][job].length && w <= capacities[pool]; w++) {
                double value = values[pool][job][w];
                int last = corners.get(corners.size() - 1);
                if (value <= worth(pool, job, last)) {
                    continue;
                }
                while (last > 0) {
                    int start = corners.get(corners.size() - 2);
                    double low = worth(pool, job, start);
                    if ((worth(pool, job, last) - low) * (w - start) > (value - low) * (last - start)) {
                        break;
                    }
                    corners.remove(corners.size() - 1);
                    last = start;
                }
                corners.add(w);
            }
            return corners.subList(1, corners.size());
        }

        private double surplus(int pool, int job) {
            double most = 0;
            for (int w : corners(pool, job)) {
                most = Math.max(most, values[pool][job][w] - prices[pool] * w);
            }
            return most;
        }

        double bound(int[] division) {
            double bound = 0;
            for (int k = 0; k < prices.length; k++) {
                bound += prices[k] * capacities[k];
            }
            for (int j = 0; j < jobs; j++) {
                bound += division[j] < 0 ? 0 : surplus(division[j], j);
            }
            return bound;
        }

        private double regret(int job) {
            double[] most = IntStream.range(0, prices.length)
                    .mapToDouble(k -> surplus(k, job))
                    .sorted()
                    .toArray();
            return most[most.length - 1] - (most.length > 1 ? most[most.length - 2] : 0);
        }

        int[] division() {
            int[] pools = new int[jobs];
            int[] left = capacities.clone();
            IntStream.range(0, jobs)
                    .boxed()
                    .sorted(Comparator.comparingDouble(this::regret).reversed().thenComparing(j -> j))
                    .forEachOrdered(j -> pools[j] = pool(j, left));
            return pools;
        }

        /** The pool with the most beyond the price that fits; else the one where least is missing. */
        private int pool(int job, int[] left) {
            int best = -1;
            int takes = 0;
            double most = 0;
            int nearest = -1;
            double leastBad = Double.NEGATIVE_INFINITY;
            for (int k = 0; k < prices.length; k++) {
                double[] own = values[k][job];
                for (int w = 1; w < own.length && w <= capacities[k]; w++) {
                    double surplus = own[w] - prices[k] * w;
                    if (w <= left[k] && surplus > most) {
                        best = k;
                        takes = w;
                        most = surplus;
                    }
                    if (surplus > leastBad) {
                        nearest = k;
                        leastBad = surplus;
                    }
                }
            }
            if (best >= 0) {
                left[best] -= takes;
            }
            return best >= 0 ? best : nearest;
        }
    }
}
