package io.lendstream.actuator;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The description of this actuator, to be published once after each start in each domain of its nodes. A dry run does
 * not describe itself, because it executes nothing.
 *
 * <p>An actuator that is to be forgotten is started once more with {@code actuator.nodes=none}. It has no node then, so
 * it gives up its former nodes in each domain that it covers.
 */
final class SelfDescription {
    private static final int NAMED = 5;

    private final ActuatorSettings settings;
    private final Set<DomainId> known = new HashSet<>();
    private final Set<DomainId> open = new TreeSet<>();
    private final Set<NodeId> others = new TreeSet<>();
    private boolean hasShapes;
    private boolean isWarned;

    SelfDescription(ActuatorSettings settings) {
        this.settings = settings;
    }

    /** A node of a domain that the actuator covers. */
    void know(Node node) {
        boolean isOurs = settings.scope().isAll() || settings.nodes().contains(node.nodeId()) || isLeaving();
        if (!isOurs) {
            others.add(node.nodeId());
        }
        if (isOurs && !settings.dryRun() && known.add(node.domain())) {
            open.add(node.domain());
        }
    }

    /** A service; if it declares shapes, only an actuator that describes itself is asked for its replicas. */
    void know(InferenceService service) {
        hasShapes |= service.plain().hasGroups();
    }

    private boolean isLeaving() {
        return settings.scope().isNone();
    }

    /**
     * Why this actuator has nothing to do, although there are nodes: no agent reports one by a name of its scope. It is
     * logged once.
     */
    Optional<String> mismatch() {
        if (isWarned || !known.isEmpty() || others.isEmpty() || settings.dryRun()) {
            return Optional.empty();
        }
        isWarned = true;
        return Optional.of(
                "no agent has reported %s; agents report %s. Set actuator.nodes to the name that the agent of this machine has (agent.node), or to all"
                        .formatted(settings.scope().inWords(), some(others)));
    }

    private static String some(Set<NodeId> nodes) {
        String names = nodes.stream().limit(NAMED).map(NodeId::value).collect(Collectors.joining(", "));
        return nodes.size() > NAMED ? "%s and %d more".formatted(names, nodes.size() - NAMED) : names;
    }

    /** The descriptions that have not been published. */
    List<ActuatorDescription> due(Instant now) {
        List<ActuatorDescription> due = new ArrayList<>();
        for (DomainId domain : open) {
            due.add(new ActuatorDescription(
                    settings.name(),
                    domain,
                    now,
                    settings.driver().name().toLowerCase(Locale.ROOT),
                    settings.nodes(),
                    isLeaving() ? Abilities.USUAL : settings.abilities()));
        }
        open.clear();
        return due;
    }

    /**
     * The same in an accelerated run. There only one actuator executes all decisions, so it describes itself only if
     * the scheduler has to know more than usual.
     */
    List<ActuatorDescription> dueIfUnusual(Instant now) {
        boolean isUsual = settings.scope().isAll() && settings.abilities().equals(Abilities.USUAL);
        return isUsual && !hasShapes ? List.of() : due(now);
    }
}
