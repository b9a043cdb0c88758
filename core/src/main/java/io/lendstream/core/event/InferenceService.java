package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The declaration of an inference service.
 *
 * @param models the models it serves, for batch and MIG plans
 * @param slo the latency it promises, at the 99th percentile
 * @param replicaCapacityPerSecond requests that one replica answers within the SLO; a replica holds one GPU
 * @param replicaConcurrency requests that one replica runs at a time, where that is what limits it
 * @param floorReplicas replicas that are kept whatever the demand
 * @param warmUp from the decision to a replica that answers
 * @param sliceMemoryBytes memory that one replica needs, at any batch that it has run; where it says so, it may be
 *     planned onto MIG instances with as much, and otherwise only onto those with as much as it has run in
 * @param queue the queue whose quota its replicas count in; without one it has no quota
 */
public record InferenceService(
        ServiceId service,
        DomainId domain,
        Instant at,
        List<String> models,
        Duration slo,
        double replicaCapacityPerSecond,
        Optional<Integer> replicaConcurrency,
        int floorReplicas,
        Duration warmUp,
        Optional<Long> sliceMemoryBytes,
        Optional<QueueId> queue)
        implements Event {
    public InferenceService {
        models = List.copyOf(models);
        if (!(replicaCapacityPerSecond > 0) || Double.isInfinite(replicaCapacityPerSecond)) {
            throw new IllegalArgumentException(
                    "replicaCapacityPerSecond of %s must be a finite number above 0, but was %s"
                            .formatted(service, replicaCapacityPerSecond));
        }
        replicaConcurrency.ifPresent(requests -> Checks.atLeast("replicaConcurrency", 1, requests));
        Checks.atLeast("floorReplicas", 0, floorReplicas);
        Checks.atLeast("warmUp in milliseconds", 0, Limits.millis(warmUp));
        sliceMemoryBytes.ifPresent(bytes -> Checks.atLeast("sliceMemoryBytes", 1, bytes));
    }

    /** A service without a declared memory need. */
    public InferenceService(
            ServiceId service,
            DomainId domain,
            Instant at,
            List<String> models,
            Duration slo,
            double replicaCapacityPerSecond,
            Optional<Integer> replicaConcurrency,
            int floorReplicas,
            Duration warmUp) {
        this(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                Optional.empty());
    }

    /** A service without a queue. */
    public InferenceService(
            ServiceId service,
            DomainId domain,
            Instant at,
            List<String> models,
            Duration slo,
            double replicaCapacityPerSecond,
            Optional<Integer> replicaConcurrency,
            int floorReplicas,
            Duration warmUp,
            Optional<Long> sliceMemoryBytes) {
        this(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                sliceMemoryBytes,
                Optional.empty());
    }

    /** The same service under another name. */
    public InferenceService named(ServiceId other) {
        return new InferenceService(
                other,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                sliceMemoryBytes,
                queue);
    }

    /** The same where a replica needs so much memory. */
    public InferenceService onSlicesOf(long bytes) {
        return new InferenceService(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                Optional.of(bytes),
                queue);
    }

    /** The same service in a queue. */
    public InferenceService in(QueueId other) {
        return new InferenceService(
                service,
                domain,
                at,
                models,
                slo,
                replicaCapacityPerSecond,
                replicaConcurrency,
                floorReplicas,
                warmUp,
                sliceMemoryBytes,
                Optional.of(other));
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.service(this);
    }
}
