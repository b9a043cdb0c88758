package io.lendstream.core.event;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.List;

/**
 * An actuator's description of itself: the nodes whose decisions it executes, and what its driver can do.
 *
 * @param actuator its name in reports
 * @param driver the kind of its driver, such as {@code process}
 * @param nodes its nodes; empty for all nodes of the domain
 */
public record ActuatorDescription(
        String actuator,
        DomainId domain,
        Instant at,
        String driver,
        List<NodeId> nodes,
        @Flat Abilities abilities) implements Event {
    public ActuatorDescription {
        nodes = List.copyOf(nodes);
        if (actuator.isEmpty()) {
            throw new IllegalArgumentException("an actuator must have a name, but its name is empty");
        }
    }

    /** Whether it looks for processes that run already. */
    public boolean looksForProcesses() {
        return driver.equals("process");
    }

    /** Whether it starts processes on one machine only. */
    public boolean isOfOneMachine() {
        return looksForProcesses() && nodes.size() == 1;
    }

    /** Whether another description says the same at another time. */
    public boolean repeats(ActuatorDescription other) {
        return actuator.equals(other.actuator)
                && domain.equals(other.domain)
                && driver.equals(other.driver)
                && nodes.equals(other.nodes)
                && abilities.equals(other.abilities);
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.actuatorDescription(this);
    }
}
