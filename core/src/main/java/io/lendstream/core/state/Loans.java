package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Whole GPUs that a job was lent and has still.
 *
 * @param gpus by node and name
 * @param ids their names, in the same order
 * @param nodes on which they are
 */
public record Loans(List<GpuState> gpus, List<GpuId> ids, List<Share> nodes) {
    static final Loans NONE = new Loans(List.of(), List.of(), List.of());

    private static final Comparator<GpuState> BY_SEAT = Comparator.comparing(GpuIndex::seat);

    /**
     * The loans on one node.
     *
     * @param first place of the first of them among all
     * @param count how many
     */
    public record Share(NodeId node, int first, int count) {}

    /**
     * Those of a job.
     *
     * @param gpus by node and name
     */
    public static Loans of(List<GpuState> gpus) {
        List<Share> nodes = new ArrayList<>(1);
        int first = 0;
        for (int i = 1; i <= gpus.size(); i++) {
            NodeId node = gpus.get(first).nodeId();
            if (i == gpus.size() || !gpus.get(i).nodeId().equals(node)) {
                nodes.add(new Share(node, first, i - first));
                first = i;
            }
        }
        return new Loans(List.copyOf(gpus), gpus.stream().map(GpuState::gpuId).toList(), List.copyOf(nodes));
    }

    List<GpuState> without(GpuId gpu) {
        List<GpuState> left = new ArrayList<>(gpus);
        left.removeIf(loan -> loan.gpuId().equals(gpu));
        return left;
    }

    List<GpuState> with(GpuState gpu) {
        List<GpuState> more = new ArrayList<>(gpus);
        int place = Collections.binarySearch(more, gpu, BY_SEAT);
        if (place >= 0) {
            more.set(place, gpu);
        } else {
            more.add(-place - 1, gpu);
        }
        return more;
    }
}
