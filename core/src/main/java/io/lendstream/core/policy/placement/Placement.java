package io.lendstream.core.policy.placement;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Turns numbers of GPUs into GPUs: few nodes per job, training's own before lent ones, and what a job has if possible.
 *
 * <p>Nodes are kept by how many GPUs they have free, so that placing a job costs O((its GPUs + its nodes) x log nodes),
 * however large the cluster is.
 */
final class Placement {
    private final Map<GpuId, NodeId> nodeOf = new HashMap<>();
    private final Map<NodeId, List<GpuId>> free = new HashMap<>();
    private final Map<NodeId, Pool> pools = new HashMap<>();
    /** Nodes by how many GPUs they have free; training's own, and inference's. */
    private final NavigableMap<Integer, SortedSet<NodeId>> own = new TreeMap<>();

    private final NavigableMap<Integer, SortedSet<NodeId>> lendable = new TreeMap<>();

    Placement(List<GpuState> gpus) {
        for (GpuState gpu : gpus) {
            nodeOf.put(gpu.gpuId(), gpu.nodeId());
            free.computeIfAbsent(gpu.nodeId(), node -> new ArrayList<>()).add(gpu.gpuId());
            pools.put(gpu.nodeId(), gpu.pool());
        }
        free.forEach((node, there) -> bySize(node)
                .computeIfAbsent(there.size(), size -> new TreeSet<>())
                .add(node));
    }

    private NavigableMap<Integer, SortedSet<NodeId>> bySize(NodeId node) {
        return isOwn(node) ? own : lendable;
    }

    private boolean isOwn(NodeId node) {
        return pools.get(node) == Pool.TRAINING;
    }

    private List<GpuId> freeOn(NodeId node) {
        return free.getOrDefault(node, List.of());
    }

    /** Removes GPUs from the free ones. */
    void keep(List<GpuId> gpus) {
        for (GpuId gpu : gpus) {
            NodeId node = nodeOf.get(gpu);
            if (node == null) {
                continue;
            }
            List<GpuId> there = freeOn(node);
            int size = there.size();
            if (there.remove(gpu)) {
                NavigableMap<Integer, SortedSet<NodeId>> nodes = bySize(node);
                SortedSet<NodeId> alike = nodes.getOrDefault(size, new TreeSet<>());
                alike.remove(node);
                if (alike.isEmpty()) {
                    nodes.remove(size);
                }
                if (size > 1) {
                    nodes.computeIfAbsent(size - 1, any -> new TreeSet<>()).add(node);
                }
            }
        }
    }

    /** GPUs for a job that holds {@code held}, of which others may have been given some. */
    List<GpuId> place(int count, List<GpuId> held) {
        List<GpuId> left = held.stream().filter(this::isFree).toList();
        List<GpuId> chosen = count < held.size() && count <= left.size() ? shrink(count, left) : grow(count, left);
        keep(chosen);
        return chosen;
    }

    private boolean isFree(GpuId gpu) {
        NodeId node = nodeOf.get(gpu);
        return node != null && freeOn(node).contains(gpu);
    }

    /** Gives up lent GPUs first, then those on the nodes where the job has fewest. */
    private List<GpuId> shrink(int count, List<GpuId> held) {
        return byNode(held).entrySet().stream()
                .sorted(Comparator.<Map.Entry<NodeId, List<GpuId>>>comparingInt(entry -> isOwn(entry.getKey()) ? 0 : 1)
                        .thenComparingInt(entry -> -entry.getValue().size())
                        .thenComparing(Map.Entry::getKey))
                .flatMap(entry -> entry.getValue().stream())
                .limit(count)
                .toList();
    }

    /** Free GPUs among these by node, in the order in which they stand there. */
    private SortedMap<NodeId, List<GpuId>> byNode(List<GpuId> gpus) {
        Set<GpuId> wanted = new HashSet<>(gpus);
        SortedMap<NodeId, List<GpuId>> nodes = new TreeMap<>();
        for (GpuId gpu : gpus) {
            NodeId node = nodeOf.get(gpu);
            if (node != null && !nodes.containsKey(node)) {
                nodes.put(node, freeOn(node).stream().filter(wanted::contains).toList());
            }
        }
        nodes.values().removeIf(List::isEmpty);
        return nodes;
    }

    /** Stays where it is if that needs no more nodes than a fresh start; else moves. */
    private List<GpuId> grow(int count, List<GpuId> held) {
        List<GpuId> fresh = bestFit(count, Collections.emptySortedMap());
        if (held.isEmpty()) {
            return fresh;
        }
        List<GpuId> grown = bestFit(count, byNode(held));
        return nodes(grown) <= nodes(fresh) + 1 ? grown : fresh;
    }

    /**
     * Adds GPUs to the held ones: first on their nodes, then on the tightest node that holds the rest, else on the node
     * with the most free GPUs.
     */
    private List<GpuId> bestFit(int count, SortedMap<NodeId, List<GpuId>> held) {
        List<GpuId> chosen = new ArrayList<>();
        held.values().forEach(chosen::addAll);
        Set<NodeId> used = new HashSet<>(held.keySet());
        Map<NodeId, List<GpuId>> home = new TreeMap<>();
        held.forEach((node, mine) -> home.put(node, without(freeOn(node), mine)));
        home.values().removeIf(List::isEmpty);
        while (chosen.size() < count) {
            int missing = count - chosen.size();
            Optional<NodeId> next = home.isEmpty() ? elsewhere(missing, used) : Optional.of(atHome(missing, home));
            if (next.isEmpty()) {
                break;
            }
            NodeId node = next.get();
            List<GpuId> there = Optional.ofNullable(home.remove(node)).orElseGet(() -> freeOn(node));
            chosen.addAll(there.subList(0, Math.min(missing, there.size())));
            used.add(node);
        }
        return List.copyOf(chosen);
    }

    private NodeId atHome(int missing, Map<NodeId, List<GpuId>> home) {
        return Collections.min(
                        home.entrySet(),
                        Comparator.<Map.Entry<NodeId, List<GpuId>>>comparingInt(
                                        entry -> entry.getValue().size() >= missing ? 0 : 1)
                                .thenComparingInt(entry -> isOwn(entry.getKey()) ? 0 : 1)
                                .thenComparingInt(entry -> entry.getValue().size() >= missing
                                        ? entry.getValue().size()
                                        : -entry.getValue().size())
                                .thenComparing(Map.Entry::getKey))
                .getKey();
    }

    private Optional<NodeId> elsewhere(int missing, Set<NodeId> used) {
        return first(own.tailMap(missing, true), used)
                .or(() -> first(lendable.tailMap(missing, true), used))
                .or(() -> first(own.descendingMap(), used))
                .or(() -> first(lendable.descendingMap(), used));
    }

    private static Optional<NodeId> first(Map<Integer, SortedSet<NodeId>> nodes, Set<NodeId> used) {
        for (SortedSet<NodeId> alike : nodes.values()) {
            for (NodeId node : alike) {
                if (!used.contains(node)) {
                    return Optional.of(node);
                }
            }
        }
        return Optional.empty();
    }

    private static List<GpuId> without(List<GpuId> gpus, List<GpuId> some) {
        return gpus.stream().filter(gpu -> !some.contains(gpu)).toList();
    }

    private int nodes(List<GpuId> gpus) {
        return (int) gpus.stream().map(nodeOf::get).distinct().count();
    }
}
