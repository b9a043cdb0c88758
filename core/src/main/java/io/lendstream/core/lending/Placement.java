package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.GpuState;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Pool;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Turns numbers of GPUs into GPUs: few nodes per job, training's own before lent ones, and what a job has if possible. */
final class Placement {
    private final Map<NodeId, List<GpuState>> free = new TreeMap<>();
    private final Map<NodeId, Pool> pools = new TreeMap<>();

    Placement(List<GpuState> gpus) {
        for (GpuState gpu : gpus) {
            free.computeIfAbsent(gpu.nodeId(), node -> new ArrayList<>()).add(gpu);
            pools.put(gpu.nodeId(), gpu.pool());
        }
    }

    /** Takes GPUs out of what can be placed. */
    void keep(List<GpuId> gpus) {
        Set<GpuId> kept = new HashSet<>(gpus);
        free.values().forEach(list -> list.removeIf(gpu -> kept.contains(gpu.gpuId())));
    }

    /** GPUs for a job that holds {@code held}, which must still be among what can be placed. */
    List<GpuId> place(int count, List<GpuId> held) {
        List<GpuId> chosen = count < held.size() ? shrink(count, held) : grow(count, held);
        keep(chosen);
        return chosen;
    }

    /** Gives up lent GPUs first, then those on the nodes where the job has fewest. */
    private List<GpuId> shrink(int count, List<GpuId> held) {
        Set<GpuId> holding = new HashSet<>(held);
        Map<NodeId, List<GpuState>> mine = new TreeMap<>();
        free.forEach((node, list) -> list.stream()
                .filter(gpu -> holding.contains(gpu.gpuId()))
                .forEach(gpu ->
                        mine.computeIfAbsent(node, n -> new ArrayList<>()).add(gpu)));
        List<GpuState> keepFirst = mine.entrySet().stream()
                .sorted(Comparator.<Map.Entry<NodeId, List<GpuState>>>comparingInt(
                                entry -> pools.get(entry.getKey()) == Pool.TRAINING ? 0 : 1)
                        .thenComparingInt(entry -> -entry.getValue().size())
                        .thenComparing(Map.Entry::getKey))
                .flatMap(entry -> entry.getValue().stream())
                .toList();
        return keepFirst.stream().limit(count).map(GpuState::gpuId).toList();
    }

    /** Stays where it is if that needs no more nodes than a fresh start; else moves. */
    private List<GpuId> grow(int count, List<GpuId> held) {
        List<GpuId> fresh = bestFit(count, List.of());
        if (held.isEmpty()) {
            return fresh;
        }
        List<GpuId> grown = bestFit(count, held);
        return nodes(grown) <= nodes(fresh) + 1 ? grown : fresh;
    }

    private List<GpuId> bestFit(int count, List<GpuId> held) {
        Set<GpuId> start = new HashSet<>(held);
        Map<NodeId, List<GpuId>> open = new TreeMap<>();
        Set<NodeId> home = new HashSet<>();
        List<GpuId> chosen = new ArrayList<>();
        free.forEach((node, list) -> {
            List<GpuId> others = new ArrayList<>();
            for (GpuState gpu : list) {
                if (start.contains(gpu.gpuId())) {
                    chosen.add(gpu.gpuId());
                    home.add(node);
                } else {
                    others.add(gpu.gpuId());
                }
            }
            if (!others.isEmpty()) {
                open.put(node, others);
            }
        });
        while (chosen.size() < count && !open.isEmpty()) {
            int missing = count - chosen.size();
            NodeId node = open.entrySet().stream()
                    .min(Comparator.<Map.Entry<NodeId, List<GpuId>>>comparingInt(
                                    entry -> home.contains(entry.getKey()) ? 0 : 1)
                            .thenComparingInt(entry -> entry.getValue().size() >= missing ? 0 : 1)
                            .thenComparingInt(entry -> pools.get(entry.getKey()) == Pool.TRAINING ? 0 : 1)
                            .thenComparingInt(entry -> entry.getValue().size() >= missing
                                    ? entry.getValue().size()
                                    : -entry.getValue().size())
                            .thenComparing(Map.Entry::getKey))
                    .orElseThrow()
                    .getKey();
            List<GpuId> there = open.remove(node);
            chosen.addAll(there.subList(0, Math.min(missing, there.size())));
        }
        return List.copyOf(chosen);
    }

    private int nodes(List<GpuId> gpus) {
        Set<GpuId> wanted = new HashSet<>(gpus);
        return (int) free.values().stream()
                .filter(list -> list.stream().anyMatch(gpu -> wanted.contains(gpu.gpuId())))
                .count();
    }
}
