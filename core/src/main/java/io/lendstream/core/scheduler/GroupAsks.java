package io.lendstream.core.scheduler;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * Gives services with shapes that lack replicas the nominal quota of their queue, from services of queues that have
 * more than theirs. Units are found for whole replicas only: those that {@link GroupSupply} would use, together with
 * those of replicas that {@link QuotaGivers} give. They are promised, so that the replica starts once all are free.
 */
final class GroupAsks {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    /** The use of quotas once what is decided and promised is done; empty until it is needed. */
    private Optional<QueueLedger> kept = Optional.empty();

    /**
     * What a service lacks.
     *
     * @param roles count the replicas that work, start, or wait for promised units
     * @param promised units that replicas wait for
     */
    private record Lack(List<GroupNeed> roles, List<UnitSet> promised) {
        boolean isAny() {
            return roles.stream().anyMatch(need -> need.missing() > 0);
        }
    }

    GroupAsks(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
    }

    /** Whether a service with shapes lacks replicas that no units are promised for. */
    boolean isShort(ServiceState service) {
        return mayAsk(service) && lack(service).isAny();
    }

    /**
     * Frees units for the services that lack replicas.
     *
     * @param others how many of the units that are about to be free are for other services
     */
    void run(int others) {
        if (!builder.entities().startsGroups()) {
            return;
        }
        for (ServiceState service : builder.services().values()) {
            Optional<ClusterQueue> queue =
                    builder.entities().queueOf(new Tenant.Service(service.spec().service()));
            if (mayAsk(service) && queue.isPresent()) {
                ask(service, queue.get(), others);
            }
        }
    }

    private boolean mayAsk(ServiceState service) {
        return service.spec().hasGroups()
                && builder.slices().isEmpty()
                && !builder.entities().scopes().isEmpty()
                && !pool.isHeldBack(service);
    }

    private Lack lack(ServiceState service) {
        List<GroupNeed> roles = GroupInference.active(builder, policy, settings, service);
        List<UnitSet> waiting = new ArrayList<>();
        List<GpuId> promised = builder.promises().units(service.spec().service());
        if (!promised.isEmpty()) {
            UnitSearch search = new UnitSearch(
                    settings.model().topology(), node -> builder.nodes().get(node), Set.of());
            for (GpuId id : promised) {
                builder.gpus().get(id).ifPresent(unit -> search.add(unit, UnitSearch.Source.COMING));
            }
            supply(roles, (need, shape) -> search.find(shape, UnitSearch.Source.COMING, unit -> true), search::take)
                    .forEach(role -> waiting.addAll(role.waits()));
        }
        return new Lack(roles, waiting);
    }

    /** Finds units for what roles lack: floors first, then the role that lacks the largest share of its replicas. */
    private static List<RoleSupply> supply(
            List<GroupNeed> roles,
            BiFunction<GroupNeed, ReplicaShape, Optional<UnitSet>> finder,
            Consumer<UnitSet> taker) {
        List<RoleSupply> all = new ArrayList<>();
        for (boolean toFloor : new boolean[] {true, false}) {
            List<RoleSupply> lacking = RoleSupply.of(roles, toFloor);
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

    private void ask(ServiceState service, ClusterQueue queue, int others) {
        Lack lack = lack(service);
        if (!lack.isAny()) {
            return;
        }
        QueueLedger ledger = kept.orElseGet(() -> new QuotaGuard(builder).kept());
        kept = Optional.of(ledger);
        QuotaGivers givers = new QuotaGivers(builder, settings, service, queue, ledger);
        if (givers.candidates().isEmpty()) {
            return;
        }
        GroupUnits units = new GroupUnits(builder, policy, settings);
        units.keep(others);
        lack.promised().forEach(units::take);
        UnitSearch search = units.search(service, lack.roles());
        units.addLoans(service, search);
        GivenSets sets = new GivenSets(builder, service, units, search, givers);
        List<RoleSupply> roles = supply(
                lack.roles(), (need, shape) -> sets.find(shape, unit -> units.isFor(need, shape, unit)), search::take);
        List<UnitSet> found = new ArrayList<>();
        roles.forEach(role -> found.addAll(role.waits()));
        if (found.isEmpty()) {
            return;
        }
        kept = Optional.empty();
        givers.stop(GroupReasons.shapes(found));
        for (RoleSupply role : roles) {
            if (!role.waits().isEmpty()) {
                GroupReasons reasons =
                        new GroupReasons(builder, policy, service, role.need().role());
                new GroupRelease(reasons, settings, units.spares()).free(role);
            }
        }
    }
}
