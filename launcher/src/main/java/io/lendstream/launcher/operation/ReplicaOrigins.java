package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    /** Those of its GPUs that a driver chose: such drivers take nothing over, and a decision may name another GPU. */
    private final Set<GpuId> chosenByDriver = new HashSet<>();

    private final Map<GpuId, Origin> origins = new HashMap<>();

    /** How the newest replica on a GPU began. */
    private record Origin(boolean isAdopted, DecisionId decision) {}

    ReplicaOrigins(ServiceId service) {
        this.service = service;
        this.tenant = new Tenant.Service(service);
    }

    /**
     * Reads the leases and, if the service holds or claims a GPU, the decisions.
     *
     * @param progress receives a line every two seconds while a topic is read
     */
    public static ReplicaOrigins read(Cluster cluster, InferenceService service, Consumer<String> progress) {
        ReplicaOrigins replicas = new ReplicaOrigins(service.service());
        TopicScan scan = new TopicScan(cluster, progress);
        replicas.readLeases(scan);
        if (!replicas.held.isEmpty() || service.adopt().isPresent()) {
            scan.values(TopicCatalogue.DECISIONS, replicas::take);
            replicas.readLeases(scan); // what was taken over meanwhile has no decision that was read
        }
        return replicas;
    }

    private void readLeases(TopicScan scan) {
        scan.all(
                TopicCatalogue.LEASES,
                lease -> lease.value().ifPresentOrElse(this::take, () -> held.remove(new GpuId(lease.key()))));
    }

    void take(Lease lease) {
        chosenByDriver.remove(lease.gpuId());
        lease.slot().ifPresent(any -> chosenByDriver.add(lease.gpuId()));
        if (lease.owner().holder().filter(tenant::equals).isPresent()) {
            held.add(lease.gpuId());
        } else {
            held.remove(lease.gpuId());
        }
    }

    /**
     * Takes the next decision. A warm replica that serves again is the same process as before. A scheduler that is
     * replaced may write decisions that actuators ignore.
     */
    void take(Decision decision) {
        Action action = decision.action();
        if (decision.advisory()) {
            return;
        }
        action.asAdopt()
                .filter(adopt -> adopt.tenant().equals(tenant))
                .ifPresent(adopt -> began(adopt.gpus(), new Origin(true, decision.id())));
        action.asServe()
                .filter(serve -> !serve.warm() && tenant.equals(new Tenant.Service(serve.service())))
                .ifPresent(serve -> began(serve.gpus(), new Origin(false, decision.id())));
    }

    private void began(List<GpuId> gpus, Origin origin) {
        gpus.forEach(gpu -> origins.merge(
                gpu, origin, (known, next) -> next.decision.compareTo(known.decision) > 0 ? next : known));
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
        taken.removeIf(gpu -> !origins.containsKey(gpu) || !origins.get(gpu).isAdopted);
        return taken;
    }

    /** Its GPUs whose replicas are older than all decisions that the topic has. */
    private SortedSet<GpuId> unknown() {
        SortedSet<GpuId> older = new TreeSet<>(held);
        older.removeIf(gpu -> origins.containsKey(gpu) || chosenByDriver.contains(gpu));
        return older;
    }
}
