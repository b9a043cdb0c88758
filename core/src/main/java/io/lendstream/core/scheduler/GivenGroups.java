package io.lendstream.core.scheduler;

import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * Frees units for whole replicas of services with shapes: those that {@link GroupSupply} would use, together with those
 * of replicas that other services give. They are promised, so that the replica starts once all are free.
 */
final class GivenGroups {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;

    /**
     * What a service lacks.
     *
     * @param roles count the replicas that work, start, or wait for promised units
     * @param promised units that replicas wait for
     * @param fill which needs are looked at
     */
    record Lack(List<GroupNeed> roles, List<UnitSet> promised, Fill fill) {
        boolean isAny() {
            return roles.stream().anyMatch(need -> need.missing(fill) > 0);
        }
    }

    GivenGroups(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
    }

    /** Whether a service may ask others for replicas of several units. */
    boolean mayAsk(ServiceState service) {
        return service.spec().hasGroups()
                && builder.slices().isEmpty()
                && !builder.entities().scopes().isEmpty()
                && !pool.isHeldBack(service);
    }

    /** What a service lacks that no units are promised for. */
    Lack lack(ServiceState service, Fill fill) {
        List<GroupNeed> roles = GroupInference.active(builder, policy, settings, service);
        List<UnitSet> waiting = new ArrayList<>();
        List<GpuId> promised = builder.promises().units(service.spec().service());
        if (!promised.isEmpty()) {
            UnitSearch search = new UnitSearch(
                    settings.model().topology(), node -> builder.nodes().get(node), Set.of());
            for (GpuId id : promised) {
                builder.gpus().get(id).ifPresent(unit -> search.add(unit, UnitSearch.Source.COMING));
            }
            supply(
                            roles,
                            fill,
                            (need, shape) -> search.find(shape, UnitSearch.Source.COMING, unit -> true),
                            search::take)
                    .forEach(role -> waiting.addAll(role.waits()));
        }
        return new Lack(roles, waiting, fill);
    }

    /** Finds units for what roles lack: floors first, then the role that lacks the largest share of its replicas. */
    private static List<RoleSupply> supply(
            List<GroupNeed> roles,
            Fill most,
            BiFunction<GroupNeed, ReplicaShape, Optional<UnitSet>> finder,
            Consumer<UnitSet> taker) {
        List<RoleSupply> all = new ArrayList<>();
        for (Fill fill : List.of(Fill.FLOORS, most)) {
            List<RoleSupply> lacking = RoleSupply.of(roles, fill);
            for (Optional<RoleSupply> next = RoleSupply.next(lacking);
                    next.isPresent();
                    next = RoleSupply.next(lacking)) {
                RoleSupply role = next.get();
                Optional<UnitSet> set = Optional.empty();
                for (ReplicaShape shape : role.need().shapes()) {
                    set = set.or(() -> finder.apply(role.need(), shape));
                }
                set.ifPresent(taker);
                set.ifPresentOrElse(role::found, role::giveUp);
            }
            all.addAll(lacking);
        }
        return all;
    }

    /**
     * Frees units for what a service lacks, if others give replicas for it; returns whether they do.
     *
     * @param others how many of the units that are about to be free are for other services
     */
    boolean give(ServiceState service, Lack lack, ReplicaGivers givers, int others) {
        if (givers.candidates().isEmpty()) {
            return false;
        }
        GroupUnits units = new GroupUnits(builder, policy, settings);
        units.keep(others);
        lack.promised().forEach(units::take);
        UnitSearch search = units.search(service, lack.roles());
        units.addLoans(service, search);
        GivenSets sets = new GivenSets(builder, service, units, search, givers);
        List<RoleSupply> roles = supply(
                lack.roles(),
                lack.fill(),
                (need, shape) -> sets.find(shape, unit -> units.isFor(need, shape, unit)),
                search::take);
        List<UnitSet> found = new ArrayList<>();
        roles.forEach(role -> found.addAll(role.waits()));
        if (found.isEmpty()) {
            return false;
        }
        givers.stop(GroupReasons.shapes(found));
        for (RoleSupply role : roles) {
            if (!role.waits().isEmpty()) {
                GroupReasons reasons =
                        new GroupReasons(builder, policy, service, role.need().role());
                new GroupRelease(reasons, settings, units.spares()).free(role);
            }
        }
        return true;
    }
}
