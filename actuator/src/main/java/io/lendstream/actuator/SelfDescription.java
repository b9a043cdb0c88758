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
import java.util.Set;
import java.util.TreeSet;

/**
 * The description of this actuator, to be published once after each start in each domain of its nodes. A dry run does
 * not describe itself, because it executes nothing.
 *
 * <p>An actuator that is to be forgotten is started once more with {@code actuator.nodes=none}. It has no node then, so
 * it gives up its former nodes in each domain that it covers.
 */
final class SelfDescription {
    private static final List<NodeId> NO_NODES = List.of(new NodeId("none"));

    private final ActuatorSettings settings;
    private final Set<DomainId> known = new HashSet<>();
    private final Set<DomainId> open = new TreeSet<>();
    private boolean hasShapes;

    SelfDescription(ActuatorSettings settings) {
        this.settings = settings;
    }

    /** A node of a domain that the actuator covers. */
    void know(Node node) {
        boolean isOurs = settings.nodes().isEmpty() || settings.nodes().contains(node.nodeId()) || isLeaving();
        if (isOurs && !settings.dryRun() && known.add(node.domain())) {
            open.add(node.domain());
        }
    }

    /** A service; if it declares shapes, only an actuator that describes itself is asked for its replicas. */
    void know(InferenceService service) {
        hasShapes |= service.plain().hasGroups();
    }

    private boolean isLeaving() {
        return settings.nodes().equals(NO_NODES);
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
        boolean isUsual = settings.nodes().isEmpty() && settings.abilities().equals(Abilities.USUAL);
        return isUsual && !hasShapes ? List.of() : due(now);
    }
}
