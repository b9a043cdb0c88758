package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.WorldPart;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Finds the machines over which a job is to train. All of them derive the same from a decision and the inventory. */
final class Worlds {
    /** The label of a node with its address for other machines. */
    static final String ADDRESS = "lendstream.io/address";

    private final Optional<Machine> machine;
    private final ClusterLookup surroundings;

    /** @param machine this machine; empty if no job here has GPUs elsewhere */
    Worlds(Optional<Machine> machine, ClusterLookup surroundings) {
        this.machine = machine;
        this.surroundings = surroundings;
    }

    /** The declarations of jobs and GPUs. */
    ClusterLookup surroundings() {
        return surroundings;
    }

    /**
     * The world of an order; empty if the job is to run on this machine only, or not here.
     *
     * @throws Programs.ProgramException if the inventory lacks a GPU of the job
     */
    Optional<WorldPart> of(Order.Place place) throws Programs.ProgramException {
        if (machine.isEmpty() || place.units().isEmpty() || place.allocation().isEmpty()) {
            return Optional.empty();
        }
        NodeId here = machine.get().node();
        SortedMap<NodeId, List<GpuId>> units = new TreeMap<>();
        for (GpuId unit : place.allocation().get().gpus()) {
            NodeId node = place.units().contains(unit) ? here : node(unit).nodeId();
            units.computeIfAbsent(node, any -> new ArrayList<>()).add(unit);
        }
        if (units.size() < 2 || !units.containsKey(here)) {
            return Optional.empty();
        }
        List<WorldPart.Member> members = new ArrayList<>();
        for (List<GpuId> each : units.values()) {
            members.add(member(each));
        }
        int self = units.headMap(here).size();
        GpuId first = units.values().iterator().next().get(0);
        int index = surroundings.device(first).map(Device::index).orElse(0);
        return Optional.of(WorldPart.of(
                members,
                self,
                machine.get().ports().port(index, place.decision().sequence())));
    }

    private WorldPart.Member member(List<GpuId> units) throws Programs.ProgramException {
        Node node = node(units.get(0));
        String name = node.nodeId().value();
        return new WorldPart.Member(name, node.facts().labels().getOrDefault(ADDRESS, name), units.size());
    }

    private Node node(GpuId unit) throws Programs.ProgramException {
        return surroundings
                .node(unit)
                .orElseThrow(() -> Programs.ProgramException.ofUnits(
                        "%s is to run with others on several machines, but no node in the inventory has it; start the agent of its machine"
                                .formatted(unit)));
    }

    /** On how many machines the job of an order trains. */
    int machines(Order.Place place) {
        if (machine.isEmpty()) {
            return 1;
        }
        List<GpuId> all = place.allocation().map(Allocation::gpus).orElse(List.of());
        long nodes = all.stream()
                .flatMap(unit -> surroundings.node(unit).stream())
                .map(Node::nodeId)
                .distinct()
                .count();
        return (int) Math.max(1, nodes);
    }
}
