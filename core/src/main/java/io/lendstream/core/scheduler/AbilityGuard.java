package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.TrainingCapacity;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Keeps decisions within the abilities of actuators. A node that two actuators claim, or whose driver does not choose
 * where a tenant starts, gets no new tenant. Where no actuator has described itself, everything is possible.
 */
final class AbilityGuard {
    private final StepBuilder builder;
    private final ActuatorScopes scopes;
    private final Bundles bundles;

    AbilityGuard(StepBuilder builder) {
        this.builder = builder;
        this.scopes = builder.entities().scopes();
        this.bundles = new Bundles(builder);
    }

    /** Whether something is not possible that plans may ask for. */
    boolean isOn() {
        return scopes.restricts();
    }

    /** Whether a unit may get a new tenant. */
    boolean isUsable(GpuState unit) {
        return isUsable(unit.nodeId());
    }

    /** Whether units of a node may get new tenants. */
    boolean isUsable(NodeId node) {
        return !scopes.isClosed(node);
    }

    /** Whether a job may have units of a node together with those of others. */
    boolean spans(NodeId node) {
        return scopes.abilities(node).spansNodes();
    }

    /** Why a unit gets no new tenant; empty if it may get one. */
    Optional<AbilityRefusal> against(GpuState unit) {
        return scopes.dispute(unit.nodeId())
                .map(text -> new AbilityRefusal(AbilityRefusal.ACTUATOR, text))
                .or(() -> againstStart(unit.nodeId()));
    }

    private Optional<AbilityRefusal> againstStart(NodeId node) {
        return scopes.only(node)
                .filter(actuator -> !actuator.abilities().choosesNodes())
                .map(actuator -> new AbilityRefusal(
                        Abilities.AT_BIND,
                        "actuator %s does not choose the node where a tenant starts (atBind nothing), so nothing starts on its nodes"
                                .formatted(actuator.actuator())));
    }

    /** Why an idle unit is not shown to training; empty if it is. */
    Optional<AbilityRefusal> againstLoan(GpuState unit) {
        return against(unit).or(() -> bundles.againstLoan(unit));
    }

    /** Why a MIG instance is not lent alone; empty if it may be. */
    Optional<AbilityRefusal> againstSlice(GpuState unit) {
        return against(unit)
                .or(() -> scopes.only(unit.nodeId())
                        .filter(actuator -> !actuator.abilities().lendsSlices())
                        .map(actuator -> new AbilityRefusal(
                                Abilities.GRANULARITY,
                                "actuator %s does not lend MIG instances".formatted(actuator.actuator()))));
    }

    /** Why a service must not get a unit now; empty if it may. */
    Optional<AbilityRefusal> againstReplica(GpuState unit) {
        return against(unit)
                .or(() -> bundles.isWithTraining(unit)
                        ? Optional.of(new AbilityRefusal(
                                Abilities.GRANULARITY,
                                "%s is with training until its last release is reported"
                                        .formatted(bundles.of(unit).orElse(""))))
                        : Optional.empty());
    }

    /** Why a job must not have these units together; empty if it may. */
    Optional<AbilityRefusal> againstSpan(Collection<GpuId> units) {
        Set<NodeId> nodes = new TreeSet<>();
        units.forEach(unit -> builder.gpus().get(unit).map(GpuState::nodeId).ifPresent(nodes::add));
        if (nodes.size() < 2) {
            return Optional.empty();
        }
        return nodes.stream()
                .flatMap(node -> scopes.only(node).stream())
                .filter(actuator -> !actuator.abilities().spansNodes())
                .findFirst()
                .map(actuator -> new AbilityRefusal(
                        Abilities.SPANS_NODES,
                        "actuator %s does not run one job on several nodes".formatted(actuator.actuator())));
    }

    /**
     * Whether a job must give up units before it gets others: a driver that does not choose units cannot tell which of
     * them to swap.
     */
    boolean givesUpFirst(Collection<GpuId> held, Collection<GpuId> target) {
        if (scopes.isEmpty() || target.containsAll(held)) {
            return false;
        }
        return Stream.concat(held.stream(), target.stream())
                .flatMap(unit -> builder.gpus().get(unit).stream())
                .anyMatch(unit -> scopes.abilities(unit.nodeId()).atBind() != UnitChoice.UNIT);
    }

