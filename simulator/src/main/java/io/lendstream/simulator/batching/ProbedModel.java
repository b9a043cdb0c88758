package io.lendstream.simulator.batching;

import io.lendstream.core.batching.LearnedLatency;
import io.lendstream.core.batching.ModelLatency;
import io.lendstream.core.latency.LatencyLearner;
import io.lendstream.core.latency.LatencyModel;
import io.lendstream.core.latency.LatencyPrior;
import io.lendstream.core.latency.LatencySample;
import io.lendstream.core.latency.MemoryLearner;
import io.lendstream.core.latency.ProbeChoice;
import io.lendstream.core.latency.ServedBatches;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A model of which a few rows of its table have been measured. The first probes are the corners: a single input on the
 * largest instance, the largest batches on the smallest and on the largest, and where inputs vary the smallest and
 * largest of them.
 *
 * @param probes rows that were measured, in their order
 */
public record ProbedModel(LatencyTable table, LatencyLearner learner, List<LatencyTable.Row> probes) {
    /** How often a probe is repeated: as profilers do until the mean is known within two per cent. */
    private static final int REPEATED = 30;

    public ProbedModel {
        probes = List.copyOf(probes);
    }

    /** Nothing measured yet. */
    public static ProbedModel of(LatencyTable table, LatencyPrior prior) {
        return new ProbedModel(table, LatencyLearner.of(prior), List.of());
    }

    private ProbedModel probed(LatencyTable.Row row) {
        LatencySample sample = table.sample(row);
        List<LatencyTable.Row> more = new ArrayList<>(probes);
        more.add(row);
        return new ProbedModel(
                table,
                learner.probed(new ServedBatches(
                        sample.slice(), sample.batch(), sample.size(), REPEATED, sample.millis(), Optional.empty())),
                more);
    }

    /** With the corners, but no more probes than some number. */
    public ProbedModel withCorners(int most) {
        ProbedModel model = this;
        for (LatencyTable.Row corner : corners()) {
            if (model.probes.size() < most && !model.probes.contains(corner)) {
                model = model.probed(corner);
            }
        }
        return model;
    }

    private List<LatencyTable.Row> corners() {
        int largest = table.rows().stream()
                .mapToInt(row -> row.profile().computeSlices())
                .max()
                .orElseThrow();
        int smallest = table.rows().stream()
                .mapToInt(row -> row.profile().computeSlices())
                .min()
                .orElseThrow();
        Comparator<LatencyTable.Row> byWork = Comparator.comparingLong(row -> (long) row.batch() * row.inputSize());
        Comparator<LatencyTable.Row> bySize = Comparator.comparingInt(LatencyTable.Row::inputSize);
        Comparator<LatencyTable.Row> byBatch = Comparator.comparingInt(LatencyTable.Row::batch);
        return List.of(
                corner(largest, byWork.reversed()),
                corner(smallest, bySize.thenComparing(byWork)),
                corner(largest, byBatch.thenComparing(byWork)),
                corner(smallest, bySize.reversed().thenComparing(byWork.reversed())));
    }

    /** The greatest row of an instance's size. */
    private LatencyTable.Row corner(int computeSlices, Comparator<LatencyTable.Row> order) {
        return table.rows().stream()
                .filter(row -> row.profile().computeSlices() == computeSlices)
                .max(order)
                .orElseThrow();
    }

    /**
     * With one more probe: that which tells most about batches that matter.
     *
     * @return unchanged if all rows have been measured
     */
    public ProbedModel withBest(Map<ProbeChoice.Point, Double> matter) {
        Map<ProbeChoice.Point, LatencyTable.Row> rows = new LinkedHashMap<>();
        Set<LatencyTable.Row> known = new HashSet<>(probes);
        for (LatencyTable.Row row : table.rows()) {
            LatencySample sample = table.sample(row);
            if (!known.contains(row)) {
                rows.put(new ProbeChoice.Point(sample.slice(), sample.batch(), sample.size()), row);
            }
        }
        return ProbeChoice.next(learner.model().orElseThrow(), List.copyOf(rows.keySet()), matter)
                .map(point -> probed(Objects.requireNonNull(rows.get(point), "a point that was not offered")))
                .orElse(this);
    }

    /** The latency that a planner assumes, with a margin by the certainty of the model; at least some fraction. */
    public ModelLatency latency(double leastMargin) {
        return latency((slice, batch, size) -> Math.max(leastMargin, learner.margin(slice, batch, size)));
    }

    /** What a planner would believe if all were longer by so many standard deviations than the model says. */
    ModelLatency off(double deviations) {
        LatencyModel model = learner.model().orElseThrow();
        return latency((slice, batch, size) -> Math.exp(deviations * model.spread(slice, batch, size)) - 1);
    }

    private ModelLatency latency(LearnedLatency.Margin margin) {
        MemoryLearner memory = MemoryLearner.EMPTY;
        for (LatencyTable.Row row : probes) {
            memory = memory.ran(
                    row.profile().memorySlices(), row.batch(), table.sample(row).size(), Optional.empty());
        }
        return new LearnedLatency(learner.model().orElseThrow(), table.gpu(), table.largestInput(), memory, margin);
    }
}
