package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The replicas of a service that run or start.
 *
 * @param units their GPUs and MIG instances, and those of warm replicas
 */
record RunningReplicas(List<GpuState> units) {
    static RunningReplicas of(ClusterState state, ServiceId service) {
        return new RunningReplicas(state.gpus().stream()
                .filter(unit -> unit.owner().replicaOf().filter(service::equals).isPresent())
                .toList());
    }

    /** The number of replicas of a service that answer, and did so at a time already. */
    static int servingSince(StepBuilder builder, ServiceId service, Instant time) {
        return replicas(builder.gpus().stream()
                .filter(unit -> unit.owner().isServing()
                        && !unit.since().isAfter(time)
                        && unit.owner().replicaOf().filter(service::equals).isPresent())
                .toList());
    }

    /**
     * Their numbers, such as {@code 2 running, 1 starting}. The need of a service is a number of whole GPUs, so MIG
     * instances are counted apart: {@code 2 GPUs and 3 MIG instances running}. GPUs of several kinds are named:
     * {@code 2 running (1 A100-SXM4-80GB and 1 L4-24GB)}.
     */
    String inWords() {
        List<GpuState> starting = in(Owner::isBinding);
        List<GpuState> running = in(Owner::isServing);
        return counted(running) + " running" + kinds(running)
                + (starting.isEmpty() ? "" : ", " + counted(starting) + " starting" + kinds(starting));
    }

    /** The kinds of some of the units, if the units are of several. */
    private String kinds(List<GpuState> some) {
        if (units.stream().map(GpuState::kind).distinct().count() < 2) {
            return "";
        }
        SortedMap<KindId, Integer> counts = new TreeMap<>();
        some.forEach(unit -> unit.kind().ifPresent(kind -> counts.merge(kind, 1, Integer::sum)));
        List<String> parts = new ArrayList<>();
        counts.forEach((kind, count) -> parts.add(count + " " + kind));
        return parts.isEmpty() ? "" : " (" + Wording.list(parts) + ")";
    }

    private List<GpuState> in(Predicate<Owner> state) {
        return units.stream().filter(unit -> state.test(unit.owner())).toList();
    }

    /** Each unit is a replica, unless it is a part of one of several units. */
    static int replicas(List<GpuState> some) {
        Set<ReplicaId> several = new TreeSet<>();
        int single = 0;
        for (GpuState unit : some) {
            if (unit.part().isPresent()) {
                several.add(unit.part().get().replica());
            } else {
                single++;
            }
        }
        return single + several.size();
    }

    private String counted(List<GpuState> some) {
        boolean allWhole = units.stream().allMatch(GpuState::isWhole);
        if (allWhole || some.isEmpty()) {
            return Integer.toString(replicas(some));
        }
        int whole = (int) some.stream().filter(GpuState::isWhole).count();
        List<String> parts = new ArrayList<>();
        if (whole > 0) {
            parts.add(Reason.counted(whole, "GPU"));
        }
        if (whole < some.size()) {
            parts.add(Reason.counted(some.size() - whole, "MIG instance"));
        }
        return Wording.list(parts);
    }
}
