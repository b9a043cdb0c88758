package io.lendstream.core.policy;

import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.TopologyWish;
import io.lendstream.core.id.NodeId;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rules of a job about the nodes of its GPUs.
 *
 * @param wholeNodes whether it takes all GPUs of each of its nodes
 * @param wish the topology domain that its GPUs share
 */
public record JobSite(boolean wholeNodes, Optional<TopologyWish> wish, NodeLayout layout) {
    private static final String ANYWHERE = "";

    /** The rules of a shape. */
    public static JobSite of(JobShape shape, NodeLayout layout) {
        return new JobSite(shape.wholeNodes(), shape.topology(), layout);
    }

    /** Whether it has no rules. */
    public boolean isFree() {
        return !wholeNodes && wish.isEmpty();
    }

    /** Whether all its GPUs must be in one domain. */
    public boolean needsDomain() {
        return wish.isPresent() && wish.get().required();
    }

    /** The domain of a node; the same for all nodes if it wishes none. */
    public String domain(NodeId node) {
        return wish.map(near -> layout.domain(node, near.level())).orElse(ANYWHERE);
    }

    /** Whether it may have so many GPUs of each node at once. */
    public boolean suits(Map<NodeId, Integer> gpus) {
        String first = null;
        for (Map.Entry<NodeId, Integer> there : gpus.entrySet()) {
            if (wholeNodes && there.getValue() != layout.gpusOf(there.getKey())) {
                return false;
            }
            if (needsDomain()) {
                String domain = domain(there.getKey());
                if (first != null && !first.equals(domain)) {
                    return false;
                }
                first = domain;
            }
        }
        return true;
    }

    /**
     * The numbers of GPUs that it may have of these nodes at once.
     *
     * @param gpus the GPUs of each node that it may get
     */
    public BitSet sizes(Map<NodeId, Integer> gpus) {
        SortedMap<String, Map<Integer, Integer>> domains = new TreeMap<>();
        for (Map.Entry<NodeId, Integer> there : gpus.entrySet()) {
            int usable = there.getValue();
            if (!wholeNodes || usable == layout.gpusOf(there.getKey())) {
                domains.computeIfAbsent(needsDomain() ? domain(there.getKey()) : ANYWHERE, any -> new HashMap<>())
                        .merge(usable, 1, Integer::sum);
            }
        }
        BitSet sizes = new BitSet();
        domains.values().forEach(nodes -> sizes.or(sums(nodes)));
        return sizes;
    }

    /**
     * The numbers of GPUs of some nodes.
     *
     * @param nodes how many nodes have each number of GPUs
     */
    private BitSet sums(Map<Integer, Integer> nodes) {
        int all = 0;
        for (Map.Entry<Integer, Integer> alike : nodes.entrySet()) {
            all += alike.getKey() * alike.getValue();
        }
        BitSet sums = new BitSet(all + 1);
        if (!wholeNodes) {
            sums.set(0, all + 1);
            return sums;
        }
        sums.set(0);
        for (Map.Entry<Integer, Integer> alike : nodes.entrySet()) {
            int size = alike.getKey();
            // How many nodes of this size the smallest use of them takes for each sum.
            int[] used = new int[all + 1];
            for (int sum = size; sum <= all; sum++) {
                if (!sums.get(sum) && sums.get(sum - size) && used[sum - size] < alike.getValue()) {
                    sums.set(sum);
                    used[sum] = used[sum - size] + 1;
                }
            }
        }
        return sums;
    }
}
