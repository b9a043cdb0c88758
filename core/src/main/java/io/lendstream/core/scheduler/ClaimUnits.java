package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The GPUs that waiting jobs may claim: those that no tenant has, or that are about to be free, and those of jobs. */
final class ClaimUnits {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    /** Units that a plan has given to jobs that wait for them. */
    private final Set<GpuId> planned = new HashSet<>();
    /** The units that training had or could get before the first claim. */
    private Optional<List<GpuState>> usable = Optional.empty();
    /** Free units that jobs may have, or that are about to be free; empty until needed, and after a claim. */
    private Optional<List<GpuState>> open = Optional.empty();
    /** All units by node; empty until needed, and after a claim. */
    private Optional<Map<NodeId, OnNode>> nodes = Optional.empty();

    /** The units of a node. */
    private record OnNode(List<GpuState> open, SortedMap<JobId, List<GpuId>> held) {
        OnNode() {
            this(new ArrayList<>(), new TreeMap<>());
        }
    }

    /** Units that a claim may be made of. */
    record Supply(List<GpuState> open, Supplier<List<QuotaVictims.Held>> held) {}

    ClaimUnits(StepBuilder builder, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        for (JobState job : builder.clusterIndex().jobs().unsettled().values()) {
            planned.addAll(job.target());
        }
    }

    /** Forgets what was read, as a claim has changed it. */
    void changed() {
        open = Optional.empty();
        nodes = Optional.empty();
    }

    /** All units. */
    Supply all() {
        return new Supply(open(), () -> QuotaVictims.all(builder));
    }

    /** The units of some nodes. */
    Supply on(List<NodeId> names) {
        List<GpuState> units = new ArrayList<>();
        SortedMap<JobId, List<GpuId>> held = new TreeMap<>();
        for (NodeId name : names) {
            OnNode node = nodes().getOrDefault(name, new OnNode());
            units.addAll(node.open());
            node.held()
                    .forEach((job, gpus) ->
                            held.computeIfAbsent(job, any -> new ArrayList<>()).addAll(gpus));
        }
        return new Supply(units, () -> held(held));
    }

    private List<QuotaVictims.Held> held(SortedMap<JobId, List<GpuId>> byJob) {
        List<QuotaVictims.Held> held = new ArrayList<>();
        byJob.forEach(
                (job, gpus) -> held.add(new QuotaVictims.Held(builder.jobs().require(job), gpus)));
        return held;
    }

    /** The nodes that have some unit of a kind, in order. */
    List<NodeId> nodes(Optional<KindId> kind) {
        List<NodeId> names = new ArrayList<>();
        nodes().forEach((name, node) -> {
            boolean isOpen = node.open().stream().anyMatch(unit -> unit.kind().equals(kind));
            if (isOpen
                    || node.held().values().stream()
                            .flatMap(List::stream)
                            .anyMatch(unit -> builder.gpu(unit).kind().equals(kind))) {
                names.add(name);
            }
        });
        Collections.sort(names);
        return names;
    }

    private Map<NodeId, OnNode> nodes() {
        Map<NodeId, OnNode> known = nodes.orElseGet(this::byNode);
        nodes = Optional.of(known);
        return known;
    }

    private Map<NodeId, OnNode> byNode() {
        Map<NodeId, OnNode> byNode = new HashMap<>();
        for (GpuState unit : open()) {
            byNode.computeIfAbsent(unit.nodeId(), any -> new OnNode()).open().add(unit);
        }
        for (QuotaVictims.Held some : QuotaVictims.all(builder)) {
            JobId job = some.job().spec().job();
            for (GpuId id : some.gpus()) {
                builder.gpus()
                        .get(id)
                        .ifPresent(unit -> byNode.computeIfAbsent(unit.nodeId(), any -> new OnNode())
                                .held()
                                .computeIfAbsent(job, any -> new ArrayList<>())
                                .add(id));
            }
        }
        return byNode;
    }

    private List<GpuState> open() {
        List<GpuState> known = open.orElseGet(this::listOpen);
        open = Optional.of(known);
        return known;
    }

    private List<GpuState> listOpen() {
        List<GpuState> units = new ArrayList<>();
        for (GpuState listed : usable.orElseGet(this::listUsable)) {
            GpuState unit = builder.gpu(listed.gpuId());
            if (isFree(unit)) {
                units.add(unit);
            }
        }
        return units;
    }

    private List<GpuState> listUsable() {
        List<GpuState> units = new TrainingView(builder, settings).view().gpus();
        usable = Optional.of(units);
        return units;
    }

    /** Whether a unit is free for a job, or will be: a loan that comes back is for a service. */
    boolean isFree(GpuState unit) {
        boolean isComing = unit.owner().isReleasing() && unit.pool() == Pool.TRAINING;
        return (unit.isFree() || unit.owner().isSleeping() || isComing)
                && !planned.contains(unit.gpuId())
                && !builder.promises().has(unit.gpuId());
    }
}
