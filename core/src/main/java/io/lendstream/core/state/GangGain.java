package io.lendstream.core.state;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.persistent.PersistentMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The units that one decision gives to a gang, until all of them are bound. It is put together from the units that are
 * left of it.
 *
 * @param part of one of its units
 */
public record GangGain(JobId job, GroupPart part, List<GpuState> units) {
    public GangGain {
        units = List.copyOf(units);
    }

    /** The gain that a unit is a part of; empty if it is a part of none. */
    public static Optional<GangGain> of(ClusterEntities entities, GpuState unit) {
        Optional<JobState> job = isPart(unit)
                ? unit.owner().holdingJob().flatMap(name -> entities.jobs().get(name))
                : Optional.empty();
        if (job.isEmpty()) {
            return Optional.empty();
        }
        ReplicaId name = unit.part().orElseThrow().replica();
        List<GpuState> units = new ArrayList<>();
        for (GpuId id : job.get().allocation().gpus()) {
            part(entities.gpus(), job.get(), id)
                    .filter(other -> other.part().orElseThrow().replica().equals(name))
                    .ifPresent(units::add);
        }
        return Optional.of(new GangGain(job.get().spec().job(), unit.part().orElseThrow(), units));
    }

    /** Some units of a job, without those that it is about to get together with units that are not among them. */
    public static List<GpuId> whole(PersistentMap<GpuId, GpuState> gpus, JobState job, List<GpuId> some) {
        Map<ReplicaId, Integer> left = new HashMap<>();
        for (GpuId id : some) {
            part(gpus, job, id).ifPresent(unit -> {
                GroupPart part = unit.part().orElseThrow();
                left.merge(part.replica(), 1, Integer::sum);
            });
        }
        if (left.isEmpty()) {
            return some;
        }
        List<GpuId> whole = new ArrayList<>();
        for (GpuId id : some) {
            boolean isBroken = part(gpus, job, id)
                    .flatMap(GpuState::part)
                    .filter(part -> left.getOrDefault(part.replica(), 0) < part.units())
                    .isPresent();
            if (!isBroken) {
                whole.add(id);
            }
        }
        return whole.size() == some.size() ? some : List.copyOf(whole);
    }

    /** The unit, if it is on its way to a job as a part of a gain. */
    private static Optional<GpuState> part(PersistentMap<GpuId, GpuState> gpus, JobState job, GpuId id) {
        return gpus.get(id)
                .filter(unit -> isPart(unit)
                        && unit.owner()
                                .holdingJob()
                                .filter(job.spec().job()::equals)
                                .isPresent());
    }

    private static boolean isPart(GpuState unit) {
        return unit.part().isPresent() && unit.owner().isBinding();
    }

    /** Whether all its units are there and reported as bound. */
    public boolean isHere() {
        return ReplicaGroup.areHere(part, units);
    }
}
