package io.lendstream.launcher;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The cluster that a workload is played on, and what makes files into a workload: options of replay and demo. */
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
            description =
                    "Training's nodes. Default: half; a replay with lending of a workload without inference: all.")
    private Optional<Integer> trainingNodes = Optional.empty();

    @Option(names = "--profiles", paramLabel = "DIR", description = "Training profiles, a directory an application.")
    private Optional<Path> profiles = Optional.empty();

    @Option(
            names = "--services",
            paramLabel = "FILE",
            description = "Makes request-rate series into services: a CSV with a line a service.")
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
            description = "Of all chance. Default: ${DEFAULT-VALUE}.")
    private long seed;

    void check(int mostNodes) {
        Bounds.check("--nodes", nodes, 2, mostNodes);
        Bounds.check("--gpus-per-node", gpusPerNode, 1, 64);
        Bounds.checkTrainingNodes(trainingNodes(), nodes);
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

    String listJobs() {
        return listJobs;
    }

    long seed() {
        return seed;
    }

    SimulatedNodes.Layout layout(String domain) {
        return new SimulatedNodes.Layout(new DomainId(domain), nodes, gpusPerNode, trainingNodes(), seed);
    }

    /** The layout for a workload that has no inference to borrow from: without another word, all nodes are training's. */
    SimulatedNodes.Layout layoutForTraining(String domain) {
        return new SimulatedNodes.Layout(new DomainId(domain), nodes, gpusPerNode, trainingNodes.orElse(nodes), seed);
    }

    Workload load(String workload, String domain) {
        try {
            return Workloads.load(workload, scene(domain));
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
    }

    Scene scene(String domain) {
        return new Scene(
                        new DomainId(domain),
                        Workload.EPOCH,
                        seed,
                        trainingNodes() * gpusPerNode,
                        (nodes - trainingNodes()) * gpusPerNode,
                        profiles,
                        services,
                        false)
                .withListJobs(listJobs);
    }
}
