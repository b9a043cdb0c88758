package io.lendstream.core.simulated;

import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Simulated nodes that are alike.
 *
 * @param nodes how many
 * @param gpus the GPUs of each node, by product
 * @param labels the labels of each node
 * @param host the CPU and host memory of each node; none if it has those of all nodes
 * @param cuts the MIG instances of each GPU of some products, of which no GPU is whole
 */
public record SimulatedGroup(
        int nodes,
        Map<SimulatedGpu, Integer> gpus,
        Map<String, String> labels,
        SimulatedHost host,
        Map<SimulatedGpu, List<MigPlace>> cuts) {
    /** Nodes with whole GPUs. */
    public SimulatedGroup(int nodes, Map<SimulatedGpu, Integer> gpus, Map<String, String> labels, SimulatedHost host) {
        this(nodes, gpus, labels, host, Map.of());
    }

    public SimulatedGroup {
        if (nodes < 1 || gpus.isEmpty() || gpus.values().stream().anyMatch(count -> count < 1)) {
            throw new IllegalArgumentException(
                    "a group must have at least one node with at least one GPU, but has %d with %s"
                            .formatted(nodes, gpus));
        }
        gpus = Collections.unmodifiableMap(new EnumMap<>(gpus));
        SortedMap<String, String> sorted = new TreeMap<>(labels);
        labels = Collections.unmodifiableSortedMap(sorted);
        Map<SimulatedGpu, List<MigPlace>> copy = new EnumMap<>(SimulatedGpu.class);
        for (Map.Entry<SimulatedGpu, List<MigPlace>> cut : cuts.entrySet()) {
            boolean isLegal = gpus.containsKey(cut.getKey())
                    && cut.getKey()
                            .mig()
                            .filter(gpu -> MigLayouts.of(gpu).isLegal(cut.getValue()))
                            .isPresent();
            if (!isLegal || cut.getValue().isEmpty()) {
                throw new IllegalArgumentException("nodes with %s have no %s with the MIG instances %s"
                        .formatted(gpus, cut.getKey(), cut.getValue()));
            }
            copy.put(cut.getKey(), List.copyOf(cut.getValue()));
        }
        cuts = Collections.unmodifiableMap(copy);
    }

    /** The GPUs of each node that are not cut into MIG instances. */
    Map<SimulatedGpu, Integer> wholeGpus() {
        Map<SimulatedGpu, Integer> whole = new EnumMap<>(gpus);
        whole.keySet().removeAll(cuts.keySet());
        return whole;
    }

    /** Whether nodes of some groups have MIG instances. */
    public static boolean haveInstances(List<SimulatedGroup> groups) {
        return groups.stream().anyMatch(group -> !group.cuts.isEmpty());
    }

    /** The GPUs of each node. */
    public int gpusPerNode() {
        return gpus.values().stream().mapToInt(count -> count).sum();
    }

    /** The nodes of some groups. */
    public static int nodes(List<SimulatedGroup> groups) {
        return groups.stream().mapToInt(SimulatedGroup::nodes).sum();
    }

    /** The most GPUs that a node of some groups has. */
    static int mostGpus(List<SimulatedGroup> groups) {
        return groups.stream().mapToInt(SimulatedGroup::gpusPerNode).max().orElse(0);
    }

    /** The names of the labels that nodes of some groups have. */
    public static Set<String> labels(List<SimulatedGroup> groups) {
        Set<String> names = new TreeSet<>();
        groups.forEach(group -> names.addAll(group.labels.keySet()));
        return names;
    }
}
