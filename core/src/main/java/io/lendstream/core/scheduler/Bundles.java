package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.LoanBundle;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Units of inference that are lent together, because their actuator lends whole nodes only: all units of a node, or of
 * all nodes of the actuator. They follow from the descriptions of actuators and from the owners of units.
 *
 * <p>A bundle is with training as long as a job takes, has or leaves one of its units. It is lent if all its units are
 * free or have sleeping replicas, and goes back to inference when the last release is reported.
 */
final class Bundles {
    private final StepBuilder builder;
    private final ActuatorScopes scopes;
    private Optional<SortedMap<String, List<GpuId>>> members = Optional.empty();
    private final Map<String, Use> uses = new HashMap<>();
    /** The entities that {@link #uses} are of. */
    private Optional<ClusterEntities> usesOf = Optional.empty();

    /** Who has the units of a bundle. */
    enum Use {
        /** A job has a unit, or takes one. */
        TRAINING,
        /** Jobs and services have units, from before it was described as a bundle: neither gets more. */
        MIXED,
        /** The last jobs are leaving. */
        LEAVING,
        /** All units are free, or have sleeping replicas. */
        IDLE,
        /** A service has a unit, or one is out of service. */
        INFERENCE
    }

    Bundles(StepBuilder builder) {
        this.builder = builder;
        this.scopes = builder.entities().scopes();
    }

    /** Whether there are any. */
    boolean exist() {
        return scopes.hasBundles();
    }

    /** The bundle of a unit, such as {@code node n1}; empty if it can be lent alone. */
    Optional<String> of(GpuState unit) {
        return scopes.bundle(unit);
    }

    private SortedMap<String, List<GpuId>> members() {
        SortedMap<String, List<GpuId>> known = members.orElseGet(this::sorted);
        members = Optional.of(known);
        return known;
    }

    private SortedMap<String, List<GpuId>> sorted() {
        SortedMap<String, List<GpuId>> sorted = new TreeMap<>();
        if (exist()) {
            for (GpuState unit : builder.clusterIndex().gpus().seats().values()) {
                of(unit).ifPresent(name ->
                        sorted.computeIfAbsent(name, any -> new ArrayList<>()).add(unit.gpuId()));
            }
        }
        return sorted;
    }

    private List<GpuState> units(String bundle) {
        List<GpuState> units = new ArrayList<>();
        for (GpuId id : members().getOrDefault(bundle, List.of())) {
            builder.gpus().get(id).ifPresent(units::add);
        }
        return units;
    }

    /** The whole GPUs of a bundle. */
    private int size(String bundle) {
        return (int) units(bundle).stream().filter(GpuState::isWhole).count();
    }

    /** Who has the units of a bundle now; kept while no entity changes. */
    @SuppressWarnings("ReferenceEquality") // the same object has the same owners
    private Use use(String bundle) {
        if (usesOf.isEmpty() || usesOf.get() != builder.entities()) {
            uses.clear();
            usesOf = Optional.of(builder.entities());
        }
        return uses.computeIfAbsent(bundle, this::useNow);
    }

    private Use useNow(String bundle) {
        boolean held = false;
        boolean leaving = false;
        boolean served = false;
        boolean idle = true;
        for (GpuState unit : units(bundle)) {
            Owner owner = unit.owner();
            held |= owner.isHeldByJob() && !owner.isReleasing();
            leaving |= owner.isHeldByJob() && owner.isReleasing();
            served |= owner.holdingService().isPresent();
            idle &= owner.isFree() || owner.isSleeping();
        }
        if (held) {
            return served ? Use.MIXED : Use.TRAINING;
        }
        return leaving ? Use.LEAVING : idle ? Use.IDLE : Use.INFERENCE;
    }

