package io.lendstream.core.repartition;

import java.util.Arrays;

/**
 * Which column each row takes, no column twice, so that the costs are least together: the Hungarian method with
 * potentials, one shortest augmenting path a row. O(rows^2 columns).
 *
 * @see <a href="https://doi.org/10.1007/BF02278710">Jonker and Volgenant, A shortest augmenting path algorithm,
 *     1987</a>
 */
final class Hungarian {
    private static final int NONE = -1;

    private Hungarian() {}

    /**
     * Exact, and the same for equal costs.
     *
     * @param costs by row and column; finite, at least as many columns as rows
     */
    static int[] columns(double[][] costs) {
        int rows = costs.length;
        int[] columnOf = new int[rows];
        if (rows == 0) {
            return columnOf;
        }
        int columns = costs[0].length;
        double[] ofRow = new double[rows];
        double[] ofColumn = new double[columns];
        int[] rowOf = new int[columns];
        Arrays.fill(rowOf, NONE);
        for (int row = 0; row < rows; row++) {
            double[] distance = new double[columns];
            int[] before = new int[columns];
            boolean[] done = new boolean[columns];
            Arrays.fill(distance, Double.POSITIVE_INFINITY);
            int column = NONE;
            int at = row;
            do {
                int next = NONE;
                for (int other = 0; other < columns; other++) {
                    if (done[other]) {
                        continue;
                    }
                    double reduced = costs[at][other] - ofRow[at] - ofColumn[other];
                    if (reduced < distance[other]) {
                        distance[other] = reduced;
                        before[other] = column;
                    }
                    next = next == NONE || distance[other] < distance[next] ? other : next;
                }
                raise(distance[next], row, rowOf, done, ofRow, ofColumn, distance);
                done[next] = true;
                column = next;
                at = rowOf[column];
            } while (at != NONE);
            while (column != NONE) {
                int previous = before[column];
                rowOf[column] = previous == NONE ? row : rowOf[previous];
                column = previous;
            }
        }
        for (int column = 0; column < columns; column++) {
            if (rowOf[column] != NONE) {
                columnOf[rowOf[column]] = column;
            }
        }
        return columnOf;
    }

    /** Potentials of the reached rows go up, so that the next column costs nothing more. */
    private static void raise(
            double by, int row, int[] rowOf, boolean[] done, double[] ofRow, double[] ofColumn, double[] distance) {
        ofRow[row] += by;
        for (int column = 0; column < done.length; column++) {
            if (done[column]) {
                ofRow[rowOf[column]] += by;
                ofColumn[column] -= by;
            } else {
                distance[column] -= by;
            }
        }
    }
}
