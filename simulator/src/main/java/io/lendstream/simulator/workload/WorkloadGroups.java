package io.lendstream.simulator.workload;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.Pool;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigLayouts;
import io.lendstream.core.mig.MigPlace;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedGroup;
import io.lendstream.core.simulated.SimulatedTopology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The nodes of a workload in YAML, where they are not alike.
 *
 * @param groups those of training first, if groups say their pool; empty if nodes are alike
 * @param trainingNodes how many nodes are training's; empty if groups do not say it
 */
public record WorkloadGroups(List<SimulatedGroup> groups, Optional<Integer> trainingNodes) {
    /** No groups. */
    public static final WorkloadGroups NONE = new WorkloadGroups(List.of(), Optional.empty());

    private static final String NODES = "nodes";
    private static final String GPUS = "gpus";
    private static final String POOL = "pool";
    private static final String RACK = "rack";
    private static final String NVLINK_DOMAIN = "nvlinkDomain";
    private static final String LABELS = "labels";
    static final String MIG = "mig";

    static final ListColumns FIELDS = new ListColumns(
            List.of(NODES, GPUS), List.of(POOL, RACK, NVLINK_DOMAIN, LABELS, "cpusPerNode", "hostGibPerNode", MIG));

    private static final int MOST_NODES = 100_000;
    private static final int MOST_GPUS = 64;
    private static final String CUTTABLE = Arrays.stream(SimulatedGpu.values())
            .filter(gpu -> gpu.mig().isPresent())
            .map(SimulatedGpu::name)
            .collect(Collectors.joining(", "));

