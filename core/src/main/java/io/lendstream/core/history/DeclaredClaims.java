package io.lendstream.core.history;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.NodeState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** Whether actuators have looked for what a job or service claims, since it has declared so. */
final class DeclaredClaims {
    /** A look that ends so soon may have begun before its actuator had read the declaration. */
    private static final Duration READING = Duration.ofSeconds(5);

    /**
     * After so long a look is not waited for: an actuator that finds nothing does not say so on a node where another
     * one has found something before.
     */
    private static final Duration WAITING = Duration.ofMinutes(5);

    /** When the newest declaration with a selector was taken, of those that the replayed events have. */
    private final Map<Tenant, Instant> declared = new HashMap<>();

    void take(DomainEvent event) {
        event.event()
                .asJob()
                .filter(job -> job.adopt().isPresent())
                .ifPresent(job -> declared.put(new Tenant.Job(job.job()), event.at()));
        event.event()
                .asService()
                .filter(service -> service.adopt().isPresent())
                .ifPresent(service -> declared.put(new Tenant.Service(service.service()), event.at()));
    }

    /** @param now the time of the last event */
    SortedSet<NodeId> unlooked(Tenant tenant, ClusterEntities entities, Instant now) {
        Instant since = declaredAt(tenant, entities);
        SortedSet<NodeId> unlooked = new TreeSet<>();
        if (now.minus(WAITING).isAfter(since)) {
            return unlooked;
        }
        for (NodeState node : entities.nodes().values()) {
            NodeId id = node.node().nodeId();
            Optional<Instant> looked = node.findings().map(Findings::at);
            boolean isLookedAt = looked.isPresent() || isWatched(id, entities);
            if (isLookedAt && looked.filter(since.plus(READING)::isBefore).isEmpty()) {
                unlooked.add(id);
            }
        }
        return unlooked;
    }

    private Instant declaredAt(Tenant tenant, ClusterEntities entities) {
        return Optional.ofNullable(declared.get(tenant))
                .or(() -> tenant.jobId()
                        .flatMap(entities.jobs()::get)
                        .map(job -> job.spec().submittedAt()))
                .or(() -> tenant.serviceId()
                        .flatMap(entities.services()::get)
                        .map(service -> service.spec().at()))
                .orElse(Instant.MIN);
    }

    private static boolean isWatched(NodeId node, ClusterEntities entities) {
        for (ActuatorDescription actuator : entities.actuators().values()) {
            List<NodeId> nodes = actuator.nodes();
            if (actuator.looksForProcesses() && (nodes.isEmpty() || nodes.contains(node))) {
                return true;
            }
        }
        return false;
    }
}
