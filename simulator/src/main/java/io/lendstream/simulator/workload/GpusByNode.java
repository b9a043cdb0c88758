package io.lendstream.simulator.workload;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/**
 * How many GPUs a job has on each of its nodes, around the ring that its replicas form. Where the ring begins does not
 * matter, so it begins where it reads smallest.
 *
 * @param gpusByNode one number a node, each at least 1; not empty
 */
public record GpusByNode(List<Integer> gpusByNode) {
    public GpusByNode {
        if (gpusByNode.isEmpty() || Collections.min(gpusByNode) < 1) {
            throw new IllegalArgumentException(
                    "a placement must have at least one node with at least one GPU on each, but was " + gpusByNode);
        }
        List<Integer> smallest = List.copyOf(gpusByNode);
        List<Integer> turned = new ArrayList<>(gpusByNode);
        for (int turn = 1; turn < gpusByNode.size(); turn++) {
            Collections.rotate(turned, -1);
            if (isSmaller(turned, smallest)) {
                smallest = List.copyOf(turned);
            }
        }
        gpusByNode = smallest;
    }

    /**
     * The placement of a job on some nodes.
     *
     * @param gpusByNode in the order of the nodes
     */
    public static GpusByNode of(Collection<Integer> gpusByNode) {
        return new GpusByNode(List.copyOf(gpusByNode));
    }

    public int nodes() {
        return gpusByNode.size();
    }

    public int replicas() {
        return gpusByNode.stream().mapToInt(Integer::intValue).sum();
    }

    private static boolean isSmaller(List<Integer> one, List<Integer> other) {
        for (int i = 0; i < one.size(); i++) {
            int order = one.get(i).compareTo(other.get(i));
            if (order != 0) {
                return order < 0;
            }
        }
        return false;
    }
}
