package io.lendstream.core.scheduler;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The units that replicas of services with shapes could have: free ones, those that are about to be free, those of
 * sleeping replicas and of spare replicas of other roles of the service, and loans.
 */
final class GroupUnits {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    private final AbilityGuard abilities;
    private final Bundles bundles;
    private final ActuatorScopes scopes;
    private final Set<GpuId> taken = new HashSet<>();
    /** The roles of the units of idle replicas of the service that units are found for. */
    private final Map<GpuId, ReplicaRole> spares = new HashMap<>();

    /** How many of the units that are about to be free are for replicas of one unit. */
    private int kept;

    GroupUnits(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.abilities = new AbilityGuard(builder);
        this.bundles = new Bundles(builder);
        this.scopes = builder.entities().scopes();
    }

    /** Leaves to other services so many of the units that are about to be free, if these are not promised. */
    void keep(int units) {
        kept = units;
    }

    /** A replica gets these units: others do not. */
    void take(UnitSet set) {
        taken.addAll(set.gpus());
    }

    /** The roles of the units of idle replicas of the service that units were found for last. */
    Map<GpuId, ReplicaRole> spares() {
        return spares;
    }

    /** Whether a replica of a role could have a unit in a shape. */
    boolean isFor(GroupNeed need, ReplicaShape shape, GpuState unit) {
        return isOnNodeFor(shape, unit)
                && !spares.getOrDefault(unit.gpuId(), ReplicaRole.UNKNOWN).equals(need.role());
    }

    private boolean isOnNodeFor(ReplicaShape shape, GpuState unit) {
        return shape.nodes() == 1 || scopes.spansReplicas(unit.nodeId());
    }

    /** The units that a service could use without loans. */
    UnitSearch search(ServiceState service, List<GroupNeed> roles) {
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
    void addLoans(ServiceState service, UnitSearch search) {
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
    boolean suits(ServiceState service, GpuState unit) {
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
}
