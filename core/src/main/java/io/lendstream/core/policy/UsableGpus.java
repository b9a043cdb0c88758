package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Loans;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** GPUs that training may use. Plans look at all of them; a reclaim looks at loans, and asks how many there are. */
public final class UsableGpus {
    private final int count;
    private final Supplier<List<GpuState>> source;
    private final Iterable<Map.Entry<JobId, Loans>> loans;
    private final Function<GpuId, Optional<NodeId>> nodes;
    private @Nullable List<GpuState> list;

    private UsableGpus(
            int count,
            Supplier<List<GpuState>> source,
            Iterable<Map.Entry<JobId, Loans>> loans,
            Function<GpuId, Optional<NodeId>> nodes) {
        this.count = count;
        this.source = source;
        this.loans = loans;
        this.nodes = nodes;
    }

    /**
     * All of these.
     *
     * @param gpus by node and id
     */
    public static UsableGpus of(List<GpuState> gpus) {
        List<GpuState> all = List.copyOf(gpus);
        Map<GpuId, NodeId> nodes = new HashMap<>(2 * all.size());
        return of(all, gpu -> {
            if (nodes.isEmpty()) {
                all.forEach(each -> nodes.put(each.gpuId(), each.nodeId()));
            }
            return Optional.ofNullable(nodes.get(gpu));
        });
    }

    /**
     * The same for who knows their nodes already.
     *
     * @param gpus by node and id
     * @param nodes on which node one of them is; empty for other GPUs
     */
    public static UsableGpus of(List<GpuState> gpus, Function<GpuId, Optional<NodeId>> nodes) {
        List<GpuState> all = List.copyOf(gpus);
        return new UsableGpus(all.size(), () -> all, () -> loans(all).entrySet().iterator(), nodes);
    }

    /**
     * GPUs that are listed only on request.
     *
     * @param count how many the list has
     * @param list by node and id
     * @param loans what each job has of them as a loan, by job
     * @param nodes on which node one of them is
     */
    public static UsableGpus of(
            int count,
            Supplier<List<GpuState>> list,
            Iterable<Map.Entry<JobId, Loans>> loans,
            Function<GpuId, Optional<NodeId>> nodes) {
        return new UsableGpus(count, list, loans, nodes);
    }

    private static SortedMap<JobId, Loans> loans(List<GpuState> gpus) {
        Map<JobId, List<GpuState>> lent = new TreeMap<>();
        for (GpuState gpu : gpus) {
            gpu.owner()
                    .asLent()
                    .ifPresent(loan -> lent.computeIfAbsent(loan.job(), job -> new ArrayList<>())
                            .add(gpu));
        }
        SortedMap<JobId, Loans> loans = new TreeMap<>();
        lent.forEach((job, theirs) -> loans.put(job, Loans.of(theirs)));
        return loans;
    }

    int count() {
        return count;
    }

    List<GpuState> list() {
        List<GpuState> known = list;
        if (known == null) {
            known = source.get();
            list = known;
        }
        return known;
    }

    Iterable<Map.Entry<JobId, Loans>> loans() {
        return loans;
    }

    /** On which node one of them is; empty for others. */
    Optional<NodeId> node(GpuId gpu) {
        return nodes.apply(gpu);
    }
}
