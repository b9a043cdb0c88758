package io.lendstream.actuator;

import io.lendstream.core.id.NodeId;
import io.lendstream.service.host.HostName;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The nodes whose decisions an actuator executes.
 *
 * @param nodes empty for all nodes of its domains
 * @param isThisHost whether it is this host by default, and not by a setting
 */
record NodeScope(List<NodeId> nodes, boolean isThisHost) {
    private static final String ALL = "all";
    private static final List<NodeId> NONE = List.of(new NodeId("none"));

    NodeScope {
        nodes = List.copyOf(nodes);
    }

    /** The nodes of the settings. Without a setting, the process driver has this host, and other drivers have all. */
    static NodeScope of(Settings settings, DriverKind driver) {
        List<String> named = settings.get(ActuatorSettings.NODES);
        if (named.contains(ALL) && named.size() > 1) {
            throw new SettingsException(
                    "%s is %s, but 'all' already includes the other nodes. Set it to all, or leave 'all' out."
                            .formatted(ActuatorSettings.NODES.name(), String.join(",", named)));
        }
        if (named.isEmpty() && driver == DriverKind.PROCESS) {
            String host = HostName.or(Optional.empty(), ActuatorSettings.NODES.name());
            return new NodeScope(List.of(new NodeId(host)), true);
        }
        return new NodeScope(
                named.equals(List.of(ALL))
                        ? List.of()
                        : named.stream().map(NodeId::new).toList(),
                false);
    }

    /** Whether it has all nodes of its domains. */
    boolean isAll() {
        return nodes.isEmpty();
    }

    /** Whether it has given up its nodes, by {@code actuator.nodes=none}. */
    boolean isNone() {
        return nodes.equals(NONE);
    }

    /** For people, such as {@code node gpu-7 (this host)}. */
    String inWords() {
        if (isAll() || isNone()) {
            return isAll() ? "all nodes of its domains" : "no node";
        }
        String names = nodes.stream().map(NodeId::value).collect(Collectors.joining(", "));
        return "%s %s%s".formatted(nodes.size() == 1 ? "node" : "nodes", names, isThisHost ? " (this host)" : "");
    }
}
