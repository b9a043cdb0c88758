package io.lendstream.simulator.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Step times measured at some placements and batch sizes, for all of them.
 *
 * <p>A measured placement is looked up, and interpolated linearly in the local batch. Any other has no exact time: its
 * nodes are interpolated linearly between the measured numbers of nodes around it, each with as many GPUs per node, and
 * those linearly between the measured numbers of GPUs. What lies outside the measured range gets the time at its edge.
 */
final class StepTimes {
    private final Map<GpusByNode, TreeMap<Integer, Mean>> exact = new HashMap<>();
    private final TreeMap<Integer, TreeMap<Integer, TreeMap<Integer, Mean>>> bySize = new TreeMap<>();

    /** A measurement, for fitting. */
    record Measured(int nodes, int replicas, int localBatch, StepTime time) {}

    void addAt(GpusByNode placement, int localBatch, StepTime time) {
        exact.computeIfAbsent(placement, any -> new TreeMap<>())
                .computeIfAbsent(localBatch, any -> new Mean())
                .add(time);
    }

    void addAt(int nodes, int replicas, int localBatch, StepTime time) {
        bySize.computeIfAbsent(nodes, any -> new TreeMap<>())
                .computeIfAbsent(replicas, any -> new TreeMap<>())
                .computeIfAbsent(localBatch, any -> new Mean())
                .add(time);
    }

    StepTime at(GpusByNode placement, int localBatch) {
        Optional<NavigableMap<Integer, Mean>> known = Optional.ofNullable(exact.get(placement));
        double[] times = known.isPresent()
                ? atBatch(known.get(), localBatch)
                : atSize(placement.nodes(), placement.replicas(), localBatch);
        return new StepTime(times[0], Math.min(times[0], times[1]));
    }

    /** All measurements, averaged where one was made more than once. */
    List<Measured> measurements() {
        List<Measured> all = new ArrayList<>();
        bySize.forEach((nodes, sizes) -> sizes.forEach((replicas, batches) ->
                batches.forEach((batch, mean) -> all.add(new Measured(nodes, replicas, batch, mean.time())))));
        return all;
    }

    private double[] atSize(int nodes, int replicas, int localBatch) {
        double perNode = (double) replicas / nodes;
        return between(
                bySize,
                nodes,
                (count, sizes) -> between(sizes, count * perNode, (size, batches) -> atBatch(batches, localBatch)));
    }

    private static double[] atBatch(NavigableMap<Integer, Mean> batches, int localBatch) {
        return between(batches, localBatch, (batch, mean) -> mean.both());
    }

    private interface Lookup<T> {
        double[] at(int key, T value);
    }

    private static <T> double[] between(NavigableMap<Integer, T> known, double at, Lookup<T> lookup) {
        double inside = Math.min(Math.max(at, known.firstKey()), known.lastKey());
        Map.Entry<Integer, T> low = known.floorEntry((int) Math.floor(inside));
        Map.Entry<Integer, T> high = known.ceilingEntry((int) Math.ceil(inside));
        double[] below = lookup.at(low.getKey(), low.getValue());
        if (low.getKey().equals(high.getKey())) {
            return below;
        }
        double[] above = lookup.at(high.getKey(), high.getValue());
        double share = (inside - low.getKey()) / (high.getKey() - low.getKey());
        return new double[] {below[0] + share * (above[0] - below[0]), below[1] + share * (above[1] - below[1])};
    }

    private static final class Mean {
        private double step;
        private double sync;
        private int count;

        void add(StepTime time) {
            step += time.seconds();
            sync += time.syncSeconds();
            count++;
        }

        double[] both() {
            return new double[] {step / count, sync / count};
        }

        StepTime time() {
            double[] both = both();
            return new StepTime(both[0], Math.min(both[0], both[1]));
        }
    }
}
