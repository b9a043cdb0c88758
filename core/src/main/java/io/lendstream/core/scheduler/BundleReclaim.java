package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Takes loans back by whole {@linkplain Bundles bundles}. Without bundles it leaves them as they are. */
final class BundleReclaim {
    private final StepBuilder builder;
    private final Bundles bundles;

    BundleReclaim(StepBuilder builder) {
        this.builder = builder;
        this.bundles = new Bundles(builder);
    }

    /** The job that gives a unit back: it has it on loan or, in a bundle, takes it. */
    Optional<JobId> borrower(GpuState unit) {
        Owner owner = unit.owner();
        return owner.asLent()
                .map(Owner.Lent::job)
                .or(() -> bundles.exist() && owner.isBinding() ? owner.holdingJob() : Optional.empty());
    }

    /** Loans with the other units that jobs have, or take, in the same bundles. */
    List<GpuId> whole(List<GpuId> loans) {
        if (!bundles.exist()) {
            return loans;
        }
        Set<GpuId> all = new HashSet<>(loans);
        List<GpuId> whole = new ArrayList<>(loans);
        Set<String> opened = new HashSet<>();
        for (GpuId loan : loans) {
            Optional<String> bundle =
                    builder.gpus().get(loan).flatMap(bundles::of).filter(opened::add);
            for (GpuState unit : bundle.map(bundles::units).orElse(List.of())) {
                boolean isHeld = unit.owner().isHeldByJob() && !unit.owner().isReleasing();
                if (isHeld && all.add(unit.gpuId())) {
                    whole.add(unit.gpuId());
                }
            }
        }
        return whole;
    }

    /**
     * The first of some loans, with which a service gets at least {@code count} GPUs by whole bundles. If they are too
     * few, MIG instances are among them that jobs have from before, and that keep whole GPUs from services.
     *
     * @param suits the GPUs that the service can use
     */
    List<GpuId> enough(List<GpuId> loans, int count, Predicate<GpuState> suits) {
        if (!bundles.exist()) {
            return loans;
        }
        List<GpuId> first = new ArrayList<>();
        Set<String> counted = new HashSet<>();
        int got = 0;
        for (GpuId loan : loans) {
            if (got < count) {
                first.add(loan);
                got += gain(bundles.of(builder.gpu(loan)), counted, suits);
            }
        }
        for (String bundle : bundles.names()) {
            List<GpuId> instances = got < count && !counted.contains(bundle) ? lentInstances(bundle) : List.of();
            int gain = instances.isEmpty() ? 0 : gain(Optional.of(bundle), counted, suits);
            if (gain > 0) {
                first.addAll(instances);
                got += gain;
            }
        }
        return whole(first);
    }

    private List<GpuId> lentInstances(String bundle) {
        return bundles.units(bundle).stream()
                .filter(unit -> !unit.isWhole() && unit.owner().isLent())
                .map(GpuState::gpuId)
                .toList();
    }

    /** The GPUs that a service gets with a loan: those of its bundle that suit it, the first time it is counted. */
    private int gain(Optional<String> bundle, Set<String> counted, Predicate<GpuState> suits) {
        if (bundle.isEmpty()) {
            return 1;
        }
        return counted.add(bundle.get())
                ? (int) bundles.units(bundle.get()).stream()
                        .filter(bundles::comesBack)
                        .filter(suits)
                        .count()
                : 0;
    }
}
