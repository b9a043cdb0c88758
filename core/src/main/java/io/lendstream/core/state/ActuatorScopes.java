package io.lendstream.core.state;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.persistent.PersistentMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Which actuator executes decisions about which node, by the descriptions of the actuators. */
public final class ActuatorScopes {
    /** Without descriptions: each actuator may do everything everywhere. */
    static final ActuatorScopes NONE = new ActuatorScopes(List.of());

    private final List<ActuatorDescription> ofDomain = new ArrayList<>();
    /** Those that name nodes, with those of the whole domain. */
    private final Map<NodeId, List<ActuatorDescription>> byNode = new HashMap<>();

    private final boolean isEmpty;
    private final boolean areSeveral;
    private final boolean hasBundles;
    private final boolean hasSlots;
    private final boolean restricts;

    private ActuatorScopes(Iterable<ActuatorDescription> descriptions) {
        boolean none = true;
        boolean several = false;
        boolean bundles = false;
        boolean single = false;
        boolean slots = false;
        boolean unchosen = false;
        for (ActuatorDescription each : descriptions) {
            several |= !none;
            none = false;
            bundles |= each.abilities().lendsBundles();
            single |= !each.abilities().spansNodes();
            slots |= !each.abilities().choosesUnits();
            unchosen |= !each.abilities().choosesNodes();
            if (each.nodes().isEmpty()) {
                ofDomain.add(each);
            }
            for (NodeId node : each.nodes()) {
                List<ActuatorDescription> known = byNode.computeIfAbsent(node, any -> new ArrayList<>());
                if (!known.contains(each)) {
                    known.add(each);
                }
            }
        }
        byNode.values().forEach(named -> named.addAll(ofDomain));
        this.isEmpty = none;
        this.areSeveral = several;
        this.hasBundles = bundles;
        this.hasSlots = slots;
        this.restricts = bundles
                || single
                || unchosen
                || ofDomain.size() > 1
                || byNode.values().stream().anyMatch(named -> named.size() > 1);
    }

    /** The scopes by some descriptions, in the order of their names. */
    public static ActuatorScopes of(Iterable<ActuatorDescription> descriptions) {
        return new ActuatorScopes(descriptions);
    }

    /** Whether no actuator has described itself. */
    public boolean isEmpty() {
        return isEmpty;
    }

    /** Whether several actuators have described themselves. */
    public boolean areSeveral() {
        return areSeveral;
    }

    /** Whether some actuator lends whole nodes only. */
    public boolean hasBundles() {
        return hasBundles;
    }

    /** Whether the driver of some actuator does not choose units. */
    public boolean hasSlots() {
        return hasSlots;
    }

    /** Whether the name of a unit of a node stands for any like it, because the driver there does not choose units. */
    public boolean namesSlots(NodeId node) {
        return hasSlots && !abilities(node).choosesUnits();
    }

    /**
     * Whether plans have to look at abilities: two actuators claim a node, or one lends whole nodes only, does not run
     * jobs on several nodes, or cannot start a tenant on a chosen node.
     */
    public boolean restricts() {
        return restricts;
    }

    /**
     * The units that a unit is lent and taken back with, such as {@code node n1}; empty if it is lent alone.
     *
     * @param nodes the nodes of the domain, whose labels name their groups
     */
    Optional<String> bundle(GpuState unit, PersistentMap<NodeId, NodeState> nodes) {
        if (!hasBundles || unit.pool() != Pool.INFERENCE) {
            return Optional.empty();
        }
        return only(unit.nodeId())
                .filter(actuator -> actuator.abilities().lendsBundles())
                .map(actuator -> actuator.abilities().granularity() == Granularity.NODE
                        ? "node " + unit.nodeId()
                        : group(actuator, nodes.get(unit.nodeId())));
    }

    /**
     * A group of nodes. Nodes without the label are one group, because nothing says that they may be lent apart.
     *
     * @param node empty if the node has left
     */
    private static String group(ActuatorDescription actuator, Optional<NodeState> node) {
        String group = actuator.abilities()
                .groupLabel()
                .map(label -> node.flatMap(known -> Optional.ofNullable(
                                known.node().facts().labels().get(label)))
                        .map(value -> " %s=%s".formatted(label, value))
                        .orElse(" without label " + label))
                .orElse("");
        return "node group%s of actuator %s".formatted(group, actuator.actuator());
    }

    /** The actuators that claim a node; by name, those that name it before those of the whole domain. */
    public List<ActuatorDescription> of(NodeId node) {
        return byNode.getOrDefault(node, ofDomain);
    }

    /** Whether two actuators claim a node, so that neither may be asked to change anything there. */
    public boolean isDisputed(NodeId node) {
        return !isEmpty && of(node).size() > 1;
    }

    /** The actuators that claim a node, and the way out, as text; empty if fewer than two do. */
    public Optional<String> dispute(NodeId node) {
        return isDisputed(node)
                ? Optional.of("actuators %s both claim node %s; set actuator.nodes of each"
                        .formatted(
                                of(node).stream()
                                        .map(ActuatorDescription::actuator)
                                        .collect(Collectors.joining(" and ")),
                                node))
                : Optional.empty();
    }

    /** Whether no tenant can start on a node: two actuators claim it, or its driver does not choose where. */
    public boolean isClosed(NodeId node) {
        return isDisputed(node) || !abilities(node).choosesNodes();
    }

    /** The only actuator of a node; empty if none has described itself, or several claim it. */
    public Optional<ActuatorDescription> only(NodeId node) {
        List<ActuatorDescription> all = isEmpty ? List.of() : of(node);
        return all.size() == 1 ? Optional.of(all.get(0)) : Optional.empty();
    }

    /** What can be done on a node: everything that is usual where no actuator has described itself. */
    public Abilities abilities(NodeId node) {
        return only(node).map(ActuatorDescription::abilities).orElse(Abilities.USUAL);
    }

    /**
     * Whether a replica of a service may have units of a node together with those of others. An actuator of one machine
     * starts each replica on this machine, although jobs may span several.
     */
    public boolean spansReplicas(NodeId node) {
        return abilities(node).spansNodes()
                && only(node).filter(ActuatorDescription::isOfOneMachine).isEmpty();
    }

    /** The same scopes follow from the same descriptions. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ActuatorScopes scopes
                && ofDomain.equals(scopes.ofDomain)
                && byNode.equals(scopes.byNode);
    }

    @Override
    public int hashCode() {
        return 31 * ofDomain.hashCode() + byNode.hashCode();
    }

    @Override
    public String toString() {
        return "ActuatorScopes[ofDomain=%s, byNode=%s]".formatted(ofDomain, byNode);
    }
}