    /** As Kubernetes has them, with a prefix or without. */
    private static final Pattern NAME =
            Pattern.compile("([a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

    private static final Pattern VALUE = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?");

    public WorkloadGroups {
        groups = List.copyOf(groups);
    }

    /** The groups of a section. */
    static WorkloadGroups of(List<CsvRow> rows) {
        if (rows.isEmpty()) {
            return NONE;
        }
        List<SimulatedGroup> training = new ArrayList<>();
        List<SimulatedGroup> others = new ArrayList<>();
        boolean isPooled = !rows.get(0).text(POOL).isEmpty();
        int nodes = 0;
        for (CsvRow row : rows) {
            if (row.text(POOL).isEmpty() == isPooled) {
                throw row.bad(POOL, "a pool in each item of nodeGroups, or in none");
            }
            SimulatedGroup group = group(row);
            nodes += group.nodes();
            if (nodes > MOST_NODES) {
                throw row.bad(NODES, "at most %d nodes in all groups".formatted(MOST_NODES));
            }
            (isPooled && pool(row) == Pool.TRAINING ? training : others).add(group);
        }
        int trainingNodes = SimulatedGroup.nodes(training);
        training.addAll(others);
        return new WorkloadGroups(training, isPooled ? Optional.of(trainingNodes) : Optional.empty());
    }

    /** Whether some nodes have a label. */
    public boolean hasLabel(String name) {
        return SimulatedGroup.labels(groups).contains(name);
    }

    /** Whether some nodes have MIG instances. */
    public boolean haveInstances() {
        return SimulatedGroup.haveInstances(groups);
    }

    /** Such as {@code 2 nodes with 4 A100, 2 T4 (lendstream.io/rack: r1); 1 node with 8 L4}. */
    public String inWords() {
        return groups.stream().map(WorkloadGroups::inWords).collect(Collectors.joining("; "));
    }

    private static String inWords(SimulatedGroup group) {
        String gpus = group.gpus().entrySet().stream()
                .map(product -> "%d %s%s"
                        .formatted(
                                product.getValue(),
                                product.getKey(),
                                instances(group.cuts().getOrDefault(product.getKey(), List.of()))))
                .collect(Collectors.joining(", "));
        String labels = group.labels().entrySet().stream()
                .map(label -> "%s: %s".formatted(label.getKey(), label.getValue()))
                .collect(Collectors.joining(", "));
        return "%s with %s%s"
                .formatted(
                        Reason.counted(group.nodes(), "node"), gpus, labels.isEmpty() ? "" : " (%s)".formatted(labels));
    }

    private static String instances(List<MigPlace> cut) {
        return cut.isEmpty() ? "" : cut.stream().map(MigPlace::toString).collect(Collectors.joining(" ", " of ", ""));
    }

    private static Pool pool(CsvRow row) {
        return switch (row.text(POOL)) {
            case "training" -> Pool.TRAINING;
            case "inference" -> Pool.INFERENCE;
            default -> throw row.bad(POOL, "training or inference");
        };
    }

    private static SimulatedGroup group(CsvRow row) {
        int nodes = row.whole(NODES, 1);
        if (nodes > MOST_NODES) {
            throw row.bad(NODES, "a whole number from 1 to " + MOST_NODES);
        }
        Map<SimulatedGpu, Integer> gpus = gpus(row);
        return new SimulatedGroup(nodes, gpus, labels(row), WorkloadCluster.host(row), cuts(row, gpus));
    }

    /** The MIG instances of GPUs, which jobs of inference's nodes borrow; those of training would stay idle. */
    private static Map<SimulatedGpu, List<MigPlace>> cuts(CsvRow row, Map<SimulatedGpu, Integer> gpus) {
        Map<SimulatedGpu, List<MigPlace>> cuts = new EnumMap<>(SimulatedGpu.class);
        row.pairs(MIG).forEach((name, profiles) -> {
            Optional<SimulatedGpu> product = SimulatedGpu.named(name).filter(gpus::containsKey);
            Optional<MigGpu> mig = product.flatMap(SimulatedGpu::mig);
            if (product.isEmpty() || mig.isEmpty()) {
                throw row.bad(
                        MIG,
                        "pairs such as {A100: [3g.40gb, 2g.20gb]} with kinds that gpus has and that can be cut: "
                                + CUTTABLE);
            }
            if (row.text(POOL).isEmpty() || pool(row) != Pool.INFERENCE) {
                throw row.bad(
                        MIG, "no such field without pool: inference, because training's jobs run on whole GPUs only");
            }
            cuts.put(product.get(), places(row, product.get(), mig.get(), profiles));
        });
        return cuts;
    }

    private static List<MigPlace> places(CsvRow row, SimulatedGpu product, MigGpu mig, String text) {
        List<MigProfile> profiles = new ArrayList<>();
        for (String name : text.split(" ", -1)) {
            profiles.add(mig.profile(name)
                    .orElseThrow(() -> row.bad(
                            MIG,
                            "profiles of %s: %s"
                                    .formatted(
                                            product,
                                            mig.profiles().stream()
                                                    .map(MigProfile::name)
                                                    .collect(Collectors.joining(", "))))));
        }
        return MigLayouts.of(mig).layouts(profiles).stream()
                .findFirst()
                .orElseThrow(() -> row.bad(
                        MIG,
                        "profiles that fit on one %s together: at most %d compute slices (the number before g) and %d memory slices in all, as NVIDIA places them"
                                .formatted(product, mig.computeSlices(), mig.memorySlices())));
    }

    private static Map<SimulatedGpu, Integer> gpus(CsvRow row) {
        String expected =
                "pairs such as {A100: 4, T4: 2} with the GPUs of each node, from 1 to %d in all".formatted(MOST_GPUS);
        Map<SimulatedGpu, Integer> gpus = WorkloadCluster.counts(row, GPUS, MOST_GPUS, expected);
        int sum = gpus.values().stream().mapToInt(count -> count).sum();
        if (gpus.isEmpty() || sum > MOST_GPUS) {
            throw row.bad(GPUS, expected);
        }
        return gpus;
    }

    private static Map<String, String> labels(CsvRow row) {
        Map<String, String> labels = new TreeMap<>();
        row.pairs(LABELS).forEach((name, value) -> {
            if (!NAME.matcher(name).matches() || !VALUE.matcher(value).matches()) {
                throw row.bad(LABELS, "pairs such as {example.com/zone: east} in the syntax of Kubernetes");
            }
            labels.put(name, value);
        });
        domain(row, RACK, SimulatedTopology.RACK, labels);
        domain(row, NVLINK_DOMAIN, SimulatedTopology.NVLINK_DOMAIN, labels);
        return labels;
    }

    /** A domain is a label, which the labels may not have too. */
    private static void domain(CsvRow row, String field, String label, Map<String, String> labels) {
        String name = row.text(field);
        if (name.isEmpty()) {
            return;
        }
        if (!VALUE.matcher(name).matches()) {
            throw row.bad(field, "a name of letters, digits, '-', '_' and '.', at most 63");
        }
        if (labels.put(label, name) != null) {
            throw row.bad(field, "nothing, because labels has %s; leave one out".formatted(label));
        }
    }
}
