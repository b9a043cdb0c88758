package io.lendstream.launcher.operation;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.GpuNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * GPUs that another node reports than the one on which the scheduler knows them, as after a change of a machine's name.
 * One without a tenant goes to the new node by itself. One with a tenant stays under the old name until its release.
 */
final class MovedGpus {
    private static final String REMEDY =
            "give each machine a name of its own; after a change of a name set agent.node to the old one until these tenants have ended";

    private final Map<NodeId, Node> inventories = new HashMap<>();

    /** Takes a node's inventory; an older one of the same node is no news. */
    void take(Node node) {
        inventories.merge(node.nodeId(), node, (known, next) -> next.at().isBefore(known.at()) ? known : next);
    }

    /** A line for each GPU with a tenant that another node reports. */
    List<String> lines(Collection<Lease> leases) {
        return moved(leases).stream()
                .map(moved -> "%s: %s".formatted(moved.lease.gpuId(), moved.inWords()))
                .toList();
    }

    /** Which GPUs of tenants another node reports. */
    Finding finding(Collection<Lease> leases, GpuNames names) {
        List<Moved> moved = moved(leases);
        return moved.isEmpty()
                ? Finding.ok("moved", "no GPU of a tenant is reported by another node than its own")
                : Finding.warn(
                        "moved",
                        Diagnosis.some(moved, each -> names.of(each.lease.gpuId()) + ", " + each.inWords()),
                        REMEDY);
    }

    private record Moved(Lease lease, NodeId by) {
        String inWords() {
            return "%s has it on node %s, and node %s reports it"
                    .formatted(EventText.of(lease.owner()), lease.nodeId(), by);
        }
    }

    private List<Moved> moved(Collection<Lease> leases) {
        Map<GpuId, NodeId> reported = reported();
        List<Moved> moved = new ArrayList<>();
        for (Lease lease : leases) {
            Optional.ofNullable(reported.get(lease.gpuId()))
                    .filter(by -> !by.equals(lease.nodeId()))
                    .filter(by -> lease.owner().holder().isPresent())
                    .ifPresent(by -> moved.add(new Moved(lease, by)));
        }
        moved.sort(Comparator.comparing(each -> each.lease.gpuId()));
        return moved;
    }

    /** The node with the newest inventory that has a unit. */
    private Map<GpuId, NodeId> reported() {
        Map<GpuId, NodeId> reported = new HashMap<>();
        inventories.values().stream()
                .filter(node -> node.status() == NodeStatus.READY)
                .sorted(Comparator.comparing(Node::at).thenComparing(Node::nodeId))
                .forEach(node -> units(node).forEach(unit -> reported.put(unit, node.nodeId())));
        return reported;
    }

    private static Set<GpuId> units(Node node) {
        Set<GpuId> units = new HashSet<>();
        for (Gpu gpu : node.gpus()) {
            units.add(gpu.gpuId());
            gpu.instances().stream().map(GpuInstance::gpuId).forEach(units::add);
        }
        return units;
    }
}