    /** Why an idle unit is not shown to training; empty if it is. */
    Optional<AbilityRefusal> againstLoan(GpuState unit) {
        Optional<String> bundle = of(unit);
        if (bundle.isEmpty()) {
            return Optional.empty();
        }
        Use use = use(bundle.get());
        String why = use == Use.LEAVING ? "it is on its way back to inference" : "a unit of it is in use";
        return use == Use.TRAINING || use == Use.IDLE
                ? Optional.empty()
                : Optional.of(refusal(unit, "%s is lent as a whole, and %s".formatted(bundle.get(), why)));
    }

    private AbilityRefusal refusal(GpuState unit, String text) {
        String actuator =
                scopes.only(unit.nodeId()).map(ActuatorDescription::actuator).orElse("");
        return new AbilityRefusal(
                Abilities.GRANULARITY, "actuator %s lends whole nodes only: %s".formatted(actuator, text));
    }

    /** Whether services may not have a unit yet, as its bundle is with training. */
    boolean isWithTraining(GpuState unit) {
        return of(unit).map(this::use)
                .filter(use -> use != Use.IDLE && use != Use.INFERENCE)
                .isPresent();
    }

    /** Whether a unit is back with inference as soon as the last releases of its bundle are reported. */
    boolean isComing(GpuState unit) {
        return of(unit).map(this::use).filter(Use.LEAVING::equals).isPresent();
    }

    /** Whether a service has a unit of the bundle of a unit. */
    boolean isInUse(GpuState unit) {
        return of(unit).map(this::use).filter(Use.INFERENCE::equals).isPresent();
    }

    /** The free units of bundles that the last jobs are leaving. */
    List<GpuState> waiting() {
        if (!exist()) {
            return List.of();
        }
        List<GpuState> waiting = new ArrayList<>();
        for (String bundle : members().keySet()) {
            if (use(bundle) == Use.LEAVING) {
                units(bundle).stream()
                        .filter(unit -> unit.isFree() && unit.isWhole())
                        .forEach(waiting::add);
            }
        }
        return waiting;
    }

    /**
     * The units that have to be free before a job gets some: these, and the other units of bundles that are not with
     * training yet.
     */
    List<GpuId> opening(List<GpuId> gained) {
        if (!exist()) {
            return gained;
        }
        Set<String> opened = new HashSet<>();
        List<GpuId> all = new ArrayList<>(gained);
        for (GpuId id : gained) {
            Optional<String> bundle = builder.gpus().get(id).flatMap(this::of);
            if (bundle.isPresent() && opened.add(bundle.get()) && use(bundle.get()) != Use.TRAINING) {
                for (GpuId other : members().getOrDefault(bundle.get(), List.of())) {
                    if (!gained.contains(other)) {
                        all.add(other);
                    }
                }
            }
        }
        return all;
    }

    /** Loans with the other units that jobs have, or take, in the same bundles. */
    List<GpuId> whole(List<GpuId> loans) {
        if (!exist()) {
            return loans;
        }
        Set<GpuId> all = new HashSet<>(loans);
        List<GpuId> whole = new ArrayList<>(loans);
        for (GpuId loan : loans) {
            Optional<String> bundle = builder.gpus().get(loan).flatMap(this::of);
            for (GpuState unit : bundle.map(this::units).orElse(List.of())) {
                boolean isHeld = unit.owner().isHeldByJob() && !unit.owner().isReleasing();
                if (isHeld && all.add(unit.gpuId())) {
                    whole.add(unit.gpuId());
                }
            }
        }
        return whole;
    }

    /** The first of some loans, with which inference gets at least {@code count} GPUs by whole bundles. */
    List<GpuId> enough(List<GpuId> loans, int count) {
        if (!exist()) {
            return loans;
        }
        List<GpuId> first = new ArrayList<>();
        Set<String> counted = new HashSet<>();
        int got = 0;
        for (GpuId loan : loans) {
            if (got < count) {
                first.add(loan);
                got += weight(builder.gpu(loan), counted);
            }
        }
        return whole(first);
    }

