package io.lendstream.core.scheduler;

import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.WarmReplica;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Finds units for whole replicas of a service with shapes where replicas of other services have to be stopped for them.
 * A domain of the topology is looked at node by node: units that the service may have anyway come first, and those
 * nodes where others lose the fewest GPUs that serve. What does not make up a whole replica is not taken.
 */
final class GivenSets {
    private final ServiceState service;
    private final GroupUnits units;
    private final UnitSearch search;
    private final QuotaGuard guard;
    private final ReplicaGivers givers;
    private final Map<NodeId, List<WarmReplica>> onNode = new HashMap<>();
    /** The units of the sets that were found. */
    private final Set<GpuId> found = new LinkedHashSet<>();

    /**
     * What a part of a replica is made of.
     *
     * @param units on which it runs
     * @param given replicas that are stopped for it
     */
    private record Part(NodeId node, List<GpuState> units, List<WarmReplica> given) {
        private static final Comparator<Part> CHEAPEST = Comparator.comparingInt((Part part) -> part.lost(true))
                .thenComparingInt(part -> part.lost(false))
                .thenComparingLong(Part::loans)
                .thenComparing(Part::node);

        /** GPUs of other services that serve, or that are protected. */
        int lost(boolean serving) {
            int lost = 0;
            for (WarmReplica replica : given) {
                lost += replica.isServing() == serving ? replica.units().size() : 0;
            }
            return lost;
        }

        long loans() {
            return units.stream().filter(unit -> unit.owner().isLent()).count();
        }

        /** The parts of one replica taken together. */
        static Part sum(List<Part> parts) {
            List<GpuState> units = new ArrayList<>();
            List<WarmReplica> given = new ArrayList<>();
            for (Part part : parts) {
                units.addAll(part.units);
                given.addAll(part.given);
            }
            return new Part(parts.get(0).node, units, given);
        }
    }

    /** @param search the units that the service may have anyway */
    GivenSets(StepBuilder builder, ServiceState service, GroupUnits units, UnitSearch search, ReplicaGivers givers) {
        this.service = service;
        this.units = units;
        this.search = search;
        this.guard = new QuotaGuard(builder);
        this.givers = givers;
        for (WarmReplica replica : givers.candidates()) {
            Set<NodeId> nodes = new TreeSet<>();
            replica.units().forEach(unit -> nodes.add(unit.nodeId()));
            nodes.forEach(node ->
                    onNode.computeIfAbsent(node, any -> new ArrayList<>()).add(replica));
        }
    }

    /** The cheapest units for a replica of a shape, on the kind that it prefers; the replicas on them are given. */
    Optional<UnitSet> find(ReplicaShape shape, Predicate<GpuState> allowed) {
        for (List<Optional<KindId>> kinds : kinds(shape, allowed).values()) {
            Optional<Part> best = Optional.empty();
            for (Optional<KindId> kind : kinds) {
                Predicate<GpuState> usable = unit -> unit.kind().equals(kind) && allowed.test(unit);
                best = cheaper(best, onKind(shape, usable));
            }
            if (best.isPresent()) {
                return best.map(part -> taken(shape, part));
            }
        }
        return Optional.empty();
    }

    /** Kinds of units that the service may have, or that are given, by the place in which the shape prefers them. */
    private SortedMap<Integer, List<Optional<KindId>>> kinds(ReplicaShape shape, Predicate<GpuState> allowed) {
        Set<Optional<KindId>> all = new TreeSet<>(
                Comparator.comparing(kind -> kind.map(KindId::value).orElse("")));
        search.onNodes(allowed).values().forEach(there -> there.forEach(unit -> all.add(unit.kind())));
        for (WarmReplica replica : givers.candidates()) {
            all.add(replica.first().kind());
        }
        SortedMap<Integer, List<Optional<KindId>>> kinds = new TreeMap<>();
        for (Optional<KindId> kind : all) {
            if (shape.uses(kind)) {
                kinds.computeIfAbsent(shape.preference(kind), any -> new ArrayList<>())
                        .add(kind);
            }
        }
        return kinds;
    }

