package io.lendstream.core.scheduler;

import io.lendstream.core.decision.HostShare;
import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.NodeState;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The CPU and host memory of nodes, and what tenants have of it. A unit of a job counts with the job's share, one of a
 * service with the usual share of a GPU; a paused job counts on its node. Nodes that do not report their CPU or host
 * memory do not limit it. While a job pauses, the larger counts of its shares and its pause.
 */
final class HostRoom {
    private final StepBuilder builder;

    HostRoom(StepBuilder builder) {
        this.builder = builder;
    }

    /** Whether some node reports its CPU or host memory. */
    boolean isOn() {
        return !builder.clusterIndex().hosts().isEmpty();
    }

    /**
     * What is left of a node.
     *
     * @param cpuMillis not limited if the facts have no CPU
     * @param memoryBytes not limited if the facts have no host memory
     */
    record HostLeft(NodeFacts facts, long cpuMillis, long memoryBytes) {
        /** The same after a job has got a unit there. */
        HostLeft without(HostShare share) {
            return new HostLeft(facts, cpuMillis - share.cpuMillis(), memoryBytes - share.memoryBytes());
        }

        /** Why a job does not get so many units there; empty if it does. A job without a need takes what is left. */
        Optional<HostRefusal> against(JobState job, NodeId node, int units) {
            HostNeed need = job.spec().hostNeed();
            long memory =
                    need.memoryBytesPerGpu().map(bytes -> times(bytes, units)).orElse(1L);
            if (facts.memoryBytes().isPresent() && memory > memoryBytes) {
                return Optional.of(new HostRefusal(
                        job.spec().job(),
                        node,
                        HostRefusal.Resource.MEMORY,
                        units,
                        memory,
                        memoryBytes,
                        facts.memoryBytes().get()));
            }
            long cpu =
                    need.cpuMillisPerGpu().map(millis -> times(millis, units)).orElse(1L);
            if (facts.cpuMillis().isPresent() && cpu > cpuMillis) {
                return Optional.of(new HostRefusal(
                        job.spec().job(),
                        node,
                        HostRefusal.Resource.CPU,
                        units,
                        cpu,
                        cpuMillis,
                        facts.cpuMillis().get()));
            }
            return Optional.empty();
        }

        private static long times(long each, int units) {
            long most = Long.MAX_VALUE / 4;
            return units > 0 && each > most / units ? most : each * units;
        }
    }

    /**
     * What is left of a node for a job.
     *
     * @param job a job whose own units and pause there do not count
     * @param leaving units that do not count
     */
    HostLeft left(NodeId node, Optional<JobId> job, Collection<GpuId> leaving) {
        NodeFacts facts = builder.clusterIndex().hosts().get(node).orElse(NodeFacts.NONE);
        long cpu = facts.cpuMillis().orElse(0L);
        long memory = facts.memoryBytes().orElse(0L);
        HostShare usual = usual(node, facts);
        Map<JobId, Long> pausing = new TreeMap<>();
        for (GpuState unit : new UnitsByNode(builder).on(node)) {
            Optional<Tenant> holder = unit.owner().holder();
            boolean isOwn = job.isPresent() && unit.owner().holdingJob().equals(job);
            if (holder.isPresent() && !isOwn && !leaving.contains(unit.gpuId())) {
                Optional<JobState> tenant = holder.flatMap(Tenant::jobId).flatMap(builder.jobs()::get);
                HostShare share = tenant.map(known -> share(known, unit, usual)).orElseGet(() -> part(usual, unit));
                tenant.filter(known -> known.paused().isPresent())
                        .ifPresent(known -> pausing.merge(known.spec().job(), share.memoryBytes(), Long::sum));
                cpu -= share.cpuMillis();
                memory -= share.memoryBytes();
            }
        }
        for (JobState paused : builder.clusterIndex().jobs().paused().values()) {
            boolean isThere =
                    paused.paused().filter(at -> at.node().equals(node)).isPresent();
            if (isThere && job.filter(paused.spec().job()::equals).isEmpty()) {
                long counted = pausing.getOrDefault(paused.spec().job(), 0L);
                memory -= Math.max(0, paused.paused().orElseThrow().hostMemoryBytes() - counted);
            }
        }
        return new HostLeft(facts, cpu, memory);
    }

    /** What is left of a node for a job now. */
    HostLeft left(NodeId node, JobState job) {
        return left(node, Optional.of(job.spec().job()), List.of());
    }

    /** The usual share of a unit. */
    HostShare usual(GpuState unit) {
        NodeFacts facts = builder.clusterIndex().hosts().get(unit.nodeId()).orElse(NodeFacts.NONE);
        return part(usual(unit.nodeId(), facts), unit);
    }

    /** The share of one GPU of a node; 0 where the node reports none. */
    private HostShare usual(NodeId node, NodeFacts facts) {
        int gpus = Math.max(
                1,
                builder.nodes()
                        .get(node)
                        .map(NodeState::node)
                        .map(known -> known.gpus().size())
                        .orElse(1));
        return new HostShare(
                facts.cpuMillis().orElse(0L) / gpus, facts.memoryBytes().orElse(0L) / gpus);
    }

    /** The part of a GPU's share that a unit has: all of it, or that of a MIG instance. */
    private static HostShare part(HostShare usual, GpuState unit) {
        if (unit.isWhole()) {
            return usual;
        }
        double share = unit.instance().map(MigInstance::share).orElse(1.0);
        return new HostShare((long) (usual.cpuMillis() * share), (long) (usual.memoryBytes() * share));
    }

