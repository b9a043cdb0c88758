package io.lendstream.core.goodput;

import java.util.stream.IntStream;

/**
 * Finds a local minimum of a smooth function of a few bounded variables: L-BFGS-B with the rules and tolerances of the
 * published routine, version 3.0 (ten corrections, {@code factr} 1e7, {@code pgtol} 1e-5, at most 20 trials a line
 * search).
 *
 * <p>Each iteration goes along the projected gradient to the generalised Cauchy point of a quadratic model, minimises
 * the model over the variables that are not at a bound there, and searches from where it is towards that point. The
 * model's Hessian is a {@link Curvature}. See {@code docs/adr/0013-own-optimiser-for-the-throughput-fit.md}.
 *
 * <p>An instance holds the work space of one minimisation, so that iterations allocate nothing.
 *
 * @see <a href="https://doi.org/10.1145/279232.279236">Zhu, Byrd, Lu, Nocedal: Algorithm 778, L-BFGS-B</a>
 * @see <a href="https://doi.org/10.1145/2049662.2049669">Morales, Nocedal: Remark on Algorithm 778</a>
 */
final class BoundedMinimizer {
    private static final int MOST_ITERATIONS = 15_000;
    private static final int MOST_TRIALS = 20;
    private static final double EPSILON = Math.ulp(1.0);
    private static final double REDUCTION = 1e7 * EPSILON;
    private static final double FLAT = 1e-5;

    /** A function and its gradient. */
    interface Objective {
        /** The value at {@code x}; writes the gradient there into {@code gradient}. */
        double at(double[] x, double[] gradient);
    }

    private final Objective objective;
    private final double[] lower;
    private final double[] upper;
    private final int size;
    private final LineSearch search = new LineSearch();

    private final double[] x;
    private final double[] gradient;
    private double value;

    private final Curvature curvature;
    private final double[] goal;
    private final boolean[] free;
    private final double[] direction;
    private final double[] breakpoints;
    private final double[] newton;
    private final int[] freeIndex;
    private final double[] previousX;
    private final double[] previousGradient;

    /** Starts at {@code start}, moved within the bounds. A variable whose bounds are equal stays there. */
    BoundedMinimizer(Objective objective, double[] start, double[] lower, double[] upper) {
        this.objective = objective;
        this.lower = lower;
        this.upper = upper;
        this.size = start.length;
        this.x = start.clone();
        for (int i = 0; i < size; i++) {
            x[i] = Math.min(upper[i], Math.max(lower[i], x[i]));
        }
        curvature = new Curvature(
                IntStream.range(0, size).filter(i -> lower[i] < upper[i]).toArray());
        gradient = new double[size];
        goal = new double[size];
        free = new boolean[size];
        direction = new double[size];
        breakpoints = new double[size];
        newton = new double[size];
        freeIndex = new int[size];
        previousX = new double[size];
        previousGradient = new double[size];
    }

    /** Where the function is least, as far as could be found. */
    double[] minimize() {
        value = objective.at(x, gradient);
        boolean first = true;
        for (int iteration = 0; iteration < MOST_ITERATIONS && steepestWithinBounds() > FLAT; ) {
            findCauchyPoint();
            if (curvature.isKnown() && !minimizeOverFreeVariables()) {
                curvature.forget();
                continue;
            }
            double before = value;
            if (!searchTowardsGoal(first)) {
                if (!curvature.isKnown()) {
                    break;
                }
                curvature.forget();
                continue;
            }
            first = false;
            iteration++;
            if (before - value <= REDUCTION * Math.max(Math.max(Math.abs(before), Math.abs(value)), 1)) {
                break;
            }
            curvature.learn(direction, search.step(), gradient, previousGradient);
        }
        return x;
    }

    /** Largest component of the projected gradient. */
    private double steepestWithinBounds() {
        double most = 0;
        for (int i = 0; i < size; i++) {
            double slope =
                    gradient[i] < 0 ? Math.max(x[i] - upper[i], gradient[i]) : Math.min(x[i] - lower[i], gradient[i]);
            most = Math.max(most, Math.abs(slope));
        }
        return most;
    }