    private Optional<Part> onKind(ReplicaShape shape, Predicate<GpuState> usable) {
        SortedMap<NodeId, List<GpuState>> there = search.onNodes(usable);
        SortedMap<String, Set<NodeId>> domains = new TreeMap<>();
        Set<NodeId> nodes = new TreeSet<>(there.keySet());
        nodes.addAll(onNode.keySet());
        for (NodeId node : nodes) {
            domains.computeIfAbsent(search.domain(shape, node), any -> new TreeSet<>())
                    .add(node);
        }
        Optional<Part> best = Optional.empty();
        for (Set<NodeId> domain : domains.values()) {
            best = cheaper(best, inDomain(shape, domain, there, usable));
        }
        return best;
    }

    /** Node by node, each time the one where the replica costs least. */
    private Optional<Part> inDomain(
            ReplicaShape shape,
            Set<NodeId> domain,
            SortedMap<NodeId, List<GpuState>> there,
            Predicate<GpuState> usable) {
        List<Part> parts = new ArrayList<>();
        Set<NodeId> left = new TreeSet<>(domain);
        for (int i = 0; i < shape.nodes(); i++) {
            Optional<Part> next = Optional.empty();
            for (NodeId node : left) {
                next = cheaper(next, part(shape, node, there.getOrDefault(node, List.of()), usable));
            }
            if (next.isEmpty()) {
                break;
            }
            next.get().given().forEach(givers::give);
            left.remove(next.get().node());
            parts.add(next.get());
        }
        Optional<Part> whole = parts.size() < shape.nodes()
                ? Optional.empty()
                : Optional.of(Part.sum(parts)).filter(part -> isWithinQuota(part.units()));
        parts.forEach(part -> part.given().forEach(givers::takeBack));
        return whole;
    }

    /** The units of one node; those of replicas that are given come first, because they are stopped whole. */
    private Optional<Part> part(ReplicaShape shape, NodeId node, List<GpuState> anyway, Predicate<GpuState> usable) {
        List<GpuState> mine = new ArrayList<>();
        givers.given().forEach(replica -> mine.addAll(helping(replica, node, usable)));
        int lacking = shape.gpusPerNode() - anyway.size() - mine.size();
        List<WarmReplica> given = new ArrayList<>();
        for (WarmReplica replica : onNode.getOrDefault(node, List.of())) {
            int helps = lacking > 0 ? helping(replica, node, usable).size() : 0;
            if (helps > 0 && givers.give(replica)) {
                given.add(replica);
                lacking -= helps;
            }
        }
        for (WarmReplica replica : List.copyOf(given)) {
            int helps = helping(replica, node, usable).size();
            if (lacking + helps <= 0) {
                givers.takeBack(replica);
                given.remove(replica);
                lacking += helps;
            }
        }
        given.forEach(replica -> mine.addAll(helping(replica, node, usable)));
        given.forEach(givers::takeBack);
        if (lacking > 0) {
            return Optional.empty();
        }
        mine.addAll(anyway);
        return Optional.of(new Part(node, mine.subList(0, shape.gpusPerNode()), given));
    }

    /** The units of a replica on a node that the service could use. */
    private List<GpuState> helping(WarmReplica replica, NodeId node, Predicate<GpuState> usable) {
        return replica.units().stream()
                .filter(unit -> unit.nodeId().equals(node)
                        && !found.contains(unit.gpuId())
                        && usable.test(unit)
                        && units.suits(service, unit))
                .toList();
    }

    private boolean isWithinQuota(List<GpuState> set) {
        List<GpuId> all = new ArrayList<>(found);
        for (GpuState unit : set) {
            if (!guard.couldTake(service.spec().service(), unit, all)) {
                return false;
            }
            all.add(unit.gpuId());
        }
        return givers.mayGain(set);
    }

    private UnitSet taken(ReplicaShape shape, Part part) {
        part.given().forEach(givers::give);
        givers.gain(part.units());
        part.units().forEach(unit -> found.add(unit.gpuId()));
        return new UnitSet(shape, part.units().get(0).kind(), part.units(), false);
    }

    private static Optional<Part> cheaper(Optional<Part> one, Optional<Part> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.isPresent() ? one : other;
        }
        return Part.CHEAPEST.compare(one.get(), other.get()) <= 0 ? one : other;
    }
}
