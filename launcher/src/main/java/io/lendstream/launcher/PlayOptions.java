package io.lendstream.launcher;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedGpu;
import io.lendstream.core.simulated.SimulatedGroup;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.simulated.SimulatedTopology;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.WorkloadCluster;
import io.lendstream.simulator.workload.WorkloadGroups;
import io.lendstream.simulator.workload.Workloads;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** Options of replay and demo: the cluster that a workload is played on, and how files become a workload. */
final class PlayOptions {
    @Option(names = "--nodes", paramLabel = "N", defaultValue = "16", description = "Nodes. Default: ${DEFAULT-VALUE}.")
    private int nodes;

    @Option(
            names = "--gpus-per-node",
            paramLabel = "G",
            defaultValue = "4",
            description = "GPUs of each. Default: ${DEFAULT-VALUE}.")
    private int gpusPerNode;

    @Option(
            names = "--training-nodes",
            paramLabel = "T",
            description = "Training's nodes. Default: half, but all in a replay of a workload without inference.")
    private Optional<Integer> trainingNodes = Optional.empty();

    @Option(names = "--profiles", paramLabel = "DIR", description = "Training profiles, a directory an application.")
    private Optional<Path> profiles = Optional.empty();

    @Option(
            names = "--services",
            paramLabel = "FILE",
            description =
                    "Makes request-rate series into services: a CSV with a line a service, also with kinds, or with replicas of "
                            + "several GPUs.")
    private Optional<Path> services = Optional.empty();

