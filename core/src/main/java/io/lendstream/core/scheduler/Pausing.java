package io.lendstream.core.scheduler;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.PausedAt;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Chooses the jobs that are paused instead of stopped when they lose all their GPUs. A job is paused if its owner has
 * declared the costs, a pause takes less than the notice, all its GPUs are on one node, the actuator of the node can
 * suspend jobs, and the node has the host memory.
 */
record Pausing(StepBuilder builder) {
    /**
     * Where a job that loses all its GPUs is paused; empty if it is stopped.
     *
     * @param by when it has to have left its GPUs
     */
    Optional<PausedAt> at(JobState job, Instant by) {
        long bytes = job.costs().pausing().map(PauseCosts::hostMemoryBytes).orElse(0L);
        return nodeInTime(job, by)
                .filter(this::canSuspend)
                .filter(node -> hasMemory(node, job, bytes))
                .map(node -> new PausedAt(node, bytes, builder.now()));
    }

    /** The node on which a job would be paused by a time, if its actuator and its memory allow that. */
    private Optional<NodeId> nodeInTime(JobState job, Instant by) {
        Optional<PauseCosts> costs = job.costs().pausing();
        boolean isInTime = costs.isPresent()
                && isTraining(job)
                && builder.now().plus(costs.get().pause()).isBefore(by);
        return isInTime ? node(job) : Optional.empty();
    }

    /** The reason of a stop. It names the ability that the actuator lacks, if the job could be paused with it. */
    Reason becauseOfStop(Reason reason, JobState job, Instant by) {
        return nodeInTime(job, by)
                .filter(node -> !canSuspend(node))
                .map(node -> new Reason(
                        reason.code(),
                        "%s; it is stopped, not paused: %s has no ability suspend"
                                .formatted(reason.text(), actuator(node)),
                        reason.numbers(),
                        reason.inputs()))
                .orElse(reason);
    }

    private String actuator(NodeId node) {
        return builder.entities()
                .scopes()
                .only(node)
                .map(one -> "actuator %s of node %s".formatted(one.actuator(), node))
                .orElse("the actuator of node %s".formatted(node));
    }

    /** Whether it has something to keep: it trains on whole GPUs, none of which is starting, leaving or lost. */
    private boolean isTraining(JobState job) {
        return job.phase() == JobPhase.RUNNING
                && job.changing().isEmpty()
                && job.gpus() > 0
                && !job.isOnSlice()
                && job.allocation().gpus().stream()
                        .allMatch(gpu -> isUp(gpu, new Tenant.Job(job.spec().job())));
    }

    private boolean isUp(GpuId gpu, Tenant job) {
        return builder.gpus()
                .get(gpu)
                .filter(unit -> unit.isHeldBy(job) && unit.owner().isUp())
                .isPresent();
    }

    /** The only node of a job. */
    private Optional<NodeId> node(JobState job) {
        Set<NodeId> nodes = new TreeSet<>();
        job.allocation()
                .gpus()
                .forEach(gpu -> builder.gpus().get(gpu).map(GpuState::nodeId).ifPresent(nodes::add));
        return nodes.size() == 1 ? Optional.of(nodes.iterator().next()) : Optional.empty();
    }

    private boolean canSuspend(NodeId node) {
        return builder.entities()
                .scopes()
                .only(node)
                .filter(actuator -> actuator.abilities().suspend())
                .isPresent();
    }

    private boolean hasMemory(NodeId node, JobState job, long bytes) {
        HostRoom.HostLeft left = new HostRoom(builder).left(node, job);
        return left.facts().memoryBytes().isPresent() && left.memoryBytes() - awaited(node, job) >= bytes;
    }

    /** The memory of a node that other jobs need for GPUs that they are about to get there. */
    private long awaited(NodeId node, JobState job) {
        long bytes = 0;
        for (JobState other : builder.clusterIndex().jobs().unsettled().values()) {
            long need = other.spec().hostNeed().memoryBytesPerGpu().orElse(0L);
            boolean mayGet = need > 0
                    && !other.isOver()
                    && !other.spec().job().equals(job.spec().job());
            for (GpuId gpu : mayGet ? other.target() : List.<GpuId>of()) {
                boolean isNew = !other.allocation().gpus().contains(gpu)
                        && builder.gpus()
                                .get(gpu)
                                .filter(unit -> unit.nodeId().equals(node))
                                .isPresent();
                bytes += isNew ? need : 0;
            }
        }
        return bytes;
    }

    /**
     * Whether a job resumes from host memory on some units: all of them are on its node, whose actuator can still do
     * so.
     */
    boolean resumesOn(JobState job, Iterable<GpuId> units) {
        if (job.paused().isEmpty() || !canSuspend(job.paused().get().node())) {
            return false;
        }
        NodeId node = job.paused().get().node();
        for (GpuId unit : units) {
            if (!builder.gpu(unit).nodeId().equals(node)) {
                return false;
            }
        }
        return true;
    }

    /** The reason of a change with the pause. */
    static Reason because(Reason reason, PausedAt at) {
        Map<String, Double> numbers = new TreeMap<>(reason.numbers());
        numbers.put("hostMemoryBytes", (double) at.hostMemoryBytes());
        return new Reason(
                reason.code(),
                "%s; it is paused with %.1f GiB in the host memory of node %s"
                        .formatted(reason.text(), at.hostMemoryBytes() / (double) (1L << 30), at.node()),
                numbers,
                reason.inputs());
    }
}
