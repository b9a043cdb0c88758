package io.lendstream.core.scheduler;

import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.NodeState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Finds units for a replica of several units, by node: so many of one kind on each of so many nodes. Free units come
 * first, on the nodes with the fewest of them; then units that are about to be free, those of sleeping replicas, those
 * of spare replicas of other roles, loans, and those of left-out replicas, on the nodes where these cost least. Of
 * nodes that cost the same, those come first where a replica starts from cache, if its shape declares that this is
 * faster.
 */
final class UnitSearch {
    private final TopologyLabels labels;
    private final Function<NodeId, Optional<NodeState>> nodes;
    private final Set<NodeId> cached;
    private final Map<NodeId, Map<GpuId, Candidate>> byNode = new TreeMap<>();

    /** What has to happen before a unit can be bound, the cheapest first. */
    enum Source {
        FREE,
        COMING,
        SLEEPING,
        SPARE,
        LOAN,
        LEFT_OUT
    }

    /**
     * A unit that a replica could use.
     *
     * @param cost of a loan: its place among the loans, those first whose loss hurts training least; of a unit of a
     *     left-out replica: above that of all loans; else 0
     */
    private record Candidate(GpuState unit, Source source, long cost) {
        private static final Comparator<Candidate> CHEAPEST = Comparator.comparingLong(Candidate::cost)
                .thenComparing(Candidate::source)
                .thenComparing(candidate -> candidate.unit.gpuId());
    }

    /** The cheapest units of a node, and what they cost: loans first, then replicas, then waiting. */
    private record Offer(NodeId node, List<Candidate> units, long loans, int sleeping, int coming, int cold, int free) {
        private static final Comparator<Offer> CHEAPEST = Comparator.comparingLong(Offer::loans)
                .thenComparingInt(Offer::sleeping)
                .thenComparingInt(Offer::coming)
                .thenComparingInt(Offer::cold)
                .thenComparingInt(Offer::free)
                .thenComparing(Offer::node);
    }

    /**
     * @param nodes the nodes of the domain
     * @param cached the nodes where the service has a replica, so that its model is there
     */
    UnitSearch(TopologyLabels labels, Function<NodeId, Optional<NodeState>> nodes, Set<NodeId> cached) {
        this.labels = labels;
        this.nodes = nodes;
        this.cached = Set.copyOf(cached);
    }

    void add(GpuState unit, Source source) {
        add(unit, source, 0);
    }

    /** Adds a unit; the first time counts. */
    void add(GpuState unit, Source source, long cost) {
        byNode.computeIfAbsent(unit.nodeId(), any -> new TreeMap<>())
                .putIfAbsent(unit.gpuId(), new Candidate(unit, source, cost));
    }

    /** Units that are taken are not found any more. */
    void take(UnitSet set) {
        for (GpuState unit : set.units()) {
            Map<GpuId, Candidate> there = byNode.get(unit.nodeId());
            if (there != null) {
                there.remove(unit.gpuId());
            }
        }
    }

    /**
     * The cheapest units for a replica of a shape, on the kind that it prefers.
     *
     * @param most the most that may have to happen before the units can be bound
     * @param allowed the units that may be used
     */
    Optional<UnitSet> find(ReplicaShape shape, Source most, Predicate<GpuState> allowed) {
        Map<Integer, Map<String, List<Candidate>>> byKind = new TreeMap<>();
        for (Map<GpuId, Candidate> there : byNode.values()) {
            for (Candidate candidate : there.values()) {
                GpuState unit = candidate.unit;
                if (candidate.source.compareTo(most) <= 0 && shape.uses(unit.kind()) && allowed.test(unit)) {
                    byKind.computeIfAbsent(shape.preference(unit.kind()), any -> new TreeMap<>())
                            .computeIfAbsent(unit.kind().map(KindId::value).orElse(""), any -> new ArrayList<>())
                            .add(candidate);
                }
            }
        }
        for (Map<String, List<Candidate>> kinds : byKind.values()) {
            Optional<List<Offer>> best = Optional.empty();
            for (List<Candidate> ofKind : kinds.values()) {
                best = cheaper(best, offers(shape, ofKind));
            }
            if (best.isPresent()) {
                return best.map(offers -> set(shape, offers));
            }
        }
        return Optional.empty();
    }

