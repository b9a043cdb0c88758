package io.lendstream.simulator;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * The GPUs that a job at work has. A gang works with all GPUs of an allocation, which are up, or with none; other jobs
 * go on with some of them if these are enough.
 */
final class JobUnits {
    private final TrainingJob job;
    private final TreeSet<GpuId> held = new TreeSet<>();
    /** Those that came up; followed for gangs only. */
    private final Set<GpuId> up = new HashSet<>();

    private final GpuPlaces places;
    private final TreeSet<KindId> used = new TreeSet<>();

    /** @param places of all GPUs */
    JobUnits(TrainingJob job, GpuPlaces places) {
        this.job = job;
        this.places = places;
    }

    /** The kinds of the GPUs that it has or had. */
    List<KindId> used() {
        return List.copyOf(used);
    }

    Set<GpuId> held() {
        return held;
    }

    /** How many GPUs it has; a MIG instance is a part of one. */
    double gpus() {
        return places.gpus(held);
    }

    void gain(Collection<GpuId> gpus) {
        held.addAll(gpus);
        gpus.forEach(gpu -> Optional.ofNullable(places.kinds().get(gpu)).ifPresent(used::add));
    }

    void cameUp(Collection<GpuId> gpus) {
        if (isGang()) {
            up.addAll(gpus);
        }
    }

    /** Returns whether it had any of them. */
    boolean lose(Collection<GpuId> gpus) {
        up.removeAll(gpus);
        return held.removeAll(gpus);
    }

    /** They have other names from now on. */
    void rename(UnaryOperator<GpuId> names) {
        rename(held, names);
        rename(up, names);
    }

    private static void rename(Set<GpuId> units, UnaryOperator<GpuId> names) {
        List<GpuId> renamed = units.stream().map(names).toList();
        units.clear();
        units.addAll(renamed);
    }

    /** Whether an allocation may be in force: all GPUs of a gang are up. */
    boolean mayRunOn(Allocation next) {
        return !isGang() || up.containsAll(next.gpus());
    }

    /** What it has of an allocation; nothing if that is too little to run on. */
    Allocation of(Allocation next) {
        List<GpuId> gpus = next.gpus().stream().filter(held::contains).toList();
        boolean runs = (job.scaling().elastic() && !isGang())
                ? gpus.size() >= job.scaling().minGpus()
                : gpus.size() == next.gpus().size();
        return gpus.isEmpty() || !runs ? Allocation.suspended(next.mechanism()) : next.on(gpus);
    }

    /** The same of an allocation if it has GPUs of it, else of the one before. */
    Allocation of(Allocation next, Allocation before) {
        return of(hasSomeOf(next) ? next : before);
    }

    /** Whether it has some of the GPUs of an allocation; of a gang, whether all of them are up. */
    private boolean hasSomeOf(Allocation next) {
        return isGang() ? up.containsAll(next.gpus()) : next.gpus().stream().anyMatch(held::contains);
    }

    private boolean isGang() {
        return job.shape().gang();
    }
}
