package io.lendstream.core.scheduler;

import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Finds units for the replicas that services with shapes lack: sets of free units first, then sets with units that are
 * about to be free, with those of sleeping replicas, with those of spare replicas of other roles of the service, with
 * loans, and with those of {@link LeftOutReplicas}. Units that a replica waits for are promised to its service, so that
 * no other tenant takes some of them meanwhile.
 */
final class GroupSupply {
    /** What a unit of a left-out replica costs at least: more than all loans. */
    private static final long LEFT_OUT = 1L << 40;

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final QuotaGuard quotas;
    private final GroupUnits units;
    private final Map<ServiceId, Set<GpuId>> promised = new HashMap<>();
    private final RefusedShapes refused;

    GroupSupply(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.quotas = new QuotaGuard(builder);
        this.refused = new RefusedShapes(builder, quotas);
        this.units = new GroupUnits(builder, policy, settings);
    }

    /** Leaves to other services so many of the units that are about to be free, if these are not promised. */
    void keep(int others) {
        units.keep(others);
    }

    /** The replicas that quotas refuse. */
    RefusedShapes refused() {
        return refused;
    }

    /** The units that this step has promised to a service. */
    Set<GpuId> promised(ServiceId service) {
        return promised.getOrDefault(service, Set.of());
    }

    /**
     * Starts missing replicas on free units, and frees units for the others. Roles take turns, so that none takes all
     * units from the others.
     *
     * @param roles count each replica that units are found for
     * @param fill which needs are filled
     */
    void supply(ServiceState service, List<GroupNeed> roles, Fill fill) {
        List<RoleSupply> all = RoleSupply.of(roles, fill);
        if (all.isEmpty()) {
            return;
        }
        UnitSearch search = units.search(service, roles);
        List<UnitSet> waits = new ArrayList<>();
        boolean withLoans = false;
        for (Optional<RoleSupply> next = RoleSupply.next(all); next.isPresent(); next = RoleSupply.next(all)) {
            RoleSupply role = next.get();
            Optional<UnitSet> set = find(service, role, search, UnitSearch.Source.SPARE, waits);
            if (set.isEmpty() && !withLoans) {
                withLoans = true;
                units.addLoans(service, search);
            }
            set = set.or(() -> find(service, role, search, UnitSearch.Source.LOAN, waits));
            if (set.isEmpty() && all.stream().noneMatch(RoleSupply::hasFound)) {
                set = replace(service, role, roles, search);
            }
            if (set.isEmpty()) {
                role.giveUp();
                if (fill == Fill.ALL) {
                    refused.add(service.spec().service(), role);
                }
                continue;
            }
            search.take(set.get());
            units.take(set.get());
            role.found(set.get());
            if (set.get().isFree()) {
                set.get().units().forEach(unit -> quotas.promise(service.spec().service(), unit));
            } else {
                waits.add(set.get());
            }
        }
        for (RoleSupply role : all) {
            use(service, role);
        }
    }

    private void use(ServiceState service, RoleSupply role) {
        GroupReasons reasons =
                new GroupReasons(builder, policy, service, role.need().role());
        if (!role.starts().isEmpty()) {
            start(service, role, reasons);
        }
        if (!role.waits().isEmpty()) {
            promised.computeIfAbsent(service.spec().service(), any -> new TreeSet<>())
                    .addAll(new GroupRelease(reasons, settings, units.spares()).free(role));
        }
    }

    /** The cheapest units by what has to happen before: what is cheaper in another shape comes first. */
    private Optional<UnitSet> find(
            ServiceState service, RoleSupply role, UnitSearch search, UnitSearch.Source most, List<UnitSet> waits) {
        role.looksAgain();
        return find(service, role, search, most, waits, unit -> true);
    }

    private Optional<UnitSet> find(
            ServiceState service,
            RoleSupply role,
            UnitSearch search,
            UnitSearch.Source most,
            List<UnitSet> waits,
            Predicate<GpuState> allowed) {
        GroupNeed need = role.need();
        for (UnitSearch.Source source : UnitSearch.Source.values()) {
            for (ReplicaShape shape : need.shapes()) {
                Optional<UnitSet> set = source.compareTo(most) > 0
                        ? Optional.empty()
                        : search.find(shape, source, unit -> allowed.test(unit) && units.isFor(need, shape, unit));
                if (set.filter(found -> isWithinQuota(service, role, found, waits))
                        .isPresent()) {
                    return set;
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Units of left-out replicas: of those that the load does not need, or of others if the role is under its floor.
     * One replica is replaced after the other.
     */
    private Optional<UnitSet> replace(ServiceState service, RoleSupply role, List<GroupNeed> roles, UnitSearch search) {
        LeftOutReplicas leftOut = new LeftOutReplicas(builder, service, roles);
        boolean isBusy = leftOut.someStart()
                || !builder.promises().units(service.spec().service()).isEmpty();
        if (isBusy || !leftOut.isAny()) {
            return Optional.empty();
        }
        Optional<UnitSet> spare =
                replace(service, role, search, leftOut.spareUnits()).filter(set -> leftOut.areSpare(set.gpus()));
        return spare.isPresent() || role.need().missingToFloor() == 0
                ? spare
                : replace(service, role, search, leftOut.units());
    }

    /** Units with some of these; with these only where a quota refuses others. */
    private Optional<UnitSet> replace(
            ServiceState service, RoleSupply role, UnitSearch search, List<GpuState> leftOut) {
        Set<GpuId> theirs = new HashSet<>();
        for (GpuState unit : leftOut) {
            if (units.suits(service, unit)) {
                search.add(unit, UnitSearch.Source.LEFT_OUT, LEFT_OUT * LeftOutReplicas.size(unit));
                theirs.add(unit.gpuId());
            }
        }
        UnitSearch.Source most = UnitSearch.Source.LEFT_OUT;
        return find(service, role, search, most, List.of())
                .or(() -> find(service, role, search, most, List.of(), unit -> theirs.contains(unit.gpuId())));
    }

    private boolean isWithinQuota(ServiceState service, RoleSupply role, UnitSet set, List<UnitSet> waits) {
        ServiceId name = service.spec().service();
        if (set.isFree()) {
            Optional<QuotaRefusal> refusal = quotas.against(new Tenant.Service(name), set.gpus());
            refusal.ifPresent(why -> role.refused(why, set));
            return refusal.isEmpty();
        }
        List<GpuId> found = new ArrayList<>();
        waits.forEach(wait -> found.addAll(wait.gpus()));
        for (GpuState unit : set.units()) {
            if (!quotas.couldTake(name, unit, found)) {
                quotas.againstTaking(name, unit, found).ifPresent(why -> role.refused(why, set));
                return false;
            }
            found.add(unit.gpuId());
        }
        return true;
    }

    private void start(ServiceState service, RoleSupply role, GroupReasons reasons) {
        String what = "starts " + GroupReasons.shapes(role.starts());
        new GroupChanges(builder, settings).start(service, role.starts(), reasons.of(role.before(), what, Map.of()));
    }
}
