package io.lendstream.simulator.workload;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedGpu;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The setting of a workload: its domain and start, and the size of the cluster that generators fit it to.
 *
 * @param trainingGpus GPUs of the training pool
 * @param inferenceGpus GPUs of the inference pool
 * @param profiles directory with training profiles, a directory an application
 * @param services file that makes request-rate series into services
 * @param elasticLists whether jobs of lists that know no profiles may change their GPUs; they keep to those of the list
 *     else
 * @param products the products of the nodes' GPUs, each once; empty if the nodes are not known
 */
public record Scene(
        DomainId domain,
        Instant start,
        long seed,
        int trainingGpus,
        int inferenceGpus,
        Optional<Path> profiles,
        Optional<Path> services,
        boolean elasticLists,
        List<SimulatedGpu> products) {
    public Scene {
        products = List.copyOf(products);
    }

    /** A setting on nodes that are not known. */
    public Scene(
            DomainId domain,
            Instant start,
            long seed,
            int trainingGpus,
            int inferenceGpus,
            Optional<Path> profiles,
            Optional<Path> services,
            boolean elasticLists) {
        this(domain, start, seed, trainingGpus, inferenceGpus, profiles, services, elasticLists, List.of());
    }

    public static Scene of(DomainId domain, long seed, int trainingGpus, int inferenceGpus) {
        return new Scene(
                domain, Workload.EPOCH, seed, trainingGpus, inferenceGpus, Optional.empty(), Optional.empty(), false);
    }

    public Scene withProfiles(Path directory) {
        return new Scene(
                domain,
                start,
                seed,
                trainingGpus,
                inferenceGpus,
                Optional.of(directory),
                services,
                elasticLists,
                products);
    }

    public Scene withServices(Path file) {
        return new Scene(
                domain, start, seed, trainingGpus, inferenceGpus, profiles, Optional.of(file), elasticLists, products);
    }

    /**
     * The same with jobs of lists as they were asked for.
     *
     * @param kind {@code rigid} or {@code elastic}
     */
    public Scene withListJobs(String kind) {
        return switch (kind) {
            case "rigid" -> withElasticLists(false);
            case "elastic" -> withElasticLists(true);
            default ->
                throw new IllegalArgumentException(
                        "--list-jobs is '%s', but must be rigid or elastic.".formatted(kind));
        };
    }

    public Scene withElasticLists(boolean elastic) {
        return new Scene(domain, start, seed, trainingGpus, inferenceGpus, profiles, services, elastic, products);
    }

    /** The same on nodes with GPUs of these products; lists may name no others. */
    public Scene onNodesOf(Collection<SimulatedGpu> others) {
        return new Scene(
                domain,
                start,
                seed,
                trainingGpus,
                inferenceGpus,
                profiles,
                services,
                elasticLists,
                others.stream().distinct().sorted().toList());
    }
}
