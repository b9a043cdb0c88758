package io.lendstream.core.policy.placement;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Turns numbers of GPUs into GPUs: few nodes per job, training's own before lent ones, and what a job has if possible.
 *
 * <p>Nodes are kept by how many GPUs they have free, so that placing a job costs little, however large the cluster is.
 */
final class Placement {
    private final Map<GpuId, Site> siteOf;
    /** All nodes, by name. */
    private final List<Site> sites = new ArrayList<>();
    /** The numbers of training's own nodes, and of inference's, by how many GPUs they have free. */
    private final List<BitSet> own = new ArrayList<>();

    private final List<BitSet> lendable = new ArrayList<>();

    /** A node. */
    private static final class Site implements Comparable<Site> {
        private final NodeId id;
        private boolean isOwn;
        private final List<GpuId> free = new ArrayList<>();
        private int number;

        Site(NodeId id) {
            this.id = id;
        }

        @Override
        public int compareTo(Site other) {
            return Integer.compare(number, other.number);
        }
    }

    /** @param gpus usually by node */
    Placement(List<GpuState> gpus) {
        this.siteOf = new HashMap<>(2 * gpus.size());
        Map<NodeId, Site> byId = new HashMap<>();
        for (GpuState gpu : gpus) {
            Site last = sites.isEmpty() ? null : sites.get(sites.size() - 1);
            if (last == null || !last.id.equals(gpu.nodeId())) {
                last = byId.get(gpu.nodeId());
                if (last == null) {
                    last = new Site(gpu.nodeId());
                    byId.put(last.id, last);
                    sites.add(last);
                }
            }
            last.isOwn = gpu.pool() == Pool.TRAINING;
            last.free.add(gpu.gpuId());
            siteOf.put(gpu.gpuId(), last);
        }
        sites.sort(Comparator.comparing(site -> site.id));
        for (int i = 0; i < sites.size(); i++) {
            Site site = sites.get(i);
            site.number = i;
            ofSize(site, site.free.size()).set(i);
        }
    }

    /** The nodes like one that have so many GPUs free. */
    private BitSet ofSize(Site site, int size) {
        List<BitSet> nodes = site.isOwn ? own : lendable;
        while (nodes.size() <= size) {
            nodes.add(new BitSet());
        }
        return nodes.get(size);
    }

    /** Whether it is one of the GPUs, be it free or not. */
    boolean knows(GpuId gpu) {
        return siteOf.containsKey(gpu);
    }

    boolean knows(List<GpuId> gpus) {
        for (GpuId gpu : gpus) {
            if (!knows(gpu)) {
                return false;
            }
        }
        return true;
    }

