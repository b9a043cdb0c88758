package io.lendstream.core.latency;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Chooses the measurement of a model that helps a plan most. It is the one after which the model's expected spread at
 * the plan's batches is least. A measurement moves the parameters of the hinge, by as much as it depends on them, and
 * with them the predictions for all other batches; how much smaller their spread becomes does not depend on what it
 * shows.
 */
public final class ProbeChoice {
    private ProbeChoice() {}

    /** A batch that could be timed, or with which a plan reckons. */
    public record Point(Slice slice, int batch, double size) {}

    /**
     * The next measurement.
     *
     * @param candidates those that can be made
     * @param matter how much each batch matters to the plan; weights above 0
     * @return nothing if there is no candidate
     */
    public static Optional<Point> next(LatencyModel model, List<Point> candidates, Map<Point, Double> matter) {
        return candidates.stream().max(Comparator.comparingDouble(point -> worth(model, point, matter)));
    }

    private static double worth(LatencyModel model, Point point, Map<Point, Double> matter) {
        double spread = model.spread(point.slice(), point.batch(), point.size());
        double sum = 0;
        for (Map.Entry<Point, Double> entry : matter.entrySet()) {
            Point other = entry.getKey();
            double together = model.together(
                    point.slice(), point.batch(), point.size(), other.slice(), other.batch(), other.size());
            sum += entry.getValue() * together * together / (spread * spread);
        }
        return sum;
    }
}
