package io.lendstream.simulator.workload;

import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedTopology;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The nodes that a workload in YAML is meant for.
 *
 * @param nodes how many nodes; the sum of kinds, if there are any
 * @param kinds how many nodes have each product; empty if all are alike
 * @param topology their racks and NVLink domains, and the CPU and host memory of each
 */
public record WorkloadCluster(
        Optional<Integer> nodes,
        Optional<Integer> gpusPerNode,
        Optional<Integer> trainingNodes,
        Map<SimulatedGpu, Integer> kinds,
        SimulatedTopology topology) {
    private static final int MOST = 1_000_000;
    private static final long GIB = 1L << 30;

    public WorkloadCluster {
        kinds = kinds.isEmpty() ? Map.of() : Collections.unmodifiableMap(new EnumMap<>(kinds));
    }

    /** The nodes of a section. */
    static WorkloadCluster of(CsvRow row) {
        Map<SimulatedGpu, Integer> kinds = kinds(row);
        int sum = kinds.values().stream().mapToInt(count -> count).sum();
        Optional<Integer> nodes = count(row, "nodes", 1);
        if (sum > 0 && nodes.filter(given -> given != sum).isPresent()) {
            throw row.bad("nodes", "%d, the sum of kinds, or no such field".formatted(sum));
        }
        Optional<Integer> all = sum > 0 ? Optional.of(sum) : nodes;
        Optional<Integer> training = count(row, "trainingNodes", 1);
        if (all.isPresent() && training.filter(given -> given > all.get()).isPresent()) {
            throw row.bad("trainingNodes", "a whole number from 1 to %d, the number of nodes".formatted(all.get()));
        }
        return new WorkloadCluster(
                all,
                count(row, "gpusPerNode", 1),
                training,
                kinds,
                new SimulatedTopology(
                                count(row, "nodesPerNvlinkDomain", 0).orElse(0),
                                count(row, "nodesPerRack", 0).orElse(0))
                        .with(SimulatedHost.of(atMost(row, "cpusPerNode"), atMost(row, "hostGibPerNode") * GIB)));
    }

    /** A number up to that of the command line; 0 if it is not given. */
    private static int atMost(CsvRow row, String field) {
        int number = count(row, field, 0).orElse(0);
        if (number > MOST) {
            throw row.bad(field, "a whole number of at most " + MOST);
        }
        return number;
    }

    private static Optional<Integer> count(CsvRow row, String field, int least) {
        return row.text(field).isEmpty() ? Optional.empty() : Optional.of(row.whole(field, least));
    }

    private static Map<SimulatedGpu, Integer> kinds(CsvRow row) {
        Map<SimulatedGpu, Integer> kinds = new EnumMap<>(SimulatedGpu.class);
        if (row.text("kinds").isEmpty()) {
            return kinds;
        }
        for (String part : row.text("kinds").split(";", -1)) {
            int colon = part.indexOf(':');
            Optional<SimulatedGpu> gpu = SimulatedGpu.named(part.substring(0, Math.max(0, colon)));
            int nodes = nodes(part.substring(colon + 1));
            if (gpu.isEmpty() || nodes < 1 || nodes > MOST) {
                throw row.bad(
                        "kinds",
                        "pairs such as {A100: 2, T4: 4} with numbers of nodes; kinds are " + SimulatedGpu.names());
            }
            kinds.merge(gpu.get(), nodes, Integer::sum);
        }
        return kinds;
    }

    private static int nodes(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
