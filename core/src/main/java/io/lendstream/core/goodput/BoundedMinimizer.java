package io.lendstream.core.goodput;

import java.util.Arrays;

/**
 * Finds a local minimum of a smooth function of a few bounded variables: L-BFGS-B with the rules and tolerances of the
 * published routine, version 3.0 (ten corrections, {@code factr} 1e7, {@code pgtol} 1e-5, at most 20 trials a line search).
 *
 * <p>Each iteration goes along the projected gradient to the generalised Cauchy point of a quadratic model, minimises the
 * model over the variables that are not at a bound there, and searches from where it is towards that point. With few
 * variables the model's Hessian is kept as a matrix, rebuilt from the corrections in O(corrections x variables^2), which
 * gives the same steps as the compact form that the routine uses for many variables. See {@code
 * docs/adr/0013-fit-of-throughput.md}.
 *
 * <p>An instance holds the work space of one minimisation, so that iterations allocate nothing.
 *
 * @see <a href="https://doi.org/10.1145/279232.279236">Zhu, Byrd, Lu, Nocedal: Algorithm 778, L-BFGS-B</a>
 * @see <a href="https://doi.org/10.1145/2049662.2049669">Morales, Nocedal: Remark on Algorithm 778</a>
 */
final class BoundedMinimizer {
    private static final int CORRECTIONS = 10;
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

    private final double[][] moves = new double[CORRECTIONS][];
    private final double[][] changes = new double[CORRECTIONS][];
    private final double[] curvatures = new double[CORRECTIONS];
    private int corrections;
    private int oldest;
    private double scale = 1;

    /** A matrix whose product with its own transpose is the Hessian. */
    private final double[][] root;

    private final double[] goal;
    private final boolean[] free;
    private final double[] direction;
    private final double[] breakpoints;
    private final double[] image;
    private final double[] product;
    private final double[][] factor;
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
        for (int i = 0; i < CORRECTIONS; i++) {
            moves[i] = new double[size];
            changes[i] = new double[size];
        }
        gradient = new double[size];
        root = new double[size][size];
        goal = new double[size];
        free = new boolean[size];
        direction = new double[size];
        breakpoints = new double[size];
        image = new double[size];
        product = new double[size];
        factor = new double[size][size];
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
            modelHessian();
            findCauchyPoint();
            if (corrections > 0 && !minimizeOverFreeVariables()) {
                forget();
                continue;
            }
            double before = value;
            if (!searchTowardsGoal(first)) {
                if (corrections == 0) {
                    break;
                }
                forget();
                continue;
            }
            first = false;
            iteration++;
            if (before - value <= REDUCTION * Math.max(Math.max(Math.abs(before), Math.abs(value)), 1)) {
                break;
            }
            remember();
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

    /** Rebuilds the root of the Hessian from the corrections, oldest first. */
    private void modelHessian() {
        double diagonal = Math.sqrt(scale);
        for (int i = 0; i < size; i++) {
            Arrays.fill(root[i], 0);
            root[i][i] = diagonal;
        }
        for (int k = 0; k < corrections; k++) {
            int slot = (oldest + k) % CORRECTIONS;
            double[] change = changes[slot];
            multiplyHessian(moves[slot]);
            double stretch = Math.sqrt(curvatures[slot] / dot(image, image));
            for (int i = 0; i < size; i++) {
                double add = (change[i] - stretch * product[i]) * stretch / curvatures[slot];
                double[] row = root[i];
                for (int j = 0; j < size; j++) {
                    row[j] += add * image[j];
                }
            }
        }
    }

    /** Goes along the projected gradient to the model's first local minimum; says which variables are free there. */
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
            multiplyHessian(direction);
            double slope = dot(gradient, direction);
            for (int i = 0; i < size; i++) {
                slope += (goal[i] - x[i]) * product[i];
            }
            if (!(slope < 0)) {
                return;
            }
            double bend = Math.max(dot(image, image), leastBend);
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
     * Moves the goal from the Cauchy point to the model's minimum over the free variables, projected into the bounds, or
     * cut off at the first bound where the projection would lead uphill; false if the model has no minimum.
     */
    private boolean minimizeOverFreeVariables() {
        int count = 0;
        for (int i = 0; i < size; i++) {
            direction[i] = goal[i] - x[i];
            if (free[i]) {
                freeIndex[count++] = i;
            }
        }
        multiplyHessian(direction);
        for (int i = 0; i < count; i++) {
            newton[i] = -(gradient[freeIndex[i]] + product[freeIndex[i]]);
        }
        if (!solve(count)) {
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
     * Solves the model's equations for the free variables in place: their part of the root is made triangular by
     * Householder's reflections, whose squares need not be formed.
     */
    private boolean solve(int count) {
        for (int i = 0; i < count; i++) {
            System.arraycopy(root[freeIndex[i]], 0, factor[i], 0, size);
        }
        for (int k = 0; k < count; k++) {
            double[] mirror = factor[k];
            double square = 0;
            for (int j = k; j < size; j++) {
                square += mirror[j] * mirror[j];
            }
            double length = mirror[k] > 0 ? -Math.sqrt(square) : Math.sqrt(square);
            double weight = square - mirror[k] * length;
            if (!(weight > 0)) {
                return false;
            }
            mirror[k] -= length;
            for (int i = k + 1; i < count; i++) {
                double[] row = factor[i];
                double along = 0;
                for (int j = k; j < size; j++) {
                    along += mirror[j] * row[j];
                }
                along /= weight;
                for (int j = k; j < size; j++) {
                    row[j] -= along * mirror[j];
                }
            }
            mirror[k] = length;
        }
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < i; k++) {
                newton[i] -= factor[i][k] * newton[k];
            }
            newton[i] /= factor[i][i];
        }
        for (int i = count - 1; i >= 0; i--) {
            for (int k = i + 1; k < count; k++) {
                newton[i] -= factor[k][i] * newton[k];
            }
            newton[i] /= factor[i][i];
        }
        return true;
    }

    /** Moves to a point between here and the goal, or beyond, that is low enough; stays here and says so if there is none. */
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

    /** Learns from the last move how the gradient changes. */
    private void remember() {
        int slot = (oldest + corrections) % CORRECTIONS;
        double step = search.step();
        double[] move = moves[slot];
        double[] change = changes[slot];
        double along = 0;
        double fall = 0;
        double square = 0;
        for (int i = 0; i < size; i++) {
            move[i] = step * direction[i];
            change[i] = gradient[i] - previousGradient[i];
            along += move[i] * change[i];
            fall -= move[i] * previousGradient[i];
            square += change[i] * change[i];
        }
        if (!(along > EPSILON * fall)) {
            return;
        }
        curvatures[slot] = along;
        scale = square / along;
        if (corrections < CORRECTIONS) {
            corrections++;
        } else {
            oldest = (oldest + 1) % CORRECTIONS;
        }
    }

    private void forget() {
        corrections = 0;
        scale = 1;
    }

    /** Computes the product with the Hessian and, on the way, the image under the root's transpose. */
    private void multiplyHessian(double[] vector) {
        Arrays.fill(image, 0);
        for (int i = 0; i < size; i++) {
            double weight = vector[i];
            double[] row = root[i];
            for (int j = 0; j < size; j++) {
                image[j] += weight * row[j];
            }
        }
        for (int i = 0; i < size; i++) {
            product[i] = dot(root[i], image);
        }
    }

    private double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < size; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }
}
