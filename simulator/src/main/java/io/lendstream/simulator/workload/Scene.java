package io.lendstream.simulator.workload;

import io.lendstream.core.id.DomainId;
import java.nio.file.Path;
import java.time.Instant;
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
 */
public record Scene(
        DomainId domain,
        Instant start,
        long seed,
        int trainingGpus,
        int inferenceGpus,
        Optional<Path> profiles,
        Optional<Path> services,
        boolean elasticLists) {
    public static Scene of(DomainId domain, long seed, int trainingGpus, int inferenceGpus) {
        return new Scene(
                domain, Workload.EPOCH, seed, trainingGpus, inferenceGpus, Optional.empty(), Optional.empty(), false);
    }

    public Scene withProfiles(Path directory) {
        return new Scene(
                domain, start, seed, trainingGpus, inferenceGpus, Optional.of(directory), services, elasticLists);
    }

    public Scene withServices(Path file) {
        return new Scene(domain, start, seed, trainingGpus, inferenceGpus, profiles, Optional.of(file), elasticLists);
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
        return new Scene(domain, start, seed, trainingGpus, inferenceGpus, profiles, services, elastic);
    }
}
