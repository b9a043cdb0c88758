package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Which replicas of a service ran before Lendstream, by the decisions that put them where they are: its declaration may
 * have lost the selector meanwhile.
 */
public final class ReplicaOrigins {
    private static final int MOST_NAMES = 10;

    private final ServiceId service;
    private final Tenant tenant;
    private final SortedSet<GpuId> held = new TreeSet<>();
    /** Whether the present replica on a GPU was taken over. */
    private final Map<GpuId, Boolean> adopted = new HashMap<>();

    ReplicaOrigins(ServiceId service) {
        this.service = service;
        this.tenant = new Tenant.Service(service);
    }

    /**
     * Reads the leases and, if the service holds a GPU, the decisions.
     *
     * @param progress receives a line every two seconds while a topic is read
     */
    public static ReplicaOrigins read(Cluster cluster, ServiceId service, Consumer<String> progress) {
        ReplicaOrigins replicas = new ReplicaOrigins(service);
        TopicScan scan = new TopicScan(cluster, progress);
        scan.all(
                TopicCatalogue.LEASES,
                lease -> lease.value()
                        .ifPresentOrElse(replicas::take, () -> replicas.held.remove(new GpuId(lease.key()))));
        if (!replicas.held.isEmpty()) {
            scan.values(TopicCatalogue.DECISIONS, replicas::take);
        }
        return replicas;
    }

    void take(Lease lease) {
        if (lease.owner().holder().filter(tenant::equals).isPresent()) {
            held.add(lease.gpuId());
        } else {
            held.remove(lease.gpuId());
        }
    }

    /** Takes the next decision. A warm replica that serves again is the same process as before. */
    void take(Decision decision) {
        Action action = decision.action();
        if (decision.advisory()) {
            return;
        }
        action.asAdopt()
                .filter(adopt -> adopt.tenant().equals(tenant))
                .ifPresent(adopt -> adopt.gpus().forEach(gpu -> adopted.put(gpu, true)));
        action.asServe()
                .filter(serve -> !serve.warm() && tenant.equals(new Tenant.Service(serve.service())))
                .ifPresent(serve -> serve.gpus().forEach(gpu -> adopted.put(gpu, false)));
    }

    /** Why the service must not be stopped by mistake, with the way out; empty if it may be stopped. */
    public Optional<String> againstStop() {
        SortedSet<GpuId> taken = adopted();
        if (!taken.isEmpty()) {
            return Optional.of(
                    "service/%s has replicas on %s, which ran before Lendstream and were taken over: they would be stopped. Add --stop if they may be."
                            .formatted(service, some(taken)));
        }
        SortedSet<GpuId> older = unknown();
        return older.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        "service/%s has replicas on %s, of which topic decisions has no start, so they may have run before Lendstream: they would be stopped. Add --stop if they may be."
                                .formatted(service, some(older)));
    }

    private static String some(SortedSet<GpuId> gpus) {
        String first = gpus.stream().limit(MOST_NAMES).map(GpuId::value).collect(Collectors.joining(", "));
        return gpus.size() > MOST_NAMES ? "%s and %d more".formatted(first, gpus.size() - MOST_NAMES) : first;
    }

    /** Its GPUs whose replicas were taken over. */
    private SortedSet<GpuId> adopted() {
        SortedSet<GpuId> taken = new TreeSet<>(held);
        taken.removeIf(gpu -> !adopted.getOrDefault(gpu, false));
        return taken;
    }

    /** Its GPUs whose replicas are older than all decisions that the topic has. */
    private SortedSet<GpuId> unknown() {
        SortedSet<GpuId> older = new TreeSet<>(held);
        older.removeIf(adopted::containsKey);
        return older;
    }
}
