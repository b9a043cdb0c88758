package io.lendstream.core.policy.placement;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Free GPUs by node, for placing jobs from scratch. Of equally good nodes the first is taken. */
public final class FreeGpusByNode {
    /** Which node a job goes to. */
    public enum Fit {
        /** The node with the fewest free GPUs that holds the rest of the job; if none does, the node with the most. */
        TIGHTEST,
        /** The node with the most free GPUs. */
        EMPTIEST
    }

    private final List<List<GpuId>> free;

    /**
     * @param gpus in the order of nodes
     * @param taken GPUs among them that are not free
     */
    public FreeGpusByNode(List<GpuState> gpus, Set<GpuId> taken) {
        List<List<GpuId>> nodes = new ArrayList<>();
        Optional<NodeId> last = Optional.empty();
        for (GpuState gpu : gpus) {
            if (!taken.contains(gpu.gpuId())) {
                if (last.isEmpty() || !last.get().equals(gpu.nodeId())) {
                    last = Optional.of(gpu.nodeId());
                    nodes.add(new ArrayList<>());
                }
                nodes.get(nodes.size() - 1).add(gpu.gpuId());
            }
        }
        this.free = List.copyOf(nodes);
    }

    /** Takes {@code count} GPUs, node after node; fewer where there are not so many. */
    public List<GpuId> take(int count, Fit fit) {
        List<GpuId> taken = new ArrayList<>(count);
        while (taken.size() < count) {
            int missing = count - taken.size();
            List<GpuId> room = room(missing, fit);
            if (room.isEmpty()) {
                break;
            }
            List<GpuId> part = room.subList(0, Math.min(missing, room.size()));
            taken.addAll(part);
            part.clear();
        }
        return taken;
    }

    /** One GPU from each of the emptiest nodes, one after the other. */
    List<GpuId> takeSingly(int count) {
        List<GpuId> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            taken.addAll(take(1, Fit.EMPTIEST));
        }
        return taken;
    }

    private List<GpuId> room(int missing, Fit fit) {
        List<GpuId> most = List.of();
        List<GpuId> tightest = List.of();
        for (List<GpuId> room : free) {
            if (room.size() > most.size()) {
                most = room;
            }
            if (room.size() >= missing && (tightest.isEmpty() || room.size() < tightest.size())) {
                tightest = room;
            }
        }
        return fit == Fit.TIGHTEST && !tightest.isEmpty() ? tightest : most;
    }

    static Set<GpuId> union(Collection<List<GpuId>> lists) {
        Set<GpuId> all = new java.util.HashSet<>();
        lists.forEach(all::addAll);
        return all;
    }
}
