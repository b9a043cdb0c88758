package io.lendstream.core.goodput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BoundedMinimizerTest {
    private static final double FAR = Double.POSITIVE_INFINITY;

    @Test
    void followsACurvedValleyToItsLowestPoint() {
        double[] found = new BoundedMinimizer(
                        BoundedMinimizerTest::valley,
                        fill(2, i -> -1.2 + 2.2 * i),
                        fill(2, i -> -FAR),
                        fill(2, i -> FAR))
                .minimize();

        assertThat(found).containsExactly(new double[] {1, 1}, within(1e-4));
    }

    @Test
    void stopsAtTheBoundThatTheValleyRunsInto() {
        double[] found = new BoundedMinimizer(
                        BoundedMinimizerTest::valley, new double[] {-1.2, 1}, fill(2, i -> -2), new double[] {0.5, 2})
                .minimize();

        assertThat(found).containsExactly(new double[] {0.5, 0.25}, within(1e-5));
    }

    @Test
    void aVariableWithEqualBoundsStaysAndAStartOutsideIsMovedInside() {
        double[] found = new BoundedMinimizer(
                        BoundedMinimizerTest::valley, new double[] {9, 0}, new double[] {0.7, -FAR}, new double[] {
                            0.7, FAR
                        })
                .minimize();

        assertThat(found[0]).isEqualTo(0.7);
        assertThat(found[1]).isCloseTo(0.49, within(1e-6));
    }

    @Test
    void valleysOfMoreVariablesEndLowToo() {
        double[] found = new BoundedMinimizer(
                        BoundedMinimizerTest::valley,
                        fill(7, i -> 3),
                        fill(7, i -> i % 2 == 0 ? 1 : -100),
                        fill(7, i -> 100))
                .minimize();

        assertThat(valley(found, new double[7])).isLessThan(1e-6);
    }

    @Test
    void findsTheBottomOfABowlThatTheBoundsCutOff() {
        SplittableRandom random = new SplittableRandom(7);
        int early = 0;
        for (int run = 0; run < 200; run++) {
            int size = 2 + random.nextInt(6);
            double[][] axes = new double[size][];
            for (int i = 0; i < size; i++) {
                axes[i] = fill(size, k -> random.nextDouble(-1, 1));
            }
            double[] centre = fill(size, i -> random.nextDouble(-2, 2));
            double[] lower = fill(size, i -> random.nextBoolean() ? -1 : -FAR);
            double[] upper = fill(size, i -> random.nextBoolean() ? 1 : FAR);
            BoundedMinimizer.Objective bowl = (x, gradient) -> bowl(axes, centre, x, gradient);

            double[] found = new BoundedMinimizer(bowl, fill(size, i -> 0.5), lower, upper).minimize();

            double value = bowl.at(found, new double[size]);
            double least = bowl.at(byCoordinates(axes, centre, lower, upper), new double[size]);
            early += value > least + 1e-4 ? 1 : 0;
        }

        // SciPy's routine stops early, and at the same values, on the same ones: 13 of the first 2,000 such bowls.
        assertThat(early).isLessThanOrEqualTo(2);
    }

    /** The bottom of a bowl, found by setting one variable after the other to its best value, many times. */
    private static double[] byCoordinates(double[][] axes, double[] centre, double[] lower, double[] upper) {
        int size = centre.length;
        double[] x = new double[size];
        double[] gradient = new double[size];
        for (int round = 0; round < 20_000; round++) {
            int i = round % size;
            bowl(axes, centre, x, gradient);
            double bend = 0;
            for (double[] axis : axes) {
                bend += 2 * axis[i] * axis[i];
            }
            x[i] = Math.min(upper[i], Math.max(lower[i], x[i] - gradient[i] / bend));
        }
        return x;
    }

    /** Rosenbrock's function, summed over neighbours. */
    private static double valley(double[] x, double[] gradient) {
        Arrays.fill(gradient, 0);
        double sum = 0;
        for (int i = 0; i + 1 < x.length; i++) {
            double bend = x[i + 1] - x[i] * x[i];
            double away = 1 - x[i];
            sum += 100 * bend * bend + away * away;
            gradient[i] -= 400 * bend * x[i] + 2 * away;
            gradient[i + 1] += 200 * bend;
        }
        return sum;
    }

    private static double bowl(double[][] axes, double[] centre, double[] x, double[] gradient) {
        Arrays.fill(gradient, 0);
        double sum = 0;
        for (double[] axis : axes) {
            double along = 0;
            for (int i = 0; i < x.length; i++) {
                along += axis[i] * (x[i] - centre[i]);
            }
            sum += along * along;
            for (int i = 0; i < x.length; i++) {
                gradient[i] += 2 * along * axis[i];
            }
        }
        return sum;
    }

    private static double[] fill(int size, IntToDoubleFunction value) {
        return IntStream.range(0, size).mapToDouble(value).toArray();
    }
}
