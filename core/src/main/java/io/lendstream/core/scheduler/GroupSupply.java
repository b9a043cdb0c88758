package io.lendstream.core.scheduler;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
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
    private final InferencePool pool;
    private final QuotaGuard quotas;
    private final AbilityGuard abilities;
    private final Bundles bundles;
    private final ActuatorScopes scopes;
    private final Set<GpuId> taken = new HashSet<>();
    private final Map<ServiceId, Set<GpuId>> promised = new HashMap<>();
    private final RefusedShapes refused;
    /** The roles of the units of idle replicas of the service that units are found for. */
    private final Map<GpuId, ReplicaRole> spares = new HashMap<>();

    /** How many of the units that are about to be free are for replicas of one unit. */
    private int kept;

    GroupSupply(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.quotas = new QuotaGuard(builder);
        this.refused = new RefusedShapes(builder, quotas);
        this.abilities = new AbilityGuard(builder);
        this.bundles = new Bundles(builder);
        this.scopes = builder.entities().scopes();
    }

    /** Leaves to other services so many of the units that are about to be free, if these are not promised. */
    void keep(int units) {
        kept = units;
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
     * @param toFloor whether only floors are filled
     */
    void supply(ServiceState service, List<GroupNeed> roles, boolean toFloor) {
        List<RoleSupply> all = RoleSupply.of(roles, toFloor);
        if (all.isEmpty()) {
            return;
        }
        UnitSearch search = search(service, roles);
        List<UnitSet> waits = new ArrayList<>();
        boolean withLoans = false;
        for (Optional<RoleSupply> next = RoleSupply.next(all); next.isPresent(); next = RoleSupply.next(all)) {
            RoleSupply role = next.get();
            Optional<UnitSet> set = find(service, role, search, UnitSearch.Source.SPARE, waits);
            if (set.isEmpty() && !withLoans) {
                withLoans = true;
                addLoans(service, search);
            }
            set = set.or(() -> find(service, role, search, UnitSearch.Source.LOAN, waits));
            if (set.isEmpty() && all.stream().noneMatch(RoleSupply::hasFound)) {
                set = replace(service, role, roles, search);
            }
            if (set.isEmpty()) {
                role.giveUp();
                if (!toFloor) {
                    refused.add(service.spec().service(), role);
                }
                continue;
            }
            search.take(set.get());
            taken.addAll(set.get().gpus());
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
                    .addAll(new GroupRelease(reasons, settings, spares).free(role));
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
                        : search.find(shape, source, unit -> allowed.test(unit) && isFor(need, shape, unit));
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
            if (suits(service, unit)) {
                search.add(unit, UnitSearch.Source.LEFT_OUT, LEFT_OUT * LeftOutReplicas.size(unit));
                theirs.add(unit.gpuId());
            }
        }
        UnitSearch.Source most = UnitSearch.Source.LEFT_OUT;
        return find(service, role, search, most, List.of())
                .or(() -> find(service, role, search, most, List.of(), unit -> theirs.contains(unit.gpuId())));
    }

    private boolean isFor(GroupNeed need, ReplicaShape shape, GpuState unit) {
        return isOnNodeFor(shape, unit)
                && !spares.getOrDefault(unit.gpuId(), ReplicaRole.UNKNOWN).equals(need.role());
    }

    private boolean isOnNodeFor(ReplicaShape shape, GpuState unit) {
        return shape.nodes() == 1 || scopes.spansReplicas(unit.nodeId());
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

    private UnitSearch search(ServiceState service, List<GroupNeed> roles) {
        UnitSearch search = new UnitSearch(
                settings.model().topology(), node -> builder.nodes().get(node), cached(service));
        for (Iterator<GpuState> free = pool.free(); free.hasNext(); ) {
            add(service, search, free.next(), UnitSearch.Source.FREE);
        }
        int left = kept;
        for (GpuState unit : pool.coming(id -> false)) {
            boolean isForOthers = left > 0 && !builder.promises().has(unit.gpuId());
            left -= isForOthers ? 1 : 0;
            if (!isForOthers) {
                add(service, search, unit, UnitSearch.Source.COMING);
            }
        }
        for (GpuState unit : builder.clusterIndex().gpus().sleeping().values()) {
            boolean isToWake = unit.isHeldBy(new Tenant.Service(service.spec().service())) && isPlanned(unit, roles);
            if (!isToWake) {
                add(service, search, unit, UnitSearch.Source.SLEEPING);
            }
        }
        spares.clear();
        if (roles.size() > 1) {
            addSpares(service, search, roles);
        }
        return search;
    }

    /** The nodes where a service has a replica, if its replicas start faster there. */
    private Set<NodeId> cached(ServiceState service) {
        return service.spec().hardware().startsFromCache()
                ? StartLead.nodes(
                        ReplicaGroup.of(builder.clusterIndex(), service.spec().service()))
                : Set.of();
    }

    /** Whether a unit is a part of a replica that one of the roles is planned with. */
    private static boolean isPlanned(GpuState unit, List<GroupNeed> roles) {
        if (unit.part().isEmpty()) {
            return false;
        }
        for (GroupNeed need : roles) {
            if (need.capacity(unit.part().get(), unit.kind()) > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Adds the units of idle replicas of the service: their role has more than it needs, and its floor serves, because
     * idle replicas of a role under its need or floor have been woken before.
     */
    private void addSpares(ServiceState service, UnitSearch search, List<GroupNeed> roles) {
        for (ReplicaGroup group :
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            for (GroupNeed need : roles) {
                if (group.isIdle() && need.capacity(group) > 0) {
                    group.units().forEach(unit -> {
                        spares.put(unit.gpuId(), need.role());
                        add(service, search, unit, UnitSearch.Source.SPARE);
                    });
                }
            }
        }
    }

    private void add(ServiceState service, UnitSearch search, GpuState unit, UnitSearch.Source source) {
        if (suits(service, unit)) {
            search.add(unit, source);
        }
    }

    /** Adds the loans, those first whose loss hurts training least. */
    private void addLoans(ServiceState service, UnitSearch search) {
        int loans = builder.clusterIndex().gpus().loans().size();
        if (loans == 0) {
            return;
        }
        ClusterView view = new TrainingView(builder, settings).view().ofGpus(unit -> suits(service, unit));
        long place = 0;
        for (GpuId loan : policy.victims(view, loans)) {
            place++;
            GpuState unit = builder.gpu(loan);
            if (unit.owner().isLent() && suits(service, unit)) {
                search.add(unit, UnitSearch.Source.LOAN, place);
                addBundle(service, search, unit, place);
            }
        }
    }

    /** Adds the other units that come back with a loan, where nodes are lent as a whole: idle ones too. */
    private void addBundle(ServiceState service, UnitSearch search, GpuState loan, long place) {
        for (GpuState unit : bundles.of(loan).map(bundles::units).orElse(List.of())) {
            if (bundles.comesBack(unit) && suits(service, unit)) {
                search.add(unit, UnitSearch.Source.LOAN, place);
            }
        }
    }

    /** Whether a replica of a service could use a unit once its present tenant has released it. */
    private boolean suits(ServiceState service, GpuState unit) {
        return unit.isWhole()
                && unit.pool() == Pool.INFERENCE
                && builder.isReachable(unit)
                && scopes.only(unit.nodeId()).isPresent()
                && abilities.isUsable(unit)
                && !taken.contains(unit.gpuId())
                && !builder.promises()
                        .keepsFrom(new Tenant.Service(service.spec().service()), unit.gpuId())
                && service.spec().uses(unit.kind())
                && !service.starts().wait(unit.nodeId());
    }

    private void start(ServiceState service, RoleSupply role, GroupReasons reasons) {
        String what = "starts " + GroupReasons.shapes(role.starts());
        new GroupChanges(builder, settings).start(service, role.starts(), reasons.of(role.before(), what, Map.of()));
    }
}