    /** GPUs that go to training with new loans: whole bundles count, and those with training already do not. */
    int loans(List<GpuId> lent, Set<String> counted) {
        int loans = 0;
        for (GpuId id : lent) {
            Optional<String> bundle = builder.gpus().get(id).flatMap(this::of);
            boolean isLent = bundle.map(this::use).filter(Use.TRAINING::equals).isPresent();
            loans += isLent ? 0 : weight(bundle, counted);
        }
        return loans;
    }

    /** The GPUs that a unit stands for: those of its bundle, the first time that it is counted. */
    int weight(GpuState unit, Set<String> counted) {
        return weight(of(unit), counted);
    }

    private int weight(Optional<String> bundle, Set<String> counted) {
        if (bundle.isEmpty()) {
            return 1;
        }
        return counted.add(bundle.get()) ? size(bundle.get()) : 0;
    }

    /** The refusal of new loans, with the bundles that they would take; empty if they are of none. */
    Optional<AbilityRefusal> refusal(List<GpuId> lent, String veto) {
        String names = inWords(lent);
        return names.isEmpty()
                ? Optional.empty()
                : Optional.of(new AbilityRefusal(
                        Abilities.GRANULARITY, "%s can only be lent as a whole: %s".formatted(names, veto)));
    }

    /** Bundles that loans would take, as text: {@code node n1 (8 GPUs)}. */
    private String inWords(List<GpuId> lent) {
        List<String> names = new ArrayList<>();
        for (GpuId id : lent) {
            builder.gpus()
                    .get(id)
                    .flatMap(this::of)
                    .map(name -> "%s (%s)".formatted(name, Reason.counted(size(name), "GPU")))
                    .filter(text -> !names.contains(text))
                    .ifPresent(names::add);
        }
        return String.join(", ", names);
    }

    /** The whole GPUs of each bundle, for policies. */
    List<LoanBundle> forPolicies() {
        if (!exist()) {
            return List.of();
        }
        List<LoanBundle> all = new ArrayList<>();
        for (String name : members().keySet()) {
            List<GpuId> gpus = units(name).stream()
                    .filter(GpuState::isWhole)
                    .map(GpuState::gpuId)
                    .toList();
            all.add(new LoanBundle(name, gpus));
        }
        return all;
    }

    /**
     * The idle GPUs of inference that stay with it, as only a share may be lent. Bundles are lent whole or not at all.
     *
     * @param most GPUs that may be with training
     */
    Set<GpuId> beyond(int most, List<GpuState> usable) {
        SortedMap<String, List<GpuState>> idle = new TreeMap<>();
        Map<String, Integer> sizes = new TreeMap<>();
        Set<String> lent = new HashSet<>();
        Set<GpuId> spare = new HashSet<>();
        int out = 0;
        for (GpuState gpu : usable) {
            if (gpu.pool() != Pool.INFERENCE) {
                continue;
            }
            Optional<String> bundle = of(gpu);
            boolean isOut = gpu.isTraining()
                    || bundle.map(this::use).filter(Use.TRAINING::equals).isPresent();
            String name = bundle.orElse(gpu.gpuId().value());
            int size = bundle.map(this::size).orElse(1);
            if (!isOut) {
                idle.computeIfAbsent(name, any -> new ArrayList<>()).add(gpu);
                sizes.put(name, size);
            } else {
                out += lent.add(name) ? size : 0;
                if (!gpu.isTraining()) {
                    spare.add(gpu.gpuId());
                }
            }
        }
        Set<GpuId> kept = out > most ? spare : new HashSet<>();
        for (Map.Entry<String, List<GpuState>> each : idle.entrySet()) {
            int size = sizes.getOrDefault(each.getKey(), 1);
            if (out + size <= most) {
                out += size;
            } else {
                each.getValue().forEach(gpu -> kept.add(gpu.gpuId()));
            }
        }
        return kept;
    }
}