    private Optional<List<Offer>> offers(ReplicaShape shape, List<Candidate> candidates) {
        Map<String, Map<NodeId, List<Candidate>>> domains = new TreeMap<>();
        for (Candidate candidate : candidates) {
            NodeId node = candidate.unit.nodeId();
            domains.computeIfAbsent(domain(shape, node), any -> new TreeMap<>())
                    .computeIfAbsent(node, any -> new ArrayList<>())
                    .add(candidate);
        }
        Optional<List<Offer>> best = Optional.empty();
        for (Map<NodeId, List<Candidate>> domain : domains.values()) {
            List<Offer> offers = new ArrayList<>();
            domain.forEach((node, there) -> {
                if (there.size() >= shape.gpusPerNode()) {
                    offers.add(offer(node, there, shape));
                }
            });
            if (offers.size() >= shape.nodes()) {
                offers.sort(Offer.CHEAPEST);
                best = cheaper(best, Optional.of(offers.subList(0, shape.nodes())));
            }
        }
        return best;
    }

    /** Those units of each node that are allowed, what is cheapest first. */
    SortedMap<NodeId, List<GpuState>> onNodes(Predicate<GpuState> allowed) {
        SortedMap<NodeId, List<GpuState>> onNodes = new TreeMap<>();
        byNode.forEach((node, there) -> {
            List<GpuState> units = there.values().stream()
                    .sorted(Candidate.CHEAPEST)
                    .map(Candidate::unit)
                    .filter(allowed)
                    .toList();
            if (!units.isEmpty()) {
                onNodes.put(node, units);
            }
        });
        return onNodes;
    }

    /** The domain of a node that all nodes of a replica have to share; the same for all nodes if they need not. */
    String domain(ReplicaShape shape, NodeId node) {
        TopologyLevel level = shape.within().orElse(TopologyLevel.UNKNOWN);
        return level == TopologyLevel.UNKNOWN
                ? ""
                : nodes.apply(node)
                        .map(known -> labels.domain(known.node(), level))
                        .orElse(node.value());
    }

    private Offer offer(NodeId node, List<Candidate> there, ReplicaShape shape) {
        List<Candidate> sorted = new ArrayList<>(there);
        sorted.sort(Candidate.CHEAPEST);
        List<Candidate> units = sorted.subList(0, shape.gpusPerNode());
        long loans = 0;
        for (Candidate unit : units) {
            loans += unit.cost;
        }
        int idle = count(units, Source.SLEEPING) + count(units, Source.SPARE);
        boolean isSlow = shape.starts().cached().isPresent() && !cached.contains(node);
        int coming = count(units, Source.COMING);
        return new Offer(node, units, loans, idle, coming, isSlow ? 1 : 0, count(there, Source.FREE));
    }

    private static int count(List<Candidate> units, Source source) {
        int count = 0;
        for (Candidate unit : units) {
            count += unit.source == source ? 1 : 0;
        }
        return count;
    }

    /** The cheaper one of two lists of as many nodes; the first if they cost the same. */
    private static Optional<List<Offer>> cheaper(Optional<List<Offer>> one, Optional<List<Offer>> other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.isPresent() ? one : other;
        }
        return Offer.CHEAPEST.compare(sum(one.get()), sum(other.get())) <= 0 ? one : other;
    }

    private static Offer sum(List<Offer> offers) {
        long loans = 0;
        int sleeping = 0;
        int coming = 0;
        int cold = 0;
        int free = 0;
        for (Offer offer : offers) {
            loans += offer.loans;
            sleeping += offer.sleeping;
            coming += offer.coming;
            cold += offer.cold;
            free += offer.free;
        }
        return new Offer(offers.get(0).node, List.of(), loans, sleeping, coming, cold, free);
    }

    private static UnitSet set(ReplicaShape shape, List<Offer> offers) {
        List<GpuState> units = new ArrayList<>();
        boolean isFree = true;
        for (Offer offer : offers) {
            for (Candidate candidate : offer.units) {
                units.add(candidate.unit);
                isFree &= candidate.source == Source.FREE;
            }
        }
        return new UnitSet(shape, units.get(0).kind(), units, isFree);
    }
}
