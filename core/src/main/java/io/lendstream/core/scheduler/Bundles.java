package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Granularity;
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
import java.util.TreeSet;

/**
 * Units of inference that are lent together, because their actuator lends whole nodes only: all units of a node, or of
 * a group of nodes. They follow from the descriptions of actuators and from the owners of units.
 *
 * <p>A bundle is with training as long as a job takes, has or leaves one of its units. It is lent if all its units are
 * free or have sleeping replicas, and goes back to inference when the last release is reported.
 */
final class Bundles {
    private final StepBuilder builder;
    private final ActuatorScopes scopes;
    private Optional<SortedMap<String, List<GpuId>>> members = Optional.empty();
    /** What was asked for so far. */
    private Optional<Known> known = Optional.empty();

    /** What is known of bundles by their names. */
    private static final class Known {
        private final Map<String, Integer> sizes = new HashMap<>();
        private final Map<String, Use> uses = new HashMap<>();
        /** Why bundles are not lent. */
        private final Map<String, String> causes = new HashMap<>();
        /** The entities that {@link #uses} and {@link #causes} are of. */
        private Optional<ClusterEntities> usesOf = Optional.empty();
    }

    /** Who has the units of a bundle. */
    enum Use {
        /** A job has a unit, or takes one. */
        TRAINING,
        /** Jobs and services have units, from before it was described as a bundle: neither gets more. */
        MIXED,
        /** The last jobs are leaving. */
        LEAVING,
        /** All units can be reached, and are free or have sleeping replicas. */
        IDLE,
        /** A service has a unit, or one is out of service or on a node that cannot be reached. */
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
        return builder.entities().bundleOf(unit);
    }

    private Known known() {
        Known some = known.orElseGet(Known::new);
        known = Optional.of(some);
        return some;
    }

    private SortedMap<String, List<GpuId>> members() {
        SortedMap<String, List<GpuId>> all = members.orElseGet(this::sorted);
        members = Optional.of(all);
        return all;
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

    /** The names of all bundles, in order. */
    Set<String> names() {
        return members().keySet();
    }

    /** The units of a bundle, in their present state. */
    List<GpuState> units(String bundle) {
        List<GpuState> units = new ArrayList<>();
        for (GpuId id : members().getOrDefault(bundle, List.of())) {
            builder.gpus().get(id).ifPresent(units::add);
        }
        return units;
    }

    /** The whole GPUs of a bundle. */
    private int size(String bundle) {
        return known().sizes.computeIfAbsent(bundle, name ->
                (int) units(name).stream().filter(GpuState::isWhole).count());
    }

    /** Who has the units of a bundle now; kept while no entity changes. */
    @SuppressWarnings("ReferenceEquality") // the same object has the same owners
    private Use use(String bundle) {
        Known now = known();
        if (now.usesOf.isEmpty() || now.usesOf.get() != builder.entities()) {
            now.uses.clear();
            now.causes.clear();
            now.usesOf = Optional.of(builder.entities());
        }
        return now.uses.computeIfAbsent(bundle, this::useNow);
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
            idle &= isIdle(owner) && builder.isReachable(unit);
        }
        if (held) {
            return served ? Use.MIXED : Use.TRAINING;
        }
        return leaving ? Use.LEAVING : idle ? Use.IDLE : Use.INFERENCE;
    }

    private static boolean isIdle(Owner owner) {
        return owner.isFree() || owner.isSleeping();
    }

    /** Why an idle unit is not shown to training; empty if it is. */
    Optional<AbilityRefusal> againstLoan(GpuState unit) {
        Optional<String> bundle = of(unit);
        if (bundle.isEmpty()) {
            return Optional.empty();
        }
        Use use = use(bundle.get());
        return use == Use.TRAINING || use == Use.IDLE
                ? Optional.empty()
                : Optional.of(refusal(
                        unit,
                        "%s is lent as a whole, and %s"
                                .formatted(bundle.get(), known().causes.computeIfAbsent(bundle.get(), this::cause))));
    }

