package io.lendstream.core.state;

import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.persistent.PersistentMap;
import java.util.List;
import java.util.Optional;

/**
 * The whole GPUs that training has or may get. A reclaim reads only the loans, job by job.
 *
 * @param gpus how many are its own and in service, or of inference and idle or lent, whether their nodes can be reached
 *     or not: see {@link #has}
 * @param nodes how many whole GPUs each node has, of those that have any
 * @param ready nodes that can be reached
 * @param away nodes with whole GPUs that cannot
 * @param kinds how many whole GPUs are of each kind, whatever their owner, of those whose kind is known
 * @param loans what each job was lent and has still
 * @param idle how many of {@code gpus} inference has for itself
 * @param lent how many of {@code gpus} are inference's and with training
 * @param inference how many whole GPUs inference has in all
 */
public record TrainingCapacity(
        int gpus,
        PersistentMap<NodeId, Integer> nodes,
        PersistentMap<NodeId, NodeId> ready,
        PersistentMap<NodeId, NodeId> away,
        PersistentMap<KindId, Integer> kinds,
        PersistentMap<JobId, Loans> loans,
        int idle,
        int lent,
        int inference) {
    static final TrainingCapacity EMPTY = new TrainingCapacity(
            0,
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            PersistentMap.empty(),
            0,
            0,
            0);

    TrainingCapacity withNode(Optional<NodeState> before, Optional<NodeState> after) {
        boolean was = before.filter(TrainingCapacity::isReady).isPresent();
        boolean is = after.filter(TrainingCapacity::isReady).isPresent();
        if (was == is) {
            return this;
        }
        NodeId node = (is ? after : before).orElseThrow().node().nodeId();
        return new TrainingCapacity(
                gpus,
                nodes,
                is ? ready.put(node, node) : ready.remove(node),
                is ? away.remove(node) : nodes.contains(node) ? away.put(node, node) : away,
                kinds,
                loans,
                idle,
                lent,
                inference);
    }

    TrainingCapacity withGpu(Optional<GpuState> before, Optional<GpuState> after) {
        Optional<GpuState> was = before.filter(TrainingCapacity::counts);
        Optional<GpuState> is = after.filter(TrainingCapacity::counts);
        if (was.isEmpty() && is.isEmpty()) {
            return this;
        }
        TrainingCapacity counted =
                isAnother(was, is) ? was.map(this::without).orElse(this).with(is) : this;
        Optional<GpuState> hadIt = was.filter(TrainingCapacity::has);
        Optional<GpuState> hasIt = is.filter(TrainingCapacity::has);
        return hadIt.isEmpty() && hasIt.isEmpty() ? counted : counted.moved(hadIt, hasIt);
    }

    /** Whether it is a GPU of the domain. One that others use is not, until they have gone. */
    private static boolean counts(GpuState gpu) {
        return gpu.isWhole() && !gpu.owner().isForeign();
    }

    /** Whether its place or its kind is not the same as it was. */
    private static boolean isAnother(Optional<GpuState> was, Optional<GpuState> is) {
        return was.isEmpty()
                || is.isEmpty()
                || !was.get().nodeId().equals(is.get().nodeId())
                || was.get().pool() != is.get().pool()
                || !was.get().kind().equals(is.get().kind());
    }

    private TrainingCapacity without(GpuState gpu) {
        NodeId node = gpu.nodeId();
        int left = nodes.require(node) - 1;
        return new TrainingCapacity(
                gpus,
                left == 0 ? nodes.remove(node) : nodes.put(node, left),
                ready,
                left == 0 ? away.remove(node) : away,
                counted(gpu.kind(), -1),
                loans,
                idle,
                lent,
                inference - one(gpu.pool() == Pool.INFERENCE));
    }

    private TrainingCapacity with(Optional<GpuState> gpu) {
        if (gpu.isEmpty()) {
            return this;
        }
        NodeId node = gpu.get().nodeId();
        return new TrainingCapacity(
                gpus,
                nodes.put(node, nodes.get(node).orElse(0) + 1),
                ready,
                ready.contains(node) ? away : away.put(node, node),
                counted(gpu.get().kind(), 1),
                loans,
                idle,
                lent,
                inference + one(gpu.get().pool() == Pool.INFERENCE));
    }

    private TrainingCapacity moved(Optional<GpuState> was, Optional<GpuState> is) {
        return new TrainingCapacity(
                gpus - one(was.isPresent()) + one(is.isPresent()),
                nodes,
                ready,
                away,
                kinds,
                lentOtherwise(was, is),
                idle - count(was, false) + count(is, false),
                lent - count(was, true) + count(is, true),
                inference);
    }

    private PersistentMap<KindId, Integer> counted(Optional<KindId> kind, int more) {
        if (kind.isEmpty()) {
            return kinds;
        }
        int count = kinds.get(kind.get()).orElse(0) + more;
        return count == 0 ? kinds.remove(kind.get()) : kinds.put(kind.get(), count);
    }

    private PersistentMap<JobId, Loans> lentOtherwise(Optional<GpuState> was, Optional<GpuState> is) {
        PersistentMap<JobId, Loans> changed = loans;
        Optional<Owner.Lent> before = was.flatMap(gpu -> gpu.owner().asLent());
        if (before.isPresent()) {
            JobId job = before.get().job();
            List<GpuState> left = changed.require(job).without(was.orElseThrow().gpuId());
            changed = left.isEmpty() ? changed.remove(job) : changed.put(job, Loans.of(left));
        }
        Optional<Owner.Lent> after = is.flatMap(gpu -> gpu.owner().asLent());
        if (after.isPresent()) {
            JobId job = after.get().job();
            Loans others = changed.get(job).orElse(Loans.NONE);
            changed = changed.put(job, Loans.of(others.with(is.orElseThrow())));
        }
        return changed;
    }

    private static boolean isReady(NodeState node) {
        return node.node().status() == NodeStatus.READY;
    }

    /** Whether a unit counts among them. */
    public static boolean has(GpuState gpu) {
        if (!gpu.isWhole()) {
            return false;
        }
        if (gpu.isFree()) {
            return true;
        }
        return gpu.pool() == Pool.TRAINING
                ? gpu.isTraining()
                : gpu.owner().isSleeping() || (gpu.isTraining() && !gpu.owner().isReleasing());
    }

    private static int count(Optional<GpuState> gpu, boolean training) {
        return one(gpu.isPresent()
                && gpu.get().pool() == Pool.INFERENCE
                && gpu.get().isTraining() == training);
    }

    private static int one(boolean holds) {
        return holds ? 1 : 0;
    }
}