    /** Removes GPUs from the free ones. */
    void keep(List<GpuId> gpus) {
        for (GpuId gpu : gpus) {
            Site site = siteOf.get(gpu);
            if (site != null && site.free.remove(gpu)) {
                int left = site.free.size();
                ofSize(site, left + 1).clear(site.number);
                ofSize(site, left).set(site.number);
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
        Site site = siteOf.get(gpu);
        return site != null && site.free.contains(gpu);
    }

    /** Gives up lent GPUs first, then those on the nodes where the job has fewest. */
    private List<GpuId> shrink(int count, List<GpuId> held) {
        return bySite(held).entrySet().stream()
                .sorted(Comparator.<Map.Entry<Site, List<GpuId>>>comparingInt(entry -> entry.getKey().isOwn ? 0 : 1)
                        .thenComparingInt(entry -> -entry.getValue().size())
                        .thenComparing(Map.Entry::getKey))
                .flatMap(entry -> entry.getValue().stream())
                .limit(count)
                .toList();
    }

    /** Free GPUs among these by node, in the order in which they stand there. */
    private SortedMap<Site, List<GpuId>> bySite(List<GpuId> gpus) {
        Set<GpuId> wanted = new HashSet<>(gpus);
        SortedMap<Site, List<GpuId>> there = new TreeMap<>();
        for (GpuId gpu : gpus) {
            Site site = siteOf.get(gpu);
            if (site != null && !there.containsKey(site)) {
                there.put(site, site.free.stream().filter(wanted::contains).toList());
            }
        }
        there.values().removeIf(List::isEmpty);
        return there;
    }

    /** Stays where it is if that needs no more nodes than a fresh start; else moves. */
    private List<GpuId> grow(int count, List<GpuId> held) {
        List<GpuId> fresh = bestFit(count, Collections.emptySortedMap());
        if (held.isEmpty()) {
            return fresh;
        }
        List<GpuId> grown = bestFit(count, bySite(held));
        return nodes(grown) <= nodes(fresh) + 1 ? grown : fresh;
    }

    /**
     * Adds GPUs to the held ones: first on their nodes, then on the tightest node that holds the rest, else on the node
     * with the most free GPUs.
     */
    private List<GpuId> bestFit(int count, SortedMap<Site, List<GpuId>> held) {
        List<GpuId> chosen = new ArrayList<>();
        held.values().forEach(chosen::addAll);
        BitSet used = new BitSet();
        Map<Site, List<GpuId>> home = new TreeMap<>();
        held.forEach((site, mine) -> {
            used.set(site.number);
            home.put(site, without(site.free, mine));
        });
        home.values().removeIf(List::isEmpty);
        while (chosen.size() < count) {
            int missing = count - chosen.size();
            Optional<Site> next = home.isEmpty() ? elsewhere(missing, used) : Optional.of(atHome(missing, home));
            if (next.isEmpty()) {
                break;
            }
            Site site = next.get();
            List<GpuId> there = Optional.ofNullable(home.remove(site)).orElse(site.free);
            chosen.addAll(there.subList(0, Math.min(missing, there.size())));
            used.set(site.number);
        }
        return List.copyOf(chosen);
    }

    private static Site atHome(int missing, Map<Site, List<GpuId>> home) {
        return Collections.min(
                        home.entrySet(),
                        Comparator.<Map.Entry<Site, List<GpuId>>>comparingInt(
                                        entry -> entry.getValue().size() >= missing ? 0 : 1)
                                .thenComparingInt(entry -> entry.getKey().isOwn ? 0 : 1)
                                .thenComparingInt(entry -> entry.getValue().size() >= missing
                                        ? entry.getValue().size()
                                        : -entry.getValue().size())
                                .thenComparing(Map.Entry::getKey))
                .getKey();
    }

    private Optional<Site> elsewhere(int missing, BitSet used) {
        return tightest(own, missing, used)
                .or(() -> tightest(lendable, missing, used))
                .or(() -> largest(own, used))
                .or(() -> largest(lendable, used));
    }

    /** The first node of those with the fewest free GPUs that suffice. */
    private Optional<Site> tightest(List<BitSet> nodes, int least, BitSet used) {
        for (int size = least; size < nodes.size(); size++) {
            int first = first(nodes.get(size), used);
            if (first >= 0) {
                return Optional.of(sites.get(first));
            }
        }
        return Optional.empty();
    }

    /** The first node of those with the most free GPUs. */
    private Optional<Site> largest(List<BitSet> nodes, BitSet used) {
        for (int size = nodes.size() - 1; size > 0; size--) {
            int first = first(nodes.get(size), used);
            if (first >= 0) {
                return Optional.of(sites.get(first));
            }
        }
        return Optional.empty();
    }

    /** The first of some nodes that is not used; -1 if there is none. */
    private static int first(BitSet nodes, BitSet used) {
        int first = nodes.nextSetBit(0);
        while (first >= 0 && used.get(first)) {
            first = nodes.nextSetBit(first + 1);
        }
        return first;
    }

    private static List<GpuId> without(List<GpuId> gpus, List<GpuId> some) {
        return gpus.stream().filter(gpu -> !some.contains(gpu)).toList();
    }

    private int nodes(List<GpuId> gpus) {
        BitSet nodes = new BitSet();
        for (GpuId gpu : gpus) {
            Site site = siteOf.get(gpu);
            if (site != null) {
                nodes.set(site.number);
            }
        }
        return nodes.cardinality();
    }
}