    /** Why a bundle that is not idle is not lent: a tenant first, then what an operator has to mend. */
    private String cause(String bundle) {
        if (use(bundle) == Use.LEAVING) {
            return "it is on its way back to inference";
        }
        String cause = "a unit of it is in use";
        for (GpuState unit : units(bundle)) {
            Owner owner = unit.owner();
            if (!isIdle(owner) && !owner.isQuarantined()) {
                return "a unit of it is in use";
            }
            if (owner.isQuarantined()) {
                cause = "%s of it is %s".formatted(unit.gpuId(), owner.isForeign() ? "foreign" : "out of service");
            } else if (!builder.isReachable(unit)) {
                cause = "its node %s is not ready".formatted(unit.nodeId());
            }
        }
        return cause;
    }

    private AbilityRefusal refusal(GpuState unit, String text) {
        Optional<ActuatorDescription> actuator = scopes.only(unit.nodeId());
        boolean isOfGroups = actuator.filter(known -> known.abilities().granularity() == Granularity.NODE_GROUP)
                .isPresent();
        return new AbilityRefusal(
                Abilities.GRANULARITY,
                "actuator %s lends whole %s only: %s"
                        .formatted(
                                actuator.map(ActuatorDescription::actuator).orElse(""),
                                isOfGroups ? "groups of nodes" : "nodes",
                                text));
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

    /** The free units of bundles that the last jobs are leaving, on nodes that can be reached. */
    List<GpuState> waiting() {
        if (!exist()) {
            return List.of();
        }
        List<GpuState> waiting = new ArrayList<>();
        for (String bundle : members().keySet()) {
            if (use(bundle) == Use.LEAVING) {
                units(bundle).stream()
                        .filter(unit -> unit.isFree() && unit.isWhole() && builder.isReachable(unit))
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

    /** GPUs that go to training with new loans: whole bundles count, and those with training already do not. */
    int loans(List<GpuId> lent, Set<String> counted) {
        if (!exist()) {
            return lent.size();
        }
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

    /** Whether services can use a GPU once the jobs of its bundle are gone. */
    boolean comesBack(GpuState unit) {
        return unit.isWhole()
                && builder.isReachable(unit)
                && (unit.isFree() || unit.owner().isHeldByJob());
    }

    /** The GPUs of each bundle that services get with it, for policies. */
    List<LoanBundle> forPolicies() {
        if (!exist()) {
            return List.of();
        }
        List<LoanBundle> all = new ArrayList<>();
        for (String name : members().keySet()) {
            List<GpuId> gpus = units(name).stream()
                    .filter(this::comesBack)
                    .map(GpuState::gpuId)
                    .toList();
            all.add(new LoanBundle(name, gpus));
        }
        return all;
    }

    /**
     * Whether a job can follow others on units: each bundle of them stays with training by another unit, or all of it
     * can become free. A bundle whose last job leaves goes back to inference first.
     *
     * @param lost units that jobs lose for it, which may be more
     */
    boolean canFollow(List<GpuId> target, Set<GpuId> lost) {
        if (!exist()) {
            return true;
        }
        Set<String> names = new TreeSet<>();
        target.forEach(id -> builder.gpus().get(id).flatMap(this::of).ifPresent(names::add));
        for (String bundle : names) {
            boolean stays = false;
            boolean canOpen = true;
            for (GpuState unit : units(bundle)) {
                Owner owner = unit.owner();
                boolean isLeft = target.contains(unit.gpuId()) || lost.contains(unit.gpuId());
                stays |= !isLeft && owner.isHeldByJob() && !owner.isReleasing();
                canOpen &= isLeft || owner.isReleasing() || (isIdle(owner) && builder.isReachable(unit));
            }
            if (!stays && !canOpen) {
                return false;
            }
        }
        return true;
    }

    /**
     * The idle GPUs of inference that stay with it, as only a share may be lent. Bundles are lent whole or not at all.
     *
     * @param most GPUs that may be with training
     */
    Set<GpuId> beyond(int most, List<GpuState> usable) {
        SortedMap<String, List<GpuState>> idle = new TreeMap<>();
        Map<String, Integer> weights = new TreeMap<>();
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
                weights.put(name, size);
            } else {
                out += lent.add(name) ? size : 0;
                if (!gpu.isTraining()) {
                    spare.add(gpu.gpuId());
                }
            }
        }
        Set<GpuId> kept = out > most ? spare : new HashSet<>();
        for (Map.Entry<String, List<GpuState>> each : idle.entrySet()) {
            int size = weights.getOrDefault(each.getKey(), 1);
            if (out + size <= most) {
                out += size;
            } else {
                each.getValue().forEach(gpu -> kept.add(gpu.gpuId()));
            }
        }
        return kept;
    }
}
