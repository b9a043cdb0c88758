package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.demand.ReplicaNeed;
import java.util.SortedMap;
import java.util.stream.Collectors;

/** The needs of services and of their roles, for people and for programs. */
final class RoleFigures {
    private RoleFigures() {}

    /**
     * The replicas of each role that serve, of those that are needed, such as {@code : 2 of 3 prefill, 4 of 4 decode};
     * nothing without roles.
     */
    static String inWords(ReplicaNeed need, SortedMap<ReplicaRole, Integer> serving) {
        return need.roles().isEmpty()
                ? ""
                : need.roles().entrySet().stream()
                        .map(role -> "%d of %d %s"
                                .formatted(
                                        serving.getOrDefault(role.getKey(), 0),
                                        role.getValue().replicas(),
                                        role.getKey().inWords()))
                        .collect(Collectors.joining(", ", ": ", ""));
    }

    /** Puts the needs of roles, and the replicas of each that serve, into the line of a service, if it has roles. */
    static void putRoles(ObjectNode service, ReplicaNeed need, SortedMap<ReplicaRole, Integer> serving) {
        if (!need.roles().isEmpty()) {
            ObjectNode roles = service.putObject("roles");
            need.roles()
                    .forEach((role, part) -> roles.putObject(role.inWords())
                            .put("needed", part.replicas())
                            .put("serving", serving.getOrDefault(role, 0)));
        }
    }

    /** Puts the causes of a need, and those of its roles. */
    static void putCauses(ObjectNode line, ReplicaNeed need) {
        line.put("replicas", need.replicas())
                .put("now", need.now())
                .put("ahead", need.ahead())
                .put("floor", need.floor());
        if (!need.roles().isEmpty()) {
            ObjectNode roles = line.putObject("roles");
            need.roles().forEach((role, part) -> putCauses(roles.putObject(role.inWords()), part));
        }
    }
}