    @Option(
            names = "--list-jobs",
            paramLabel = "KIND",
            defaultValue = "rigid",
            description = {
                "How lists of jobs without profiles are played: rigid, on the GPUs of the list for the time of the list, or "
                        + "elastic, by Amdahl's law with a serial tenth.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String listJobs = "rigid";

    @Option(
            names = "--seed",
            paramLabel = "S",
            defaultValue = "1",
            description = "Seed of all random draws. Default: ${DEFAULT-VALUE}.")
    private long seed;

    /** How many nodes have each product; empty if all are alike. */
    private Map<SimulatedGpu, Integer> kinds = Map.of();

    private SimulatedTopology topology = SimulatedTopology.NONE;

    /** The nodes, if they are described in groups. */
    private List<SimulatedGroup> groups = List.of();

    /** Where the number of training nodes comes from, for errors about it. */
    private String trainingNodesName = "--training-nodes";

    /** Gives the nodes their products; there are as many nodes as these counts in sum. */
    void kinds(Map<SimulatedGpu, Integer> counts) {
        kinds = counts;
        nodes = counts.values().stream().mapToInt(count -> count).sum();
    }

    /** Gives the nodes by groups; there are as many as in these. */
    private void groups(WorkloadGroups own, ParseResult given) {
        List<String> refused = own.trainingNodes().isPresent()
                ? List.of("--nodes", "--gpus-per-node", "--training-nodes")
                : List.of("--nodes", "--gpus-per-node");
        for (String option : refused) {
            if (given.hasMatchedOption(option)) {
                throw UserError.badUsage(
                        "%s must be left out, because nodeGroups in the section cluster describe the nodes; change them, or give other nodes with --kinds."
                                .formatted(option));
            }
        }
        groups = own.groups();
        SimulatedNodes.Layout layout = layout("groups", seed, 0);
        nodes = layout.nodes();
        gpusPerNode = layout.gpusPerNode();
    }

    /** Takes the numbers of a workload's own nodes, where the command line has none. */
    void cluster(WorkloadCluster own, ParseResult given) {
        if (!given.hasMatchedOption("--nodes") && !given.hasMatchedOption("--kinds")) {
            nodes = own.nodes().orElse(nodes);
        }
        if (!given.hasMatchedOption("--gpus-per-node")) {
            gpusPerNode = own.gpusPerNode().orElse(gpusPerNode);
        }
        boolean areReplaced =
                given.hasMatchedOption("--kinds") && !own.groups().groups().isEmpty();
        if (!given.hasMatchedOption("--training-nodes") && !areReplaced) {
            trainingNodes = own.trainingNodes();
            trainingNodesName =
                    own.trainingNodes().isPresent() ? "trainingNodes in the section cluster" : trainingNodesName;
        }
        if (!own.groups().groups().isEmpty() && !areReplaced) {
            groups(own.groups(), given);
            trainingNodesName = own.groups().trainingNodes().isPresent()
                    ? "the sum of nodes of the pool training in nodeGroups"
                    : trainingNodesName;
        }
    }

    /** Puts the nodes into racks and NVLink domains. */
    void topology(SimulatedTopology other) {
        topology = other;
    }

    void check(int mostNodes) {
        checkSize(mostNodes);
        checkTrainingNodes();
    }

    private void checkTrainingNodes() {
        Bounds.checkTrainingNodes(trainingNodesName, trainingNodes(), nodes);
    }

    /**
     * The same, but training may have all nodes; {@code load} refuses that if the workload has services.
     *
     * @param published whether a published simulator plays the workload; then training may not have all nodes
     */
    void checkForReplay(int mostNodes, boolean published) {
        if (published) {
            check(mostNodes);
            return;
        }
        checkSize(mostNodes);
        Bounds.check(trainingNodesName, trainingNodes(), 1, nodes);
    }

    private void checkSize(int mostNodes) {
        String name = groups.isEmpty() ? "--nodes" : "the sum of nodes in nodeGroups";
        Bounds.check(kinds.isEmpty() ? name : "the sum of nodes in --kinds", nodes, 2, mostNodes);
        Bounds.check("--gpus-per-node", gpusPerNode, 1, 64);
    }

    int nodes() {
        return nodes;
    }

    int gpusPerNode() {
        return gpusPerNode;
    }

    int trainingNodes() {
        return trainingNodes.orElse(nodes / 2);
    }

    Optional<Path> profiles() {
        return profiles;
    }

    long seed() {
        return seed;
    }

    SimulatedNodes.Layout layout(String domain) {
        return layout(domain, seed, trainingNodes());
    }

    /** The layout with training's nodes as for a workload with inference services. */
    SimulatedNodes.Layout layout(String domain, long ownSeed) {
        return layout(domain, ownSeed, trainingNodes());
    }

    /**
     * The layout for a workload without inference services: all nodes are training's unless the options say otherwise.
     */
    SimulatedNodes.Layout layoutForTraining(String domain, long ownSeed) {
        return layout(domain, ownSeed, trainingNodes.orElse(nodes));
    }

    /** The layout in which all nodes are training's. */
    SimulatedNodes.Layout layoutOfTraining(String domain, long ownSeed) {
        return layout(domain, ownSeed, nodes);
    }

    private SimulatedNodes.Layout layout(String domain, long ownSeed, int training) {
        SimulatedNodes.Layout layout =
                new SimulatedNodes.Layout(new DomainId(domain), nodes, gpusPerNode, training, ownSeed).with(topology);
        return groups.isEmpty() ? layout.withKinds(kinds) : layout.withGroups(groups);
    }

    /** The options of a report: four of the cluster, and those that say how files become a workload. */
    List<RunFacts.Parameter> parameters(String workload, String afe) {
        List<RunFacts.Parameter> parameters = new ArrayList<>(List.of(
                new RunFacts.Parameter("workload", workload),
                new RunFacts.Parameter("nodes", String.valueOf(nodes)),
                new RunFacts.Parameter(
                        "GPUs per node", groups.isEmpty() ? String.valueOf(gpusPerNode) : gpusOfGroups()),
                new RunFacts.Parameter("AFE", afe)));
        services.ifPresent(
                file -> parameters.add(new RunFacts.Parameter("services", String.valueOf(file.getFileName()))));
        profiles.ifPresent(
                folder -> parameters.add(new RunFacts.Parameter("profiles", String.valueOf(folder.getFileName()))));
        parameters.add(new RunFacts.Parameter("jobs of lists", listJobs));
        return parameters;
    }

    /** Such as {@code 4, 8}. */
    private String gpusOfGroups() {
        return groups.stream()
                .map(SimulatedGroup::gpusPerNode)
                .distinct()
                .sorted()
                .map(String::valueOf)
                .collect(Collectors.joining(", "));
    }

    Workload load(String workload, String domain) {
        return load(workload, domain, seed, scene -> scene);
    }

    /** The same for a replay, whose nodes are known: lists may name only their kinds of GPU. */
    Workload load(String workload, String domain, long ownSeed) {
        return load(
                workload,
                domain,
                ownSeed,
                scene -> scene.onNodesOf(layout(domain, ownSeed).products()));
    }

    private Workload load(String workload, String domain, long ownSeed, UnaryOperator<Scene> onNodes) {
        Workload loaded;
        try {
            loaded = Workloads.load(workload, onNodes.apply(scene(domain, ownSeed)));
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
        if (!loaded.loads().isEmpty()) {
            checkTrainingNodes();
        }
        return loaded;
    }

    Scene scene(String domain) {
        return scene(domain, seed);
    }

    private Scene scene(String domain, long ownSeed) {
        // Workloads with services are made to fit inference GPUs, even if the options are refused afterwards.
        int training = Math.min(trainingNodes(), nodes - 1);
        return new Scene(
                        new DomainId(domain),
                        Workload.EPOCH,
                        ownSeed,
                        gpus(0, training),
                        gpus(training, nodes),
                        profiles,
                        services,
                        false)
                .withListJobs(listJobs);
    }

    /** The GPUs of the nodes from one number up to another. */
    private int gpus(int from, int to) {
        return groups.isEmpty()
                ? (to - from) * gpusPerNode
                : layout("scene", seed, 0).gpusByNode().subList(from, to).stream()
                        .flatMap(node -> node.values().stream())
                        .mapToInt(count -> count)
                        .sum();
    }
}
