package io.lendstream.core.policy.published;

import java.util.ArrayList;
import java.util.List;

/**
 * The order of NSGA-II for the states of a {@link PolluxSearch}: by front, each of which dominates the next, and within
 * a front by the distance from the neighbours.
 *
 * @see <a href="https://doi.org/10.1109/4235.996017">Deb et al.: NSGA-II, 2002</a>
 */
final class ParetoFronts {
    private ParetoFronts() {}

    /** Sorts by front, and within a front by distance from the neighbours, the loneliest first. */
    static void rank(List<SearchState> states) {
        states.sort((a, b) -> {
            int byMean = Double.compare(b.powerMean, a.powerMean);
            return byMean != 0 ? byMean : Double.compare(b.sum, a.sum);
        });
        List<List<SearchState>> fronts = new ArrayList<>();
        for (SearchState state : states) {
            int front = frontOf(state, fronts);
            if (front == fronts.size()) {
                fronts.add(new ArrayList<>());
            }
            state.front = front;
            fronts.get(front).add(state);
        }
        states.clear();
        for (List<SearchState> front : fronts) {
            spread(front);
            front.sort((a, b) -> Double.compare(b.distance, a.distance));
            states.addAll(front);
        }
    }

    /**
     * The first front that does not dominate a state. With two objectives and states in the order of one, a state is
     * dominated by a front if it is by its last member, and the sums of the last members fall from front to front.
     */
    private static int frontOf(SearchState state, List<List<SearchState>> fronts) {
        int from = 0;
        int to = fronts.size();
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (last(fronts.get(middle)).sum >= state.sum) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    private static SearchState last(List<SearchState> front) {
        return front.get(front.size() - 1);
    }

    /** Crowding distance: how much of the front lies between a state's neighbours; the ends are infinitely far out. */
    private static void spread(List<SearchState> front) {
        SearchState first = front.get(0);
        SearchState last = last(front);
        double means = first.powerMean - last.powerMean;
        double sums = last.sum - first.sum;
        for (int i = 1; i + 1 < front.size(); i++) {
            SearchState before = front.get(i - 1);
            SearchState after = front.get(i + 1);
            front.get(i).distance = (means > 0 ? (before.powerMean - after.powerMean) / means : 0)
                    + (sums > 0 ? (after.sum - before.sum) / sums : 0);
        }
        first.distance = Double.POSITIVE_INFINITY;
        last.distance = Double.POSITIVE_INFINITY;
    }
}
