package io.lendstream.core.policy.published;

/** An allocation of a {@link PolluxSearch} with its objectives, and where it stands in its generation. */
final class SearchState {
    final int[][] matrix;
    final double powerMean;
    final double sum;
    int front;
    double distance;

    SearchState(int[][] matrix, double powerMean, double sum) {
        this.matrix = matrix;
        this.powerMean = powerMean;
        this.sum = sum;
    }

    boolean isBefore(SearchState other) {
        return front != other.front ? front < other.front : distance > other.distance;
    }
}