    /**
     * Goes along the projected gradient to the model's first local minimum; returns the variables that are free there.
     */
    private void findCauchyPoint() {
        System.arraycopy(x, 0, goal, 0, size);
        for (int i = 0; i < size; i++) {
            double down = -gradient[i];
            free[i] = lower[i] < upper[i] && !(x[i] <= lower[i] && down <= 0) && !(x[i] >= upper[i] && down >= 0);
            direction[i] = free[i] ? down : 0;
            breakpoints[i] = Double.POSITIVE_INFINITY;
            if (free[i] && down < 0) {
                breakpoints[i] = (lower[i] - x[i]) / down;
            } else if (free[i] && down > 0) {
                breakpoints[i] = (upper[i] - x[i]) / down;
            }
        }
        double reached = 0;
        double leastBend = 0;
        while (true) {
            double bend = Math.max(curvature.along(direction), leastBend);
            double slope = dot(gradient, direction);
            for (int i = 0; i < size; i++) {
                slope += (goal[i] - x[i]) * curvature.product(i);
            }
            if (!(slope < 0)) {
                return;
            }
            if (leastBend == 0) {
                leastBend = EPSILON * bend;
            }
            int next = nextBreakpoint();
            double room = breakpoints[next] - reached;
            double step = -slope / bend;
            for (int i = 0; i < size; i++) {
                goal[i] += Math.min(step, room) * direction[i];
            }
            if (step < room) {
                return;
            }
            reached = breakpoints[next];
            goal[next] = direction[next] < 0 ? lower[next] : upper[next];
            direction[next] = 0;
            breakpoints[next] = Double.POSITIVE_INFINITY;
            free[next] = false;
        }
    }

    private int nextBreakpoint() {
        int next = 0;
        for (int i = 1; i < size; i++) {
            if (breakpoints[i] < breakpoints[next]) {
                next = i;
            }
        }
        return next;
    }

    /**
     * Moves the goal from the Cauchy point to the model's minimum over the free variables, projected into the bounds,
     * or cut off at the first bound where the projection would lead uphill; false if the model has no minimum.
     */
    private boolean minimizeOverFreeVariables() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            direction[i] = goal[i] - x[i];
            if (free[i]) {
                freeIndex[count++] = i;
            }
        }
        curvature.along(direction);
        for (int i = 0; i < count; i++) {
            newton[i] = -(gradient[freeIndex[i]] + curvature.product(freeIndex[i]));
        }
        if (!curvature.solve(freeIndex, count, newton)) {
            return false;
        }
        boolean bounded = false;
        double slope = 0;
        for (int i = 0; i < size; i++) {
            breakpoints[i] = goal[i];
        }
        for (int i = 0; i < count; i++) {
            int k = freeIndex[i];
            goal[k] = Math.min(upper[k], Math.max(lower[k], goal[k] + newton[i]));
            bounded |= goal[k] == lower[k] || goal[k] == upper[k];
        }
        for (int i = 0; i < size; i++) {
            slope += (goal[i] - x[i]) * gradient[i];
        }
        if (bounded && slope > 0) {
            System.arraycopy(breakpoints, 0, goal, 0, size);
            stepWithinBounds(count);
        }
        return true;
    }

    private void stepWithinBounds(int count) {
        double share = 1;
        int first = -1;
        for (int i = 0; i < count; i++) {
            int k = freeIndex[i];
            double room = newton[i] < 0 ? lower[k] - goal[k] : upper[k] - goal[k];
            if (newton[i] != 0 && room / newton[i] < share) {
                share = Math.max(0, room / newton[i]);
                first = i;
            }
        }
        for (int i = 0; i < count; i++) {
            int k = freeIndex[i];
            double bound = newton[i] < 0 ? lower[k] : upper[k];
            goal[k] = i == first ? bound : goal[k] + share * newton[i];
        }
    }

    /**
     * Moves to a point between here and the goal, or beyond, that is low enough; stays here and says so if there is
     * none.
     */
    private boolean searchTowardsGoal(boolean first) {
        double length = 0;
        double longest = first ? 1 : 1e10;
        for (int i = 0; i < size; i++) {
            double move = goal[i] - x[i];
            direction[i] = move;
            length += move * move;
            if (!first && move != 0) {
                longest = Math.min(longest, ((move < 0 ? lower[i] : upper[i]) - x[i]) / move);
            }
        }
        // The goal lies within the bounds, even if rounding says that it is a little too far.
        longest = Math.max(1, longest);
        double slope = dot(gradient, direction);
        if (!(slope < 0)) {
            return false;
        }
        double before = value;
        System.arraycopy(x, 0, previousX, 0, size);
        System.arraycopy(gradient, 0, previousGradient, 0, size);
        search.start(value, slope, first ? Math.min(1 / Math.sqrt(length), longest) : 1, longest);
        for (int trial = 0; trial < MOST_TRIALS; trial++) {
            double step = search.step();
            for (int i = 0; i < size; i++) {
                double moved = step == 1 ? goal[i] : previousX[i] + step * direction[i];
                x[i] = Math.min(upper[i], Math.max(lower[i], moved));
            }
            value = objective.at(x, gradient);
            if (search.isOver(value, dot(gradient, direction))) {
                return true;
            }
        }
        System.arraycopy(previousX, 0, x, 0, size);
        System.arraycopy(previousGradient, 0, gradient, 0, size);
        value = before;
        return false;
    }

    private double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }
}