    /** The share of a job on a unit that it has, takes or leaves. */
    private static HostShare share(JobState tenant, GpuState unit, HostShare usual) {
        HostNeed need = tenant.spec().hostNeed();
        HostShare part = part(usual, unit);
        return tenant.allocation()
                .host()
                .orElseGet(() -> new HostShare(
                        need.cpuMillisPerGpu().orElse(part.cpuMillis()),
                        need.memoryBytesPerGpu().orElse(part.memoryBytes())));
    }

    /** The numbers of units on each node. */
    private Map<NodeId, Integer> byNode(Collection<GpuId> units) {
        Map<NodeId, Integer> counts = new TreeMap<>();
        for (GpuId unit : units) {
            builder.gpus().get(unit).ifPresent(known -> counts.merge(known.nodeId(), 1, Integer::sum));
        }
        return counts;
    }

    /**
     * Why a job must not have these units now; empty if it may. Tenants that have some of them leave before.
     *
     * @param gained those of them that it does not have
     */
    Optional<HostRefusal> against(JobState job, Collection<GpuId> units, Collection<GpuId> gained) {
        if (!isOn() || gained.isEmpty()) {
            return Optional.empty();
        }
        Map<NodeId, Integer> all = byNode(units);
        for (NodeId node : byNode(gained).keySet()) {
            Optional<HostRefusal> refusal =
                    left(node, Optional.of(job.spec().job()), units).against(job, node, all.getOrDefault(node, 0));
            if (refusal.isPresent()) {
                return refusal;
            }
        }
        return Optional.empty();
    }

    /** Whether a job cannot have its target even when others have left what they are to leave. */
    boolean isFull(JobState job, Collection<GpuId> gained) {
        if (!isOn() || gained.isEmpty()) {
            return false;
        }
        Set<GpuId> leaving = new HashSet<>(job.target());
        Map<NodeId, Integer> all = byNode(job.target());
        for (NodeId node : byNode(gained).keySet()) {
            new UnitsByNode(builder).on(node).stream().filter(this::isLeft).forEach(unit -> leaving.add(unit.gpuId()));
            HostLeft left = left(node, Optional.of(job.spec().job()), leaving);
            if (left.against(job, node, all.getOrDefault(node, 0)).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Whether its job leaves a unit, or is to leave it. */
    private boolean isLeft(GpuState unit) {
        return unit.owner().isReleasing()
                || unit.owner()
                        .holdingJob()
                        .flatMap(builder.jobs()::get)
                        .filter(job -> !job.target().contains(unit.gpuId()))
                        .isPresent();
    }

    /** Whether a job may have its target now. If it may not, the plan is no longer possible. */
    boolean hasRoom(JobState job, Collection<GpuId> gained) {
        boolean has = against(job, job.target(), gained).isEmpty();
        if (!has) {
            builder.invalidatePlan();
        }
        return has;
    }

    /**
     * The CPU and host memory of a job for each of its units: what it needs, or the least share of a GPU on its nodes.
     * Empty if it needs none and its nodes report none.
     */
    Optional<HostShare> share(JobState job, List<GpuId> units) {
        HostNeed need = job.spec().hostNeed();
        if (units.isEmpty() || (!isOn() && need.isUsual())) {
            return Optional.empty();
        }
        Amount cpu = new Amount(need.cpuMillisPerGpu());
        Amount memory = new Amount(need.memoryBytesPerGpu());
        for (Map.Entry<NodeId, Integer> node : byNode(units).entrySet()) {
            HostLeft left = left(node.getKey(), job);
            HostShare usual = least(usual(node.getKey(), left.facts()), units);
            if (left.facts().cpuMillis().isPresent()) {
                cpu.limit(usual.cpuMillis(), left.cpuMillis() / node.getValue());
            }
            if (left.facts().memoryBytes().isPresent()) {
                memory.limit(usual.memoryBytes(), left.memoryBytes() / node.getValue());
            }
        }
        Optional<HostShare> before = job.allocation().host();
        HostShare share = new HostShare(
                cpu.value(before.map(HostShare::cpuMillis)), memory.value(before.map(HostShare::memoryBytes)));
        return share.cpuMillis() == 0 && share.memoryBytes() == 0 ? Optional.empty() : Optional.of(share);
    }

    /** The smallest part of a share that one of some units has. */
    private HostShare least(HostShare usual, List<GpuId> units) {
        return builder.gpus().get(units.get(0)).map(unit -> part(usual, unit)).orElse(usual);
    }

    /** One resource of a share, while nodes limit it. */
    private static final class Amount {
        private final Optional<Long> need;
        private long usual = Long.MAX_VALUE;
        private long room = Long.MAX_VALUE;
        /** The least room of nodes that have some. */
        private long some = Long.MAX_VALUE;

        Amount(Optional<Long> need) {
            this.need = need;
        }

        void limit(long usualThere, long roomThere) {
            usual = Math.min(usual, usualThere);
            room = Math.min(room, roomThere);
            some = roomThere > 0 ? Math.min(some, roomThere) : some;
        }

        /**
         * The amount for each unit; 0 if it is not limited. A job that keeps units where there is too little room gets
         * no more for each than before.
         */
        long value(Optional<Long> before) {
            long wanted = need.orElse(usual == Long.MAX_VALUE ? 0 : usual);
            if (wanted <= room) {
                return wanted;
            }
            if (need.isEmpty() && room > 0) {
                return room;
            }
            return before.map(had -> Math.min(had, Math.min(wanted, some))).orElse(0L);
        }
    }
}
