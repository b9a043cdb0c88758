package io.lendstream.core.goodput;

import java.util.Arrays;

/**
 * How a function bends, learnt from the last ten moves and the changes of its gradient: the limited-memory BFGS
 * approximation of its Hessian.
 *
 * <p>With few variables the Hessian is kept as a matrix {@code J} with {@code J J^T} the Hessian, rebuilt after each
 * move from the moves in O(moves x variables^2). That is the Hessian which the compact form for many variables stands
 * for, and rounding cannot make it indefinite. Variables that never move are left out, but the changes of their slopes
 * count for the scale, as published.
 *
 * @see <a href="https://doi.org/10.1007/BF01582063">Byrd, Nocedal, Schnabel: Representations of quasi-Newton matrices,
 *     1994</a>
 */
final class Curvature {
    private static final int MOST = 10;
    private static final double EPSILON = Math.ulp(1.0);

    private final int[] movable;
    private final int size;

    private final double[][] moves;
    private final double[][] changes;
    private final double[] curvatures = new double[MOST];
    private int known;
    private int oldest;

    private final double[][] root;
    private final double[] vector;
    private double[] image;
    private double[] nextImage;
    private final double[] product;
    private final int[] placeOf;
    private final double[][] factor;

    /**
     * The identity, before anything is known.
     *
     * @param movable which variables can move, in ascending order
     */
    Curvature(int[] movable) {
        this.movable = movable;
        this.size = movable.length;
        moves = new double[MOST][size];
        changes = new double[MOST][size];
        root = new double[size][size];
        vector = new double[size];
        image = new double[size];
        nextImage = new double[size];
        product = new double[size];
        factor = new double[size][size];
        placeOf = new int[size == 0 ? 0 : movable[size - 1] + 1];
        Arrays.fill(placeOf, -1);
        for (int i = 0; i < size; i++) {
            placeOf[movable[i]] = i;
        }
        forget();
    }

    boolean isKnown() {
        return known > 0;
    }

    /** Back to the identity. */
    void forget() {
        known = 0;
        reset(1);
    }

    /** Takes in a move of {@code step} times {@code direction}, unless the function does not bend upwards along it. */
    void learn(double[] direction, double step, double[] gradient, double[] previousGradient) {
        int slot = (oldest + known) % MOST;
        double[] move = moves[slot];
        double[] change = changes[slot];
        double along = 0;
        double fall = 0;
        for (int i = 0; i < size; i++) {
            int k = movable[i];
            move[i] = step * direction[k];
            change[i] = gradient[k] - previousGradient[k];
            along += move[i] * change[i];
            fall -= move[i] * previousGradient[k];
        }
        if (!(along > EPSILON * fall)) {
            return;
        }
        double square = 0;
        for (int k = 0; k < gradient.length; k++) {
            square += (gradient[k] - previousGradient[k]) * (gradient[k] - previousGradient[k]);
        }
        curvatures[slot] = along;
        if (known < MOST) {
            known++;
        } else {
            oldest = (oldest + 1) % MOST;
        }
        rebuild(square / along);
    }

    private void rebuild(double scale) {
        reset(Math.sqrt(scale));
        double bend = image(moves[oldest]);
        for (int k = 0; k < known; k++) {
            int slot = (oldest + k) % MOST;
            double[] next = moves[(slot + 1) % MOST];
            double[] change = changes[slot];
            double curvature = curvatures[slot];
            double stretch = Math.sqrt(curvature / bend);
            Arrays.fill(nextImage, 0);
            for (int i = 0; i < size; i++) {
                double[] row = root[i];
                double add = (change[i] - stretch * dot(row, image)) * stretch / curvature;
                addTo(row, add, image, nextImage, next[i]);
            }
            double[] used = image;
            image = nextImage;
            nextImage = used;
            bend = dot(image, image);
        }
    }

    /** Adds to a row of the root, and the row to the image of the next move. */
    private static void addTo(double[] row, double weight, double[] image, double[] nextImage, double nextMove) {
        for (int j = 0; j < row.length; j++) {
            double sum = row[j] + weight * image[j];
            row[j] = sum;
            nextImage[j] += nextMove * sum;
        }
    }

    private void reset(double diagonal) {
        for (int i = 0; i < size; i++) {
            Arrays.fill(root[i], 0);
            root[i][i] = diagonal;
        }
    }

    /** How much the function bends along a direction; {@link #product} has the Hessian's product with it afterwards. */
    double along(double[] direction) {
        for (int i = 0; i < size; i++) {
            vector[i] = direction[movable[i]];
        }
        return multiply(vector);
    }

    /** A component of the Hessian's product with the last direction; 0 for a variable that cannot move. */
    double product(int variable) {
        return variable < placeOf.length && placeOf[variable] >= 0 ? product[placeOf[variable]] : 0;
    }

    private double multiply(double[] right) {
        double bend = image(right);
        for (int i = 0; i < size; i++) {
            product[i] = dot(root[i], image);
        }
        return bend;
    }

    /** Computes the transposed root's product with a direction; returns the curvature of the function along it. */
    private double image(double[] right) {
        Arrays.fill(image, 0);
        for (int i = 0; i < size; i++) {
            addTo(image, right[i], root[i]);
        }
        return dot(image, image);
    }

    private static void addTo(double[] sum, double weight, double[] added) {
        for (int j = 0; j < sum.length; j++) {
            sum[j] += weight * added[j];
        }
    }

    private static double dot(double[] one, double[] other) {
        double sum = 0;
        for (int j = 0; j < one.length; j++) {
            sum += one[j] * other[j];
        }
        return sum;
    }

    /**
     * Solves the Hessian's equations for some movable variables: their rows of the root are made triangular by
     * Householder's reflections, so that no squares are formed.
     *
     * @param right the right side, and afterwards the solution
     * @return false if they have none
     */
    boolean solve(int[] variables, int count, double[] right) {
        for (int i = 0; i < count; i++) {
            System.arraycopy(root[placeOf[variables[i]]], 0, factor[i], 0, size);
        }
        for (int k = 0; k < count; k++) {
            if (!reflect(k, count)) {
                return false;
            }
        }
        for (int i = 0; i < count; i++) {
            double[] row = factor[i];
            for (int k = 0; k < i; k++) {
                right[i] -= row[k] * right[k];
            }
            right[i] /= row[i];
        }
        for (int i = count - 1; i >= 0; i--) {
            right[i] /= factor[i][i];
            for (int k = 0; k < i; k++) {
                right[k] -= factor[i][k] * right[i];
            }
        }
        return true;
    }

    /** Turns the columns from {@code k} on so that row {@code k} ends at the diagonal. */
    private boolean reflect(int k, int count) {
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
        return true;
    }
}
