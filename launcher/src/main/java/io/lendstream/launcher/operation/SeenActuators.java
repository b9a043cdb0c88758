package io.lendstream.launcher.operation;

import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ActuatorScopes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Actuators as they describe themselves, by domain and name, and the nodes that two of them claim. */
final class SeenActuators {
    private final NavigableMap<DomainId, NavigableMap<String, ActuatorDescription>> actuators = new TreeMap<>();
    private final NavigableMap<DomainId, SortedSet<NodeId>> nodes = new TreeMap<>();

    /** Services that declare shapes, by domain. */
    private final NavigableMap<DomainId, SortedSet<ServiceId>> shaped = new TreeMap<>();

    void tell(Event event) {
        event.asDescription().ifPresent(this::take);
        event.asNode().ifPresent(this::take);
    }

    void take(ActuatorDescription description) {
        actuators
                .computeIfAbsent(description.domain(), any -> new TreeMap<>())
                .merge(description.actuator(), description, SeenActuators::newer);
    }

    void take(Node node) {
        nodes.computeIfAbsent(node.domain(), any -> new TreeSet<>()).add(node.nodeId());
    }

    void take(InferenceService service) {
        SortedSet<ServiceId> theirs = shaped.computeIfAbsent(service.domain(), any -> new TreeSet<>());
        if (service.plain().hasGroups() && !service.removed()) {
            theirs.add(service.service());
        } else {
            theirs.remove(service.service());
        }
    }

    private static ActuatorDescription newer(ActuatorDescription one, ActuatorDescription other) {
        Instant at = other.at();
        return at.isBefore(one.at()) ? one : other;
    }

    /** All descriptions. */
    List<ActuatorDescription> all() {
        return actuators.values().stream()
                .map(NavigableMap::values)
                .flatMap(Collection::stream)
                .toList();
    }

    /** A line for each actuator. */
    List<String> lines() {
        return all().stream().map(SeenActuators::line).toList();
    }

    private static String line(ActuatorDescription actuator) {
        return "%-20s domain %s, driver %s, %s: %s"
                .formatted(
                        actuator.actuator(),
                        actuator.domain(),
                        actuator.driver(),
                        actuator.nodes().isEmpty()
                                ? "all nodes"
                                : "nodes "
                                        + actuator.nodes().stream()
                                                .map(NodeId::value)
                                                .collect(Collectors.joining(",")),
                        actuator.abilities().inWords());
    }

    /** A line for each node that two actuators claim. */
    List<String> disputes() {
        List<String> disputes = new ArrayList<>();
        actuators.forEach((domain, theirs) -> {
            ActuatorScopes scopes = ActuatorScopes.of(theirs.values());
            for (NodeId node : nodes.getOrDefault(domain, new TreeSet<>())) {
                scopes.dispute(node).ifPresent(disputes::add);
            }
        });
        return disputes;
    }

    /** Services with shapes in domains without an actuator that has described itself. */
    private List<ServiceId> waiting() {
        List<ServiceId> waiting = new ArrayList<>();
        shaped.forEach((domain, services) -> {
            if (!actuators.containsKey(domain)) {
                waiting.addAll(services);
            }
        });
        return waiting;
    }

    /** Whether each node has one actuator, as far as actuators have described themselves. */
    Finding finding() {
        List<String> disputes = disputes();
        if (!disputes.isEmpty()) {
            return Finding.fail(
                    "scopes",
                    Diagnosis.some(disputes, Function.identity()),
                    "set actuator.nodes of each actuator so that no node has two, and restart it. These nodes get no new jobs and replicas until then. To forget an actuator that was removed, start it once more under its name with actuator.nodes=none");
        }
        List<ServiceId> waiting = waiting();
        if (!waiting.isEmpty()) {
            return Finding.warn(
                    "scopes",
                    "services have shapes, and no actuator of their domain has described itself: "
                            + Diagnosis.some(waiting, ServiceId::value),
                    "start actuators of this version; the scheduler starts replicas of several GPUs only through actuators that have described themselves");
        }
        List<ActuatorDescription> known = all();
        return Finding.ok(
                "scopes",
                known.isEmpty()
                        ? "no actuator has described itself; each node may be used by any"
                        : known.stream()
                                .map(actuator -> "%s (%s)".formatted(actuator.actuator(), actuator.driver()))
                                .collect(Collectors.joining(", ", "no node has two actuators: ", "")));
    }
}