    /**
     * Whether a job that gives some units back may leave units of another pool in their place: where its driver only
     * chooses their number, a controller chooses the processes that end.
     */
    boolean leavesAny(Collection<GpuId> held, Collection<GpuId> given) {
        if (scopes.isEmpty()) {
            return false;
        }
        Set<Pool> pools = EnumSet.noneOf(Pool.class);
        boolean isAsked = false;
        for (GpuId id : held) {
            Optional<GpuState> unit = builder.gpus().get(id);
            if (unit.isPresent() && scopes.abilities(unit.get().nodeId()).atRelease() == UnitChoice.NOTHING) {
                pools.add(unit.get().pool());
                isAsked |= given.contains(id);
            }
        }
        return isAsked && pools.size() > 1;
    }

    /** Why a change must not give a job new units; empty if it may. */
    Optional<AbilityRefusal> against(Collection<GpuId> gained, Collection<GpuId> after) {
        if (!isOn() || gained.isEmpty()) {
            return Optional.empty();
        }
        for (GpuId id : gained) {
            Optional<AbilityRefusal> refusal = builder.gpus().get(id).flatMap(this::againstLoan);
            if (refusal.isPresent()) {
                return refusal;
            }
        }
        return againstSpan(after);
    }

    /** Why bundles cannot go to a job at once; empty if they can. */
    Optional<AbilityRefusal> againstOpening(Collection<GpuId> gained) {
        return bundles.opening(List.copyOf(gained)).stream()
                .map(builder::gpu)
                .filter(unit -> !unit.isFree())
                .findFirst()
                .map(unit -> new AbilityRefusal(
                        Abilities.GRANULARITY,
                        "%s is lent as a whole, and %s is not free"
                                .formatted(bundles.of(unit).orElse("it"), unit.gpuId())));
    }

    /** Whether each node's actuator runs a job on several nodes. */
    boolean spanAll() {
        if (isOn()) {
            for (Map.Entry<NodeId, Integer> node :
                    builder.clusterIndex().trainingCapacity().nodes()) {
                if (!spans(node.getKey())) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Whether no node's actuator runs a job on several nodes. */
    boolean spansNone() {
        if (!isOn()) {
            return false;
        }
        for (Map.Entry<NodeId, Integer> node :
                builder.clusterIndex().trainingCapacity().nodes()) {
            if (scopes.abilities(node.getKey()).spansNodes()) {
                return false;
            }
        }
        return true;
    }

    /**
     * The idle whole GPUs that plans must not use, with the causes.
     *
     * @param lending whether GPUs of inference are lent at all
     */
    SortedMap<GpuId, AbilityRefusal> hidden(boolean lending) {
        SortedMap<GpuId, AbilityRefusal> hidden = new TreeMap<>();
        if (isOn()) {
            for (GpuState unit : builder.clusterIndex().gpus().seats().values()) {
                boolean isOffered = TrainingCapacity.has(unit) && (unit.pool() == Pool.TRAINING || lending);
                if (isOffered && !unit.isTraining()) {
                    againstLoan(unit).ifPresent(refusal -> hidden.put(unit.gpuId(), refusal));
                }
            }
        }
        return hidden;
    }

    /**
     * Decides one hold for all that a plan could not do.
     *
     * @param hidden the idle GPUs that it could not use
     * @param refused the jobs that do not get all GPUs of the plan
     */
    void hold(Map<GpuId, AbilityRefusal> hidden, Map<JobId, AbilityRefusal> refused) {
        Set<AbilityRefusal> all = new LinkedHashSet<>(refused.values());
        all.addAll(hidden.values());
        if (all.isEmpty()) {
            return;
        }
        AbilityRefusal first = all.iterator().next();
        String more = all.size() == 1 ? "" : " (and %d more)".formatted(all.size() - 1);
        builder.decide(
                builder.now(),
                builder.because(
                        ReasonCode.ABILITY,
                        "the plan leaves out what drivers cannot do: " + first.text() + more,
                        Map.of("gpus", (double) hidden.size(), "jobs", (double) refused.size()),
                        List.of()),
                Action.Hold.without(first.ability()));
    }
}
