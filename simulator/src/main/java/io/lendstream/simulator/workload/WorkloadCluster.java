package io.lendstream.simulator.workload;

import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedGroup;
import io.lendstream.core.simulated.SimulatedHost;
import io.lendstream.core.simulated.SimulatedTopology;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The nodes that a workload in YAML is meant for.
 *
 * @param nodes how many nodes; the sum of kinds or of groups, if there are any
 * @param kinds how many nodes have each product; empty if all are alike
 * @param topology their racks and NVLink domains, and the CPU and host memory of each
 * @param groups the nodes, if they are described in groups
 * @param lend the least that is lent; empty for the default
 */
public record WorkloadCluster(
        Optional<Integer> nodes,
        Optional<Integer> gpusPerNode,
        Optional<Integer> trainingNodes,
        Map<SimulatedGpu, Integer> kinds,
        SimulatedTopology topology,
        WorkloadGroups groups,
        Optional<String> lend) {
    static final String NODE_GROUPS = "nodeGroups";

    private static final String NODES = "nodes";
    private static final String GPUS_PER_NODE = "gpusPerNode";
    private static final String TRAINING_NODES = "trainingNodes";
    private static final String KINDS = "kinds";
    private static final String NODES_PER_NVLINK_DOMAIN = "nodesPerNvlinkDomain";
    private static final String NODES_PER_RACK = "nodesPerRack";
    private static final String LEND = "lend";

    static final ListColumns FIELDS = new ListColumns(
            List.of(),
            List.of(
                    NODES,
                    GPUS_PER_NODE,
                    TRAINING_NODES,
                    KINDS,
                    NODES_PER_NVLINK_DOMAIN,
                    NODES_PER_RACK,
                    "cpusPerNode",
                    "hostGibPerNode",
                    LEND,
                    NODE_GROUPS));

    private static final int MOST = 1_000_000;
    private static final long GIB = 1L << 30;

    public WorkloadCluster {
        kinds = kinds.isEmpty() ? Map.of() : Collections.unmodifiableMap(new EnumMap<>(kinds));
    }

    /**
     * The nodes of a section.
     *
     * @param groupRows the items of its node groups
     */
    static WorkloadCluster of(CsvRow row, List<CsvRow> groupRows) {
        WorkloadGroups groups = WorkloadGroups.of(groupRows);
        checkBesideGroups(row, groups);
        Map<SimulatedGpu, Integer> kinds =
                counts(row, KINDS, MOST, "pairs such as {A100: 2, T4: 4} with numbers of nodes");
        int sum = kinds.values().stream().mapToInt(count -> count).sum() + SimulatedGroup.nodes(groups.groups());
        Optional<Integer> nodes = count(row, NODES, 1);
        if (sum > 0 && nodes.filter(given -> given != sum).isPresent()) {
            throw row.bad(NODES, "%d, the sum of kinds, or no such field".formatted(sum));
        }
        Optional<Integer> all = sum > 0 ? Optional.of(sum) : nodes;
        Optional<Integer> training = count(row, TRAINING_NODES, 1);
        if (all.isPresent() && training.filter(given -> given > all.get()).isPresent()) {
            throw row.bad(TRAINING_NODES, "a whole number from 1 to %d, the number of nodes".formatted(all.get()));
        }
        return new WorkloadCluster(
                all,
                count(row, GPUS_PER_NODE, 1),
                groups.trainingNodes().or(() -> training),
                kinds,
                new SimulatedTopology(
                                count(row, NODES_PER_NVLINK_DOMAIN, 0).orElse(0),
                                count(row, NODES_PER_RACK, 0).orElse(0))
                        .with(host(row)),
                groups,
                lend(row));
    }

    /** Node groups say what other fields would say of all nodes. */
    private static void checkBesideGroups(CsvRow row, WorkloadGroups groups) {
        if (groups.groups().isEmpty()) {
            return;
        }
        leaveOut(row, NODES, "its items have nodes");
        leaveOut(row, KINDS, "its items have gpus");
        leaveOut(row, GPUS_PER_NODE, "its items have gpus");
        if (groups.trainingNodes().isPresent()) {
            leaveOut(row, TRAINING_NODES, "its items have a pool");
        }
        if (groups.hasLabel(SimulatedTopology.RACK)) {
            leaveOut(row, NODES_PER_RACK, "its items have a rack");
        }
        if (groups.hasLabel(SimulatedTopology.NVLINK_DOMAIN)) {
            leaveOut(row, NODES_PER_NVLINK_DOMAIN, "its items have an NVLink domain");
        }
    }

    private static void leaveOut(CsvRow row, String field, String because) {
        if (!row.text(field).isEmpty()) {
            throw row.bad(field, "no such field beside %s, because %s".formatted(NODE_GROUPS, because));
        }
    }

    private static Optional<String> lend(CsvRow row) {
        Optional<String> text = Optional.of(row.text(LEND)).filter(given -> !given.isEmpty());
        if (text.isPresent() && text.flatMap(LoanSize::of).isEmpty()) {
            throw row.bad(LEND, LoanSize.FORMS);
        }
        return text;
    }

    /** The CPU and host memory of nodes. */
    static SimulatedHost host(CsvRow row) {
        return SimulatedHost.of(atMost(row, "cpusPerNode"), atMost(row, "hostGibPerNode") * GIB);
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

    /**
     * Pairs of kinds and numbers; none if the row has not the field.
     *
     * @param most the greatest number
     * @param expected what is expected, for errors
     */
    static Map<SimulatedGpu, Integer> counts(CsvRow row, String field, int most, String expected) {
        Map<SimulatedGpu, Integer> counts = new EnumMap<>(SimulatedGpu.class);
        if (row.text(field).isEmpty()) {
            return counts;
        }
        for (String part : row.text(field).split(";", -1)) {
            int colon = part.indexOf(':');
            Optional<SimulatedGpu> gpu = SimulatedGpu.named(part.substring(0, Math.max(0, colon)));
            int count = whole(part.substring(colon + 1));
            if (gpu.isEmpty() || count < 1 || count > most) {
                throw row.bad(field, "%s; kinds are %s".formatted(expected, SimulatedGpu.names()));
            }
            counts.merge(gpu.get(), count, Integer::sum);
        }
        return counts;
    }

    private static int whole(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
