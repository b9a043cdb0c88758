package io.lendstream.core.scheduler;

import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.EmptyReports;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import java.time.Instant;
import java.util.Optional;

/**
 * What actuators report about the users of a foreign unit: whether they still run. Only some drivers look for what
 * runs on their nodes, and only while a selector is declared; elsewhere the reports of agents are enough.
 */
record FoundUsers(StepBuilder builder, UserRules rules) {
    /**
     * The use of a unit that agents show as unused, if an actuator still finds one of its users, and agents show that
     * user nowhere else on the node; looked at again as late as if it had been seen now.
     */
    Optional<ForeignUse> lasting(GpuState unit, ForeignUse use) {
        if (!rules.remembers()) {
            return Optional.empty();
        }
        Instant again = builder.now().plus(rules.goneAfter());
        return builder.nodes()
                .get(unit.nodeId())
                .flatMap(NodeState::findings)
                .filter(found -> !found.at().plus(EmptyReports.LONGEST_GAP).isBefore(builder.now()))
                .filter(found -> use.users().stream().anyMatch(user -> has(found, user) && !isElsewhere(unit, user)))
                .map(found -> use.stillFound(found.actuator(), again));
    }

    private static boolean has(Findings found, String user) {
        return found.seen().stream().anyMatch(seen -> seen.what().user().equals(user));
    }

    private boolean isElsewhere(GpuState unit, String user) {
        NodeId node = unit.nodeId();
        for (GpuState other : new UnitsByNode(builder).on(node)) {
            boolean isUsed = other.owner()
                            .asForeign()
                            .filter(use -> use.freeAt().isEmpty() && use.users().contains(user))
                            .isPresent()
                    || other.intruders()
                            .filter(intruders -> intruders.users().contains(user))
                            .isPresent();
            if (isUsed && !other.gpuId().equals(unit.gpuId())) {
                return true;
            }
        }
        return false;
    }
}
