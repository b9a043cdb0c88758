package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Gives services that declare shapes the replicas that they need: warm ones first, then others by {@link GroupSupply}.
 * Need and floor count whole replicas.
 */
final class GroupInference {
    /** The order in which warm replicas of one shape are woken. */
    private static final Comparator<ReplicaGroup> WARMEST = Comparator.<ReplicaGroup>comparingInt(
                    group -> group.isSleeping() ? 1 : 0)
            .thenComparing(Comparator.<ReplicaGroup>comparingInt(
                            group -> group.units().get(0).warmHits())
                    .reversed())
            .thenComparing(ReplicaGroup::id);

    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final Map<ServiceId, GroupNeed> needs = new LinkedHashMap<>();
    private Optional<GroupSupply> supplies = Optional.empty();

    GroupInference(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
    }

    /** Whether a service has exactly the replicas that it needs, so that this rate update cannot cause a decision. */
    boolean isContent(ServiceState service) {
        GroupNeed need = GroupNeed.of(builder, policy, settings, service);
        List<ReplicaGroup> active = new ArrayList<>();
        for (ReplicaGroup group : ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            boolean counts = group.isActive() && need.capacity(group) > 0;
            if (!counts && !group.isIdle()) {
                return false;
            }
            if (counts) {
                active.add(group);
            }
        }
        return singles(service.spec().service()).isEmpty()
                && active.size() == need.in(active).replicas();
    }

    /** Running replicas of one unit that a service has from before it declared shapes. */
    private List<GpuState> singles(ServiceId service) {
        List<GpuState> singles = new ArrayList<>();
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicas().from(key -> key.service().compareTo(service) >= 0)) {
            if (!replica.getKey().service().equals(service)) {
                break;
            }
            GpuState unit = replica.getValue();
            if (unit.part().isEmpty() && unit.owner().isActiveReplica()) {
                singles.add(unit);
            }
        }
        return singles;
    }

    /** Wakes warm replicas, or protects surplus ones. */
    void adjust(ServiceState service, Map<ServiceId, ReplicaNeed> all) {
        ServiceId name = service.spec().service();
        GroupNeed need = GroupNeed.of(builder, policy, settings, service);
        List<ReplicaGroup> groups =
                new ArrayList<>(ReplicaGroup.of(builder.clusterIndex(), name));
        groups.sort(need.preferredFirst(WARMEST));
        List<ReplicaGroup> serving = new ArrayList<>();
        List<ReplicaGroup> leftOut = new ArrayList<>();
        for (ReplicaGroup group : groups) {
            double capacity = need.capacity(group);
            if (group.isActive() && capacity > 0) {
                need.count(capacity);
            }
            if (group.isServing()) {
                (capacity > 0 ? serving : leftOut).add(group);
            }
        }
        rest(service, need, serving, leftOut);
        List<ReplicaGroup> warm = new ArrayList<>();
        ReplicaNeed before = need.inCounted();
        for (ReplicaGroup group : groups) {
            if (need.missing() > 0 && group.isIdle() && need.capacity(group) > 0) {
                need.count(need.capacity(group));
                warm.add(group);
            }
        }
        if (!warm.isEmpty()) {
            String what = "wakes " + Reason.counted(warm.size(), "warm replica");
            new GroupChanges(builder, settings)
                    .wake(service, warm, GroupReasons.of(builder, policy, service, before, what, Map.of()));
        }
        needs.put(name, need);
        all.put(name, need.inCounted());
    }

    /**
     * Protects the running replicas beyond the need, those in preferred shapes last. Those in shapes that the service
     * does not declare any more rest as soon as the others answer its load.
     */
    private void rest(
            ServiceState service, GroupNeed need, List<ReplicaGroup> serving, List<ReplicaGroup> leftOut) {
        int needed = need.in(serving).replicas();
        if (needed > serving.size()) {
            return;
        }
        List<ReplicaGroup> idle = new ArrayList<>(serving.subList(needed, serving.size()));
        idle.addAll(leftOut);
        for (ReplicaGroup group : idle) {
            GpuState first = group.units().get(0);
            if (!ReplicaChanges.swings(first, builder.now())) {
                new GroupChanges(builder, settings)
                        .protect(group, builder.now().plus(policy.protectFor(first.warmHits())));
            }
        }
        for (GpuState single : singles(service.spec().service())) {
            if (single.owner().isServing()) {
                Instant until = builder.now().plus(policy.protectFor(single.warmHits()));
                builder.own(
                        single.gpuId(), new Owner.Protected(service.spec().service(), until, single.warmHits()));
            }
        }
    }

    /** Lets replicas of several units rest that a service has although it declares no shapes any more. */
    void leaveOut(ServiceState service, boolean isServed) {
        for (ReplicaGroup group : ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            if (isServed && group.isServing()) {
                Instant until =
                        builder.now().plus(policy.protectFor(group.units().get(0).warmHits()));
                new GroupChanges(builder, settings).protect(group, until);
            }
        }
    }

    /**
     * Starts missing replicas on free units, and frees units for the others.
     *
     * @param toFloor whether only floors are filled
     */
    void supply(boolean toFloor) {
        if (needs.isEmpty() || builder.entities().scopes().isEmpty()) {
            return;
        }
        GroupSupply supply = supplies.orElseGet(() -> new GroupSupply(builder, policy, settings));
        supplies = Optional.of(supply);
        needs.forEach((name, need) -> {
            int missing = toFloor ? Math.min(need.missing(), need.missingToFloor()) : need.missing();
            if (missing > 0) {
                supply.supply(builder.services().require(name), need, missing);
            }
            if (!toFloor) {
                builder.promises().keepOnly(name, supply.promised(name));
            }
        });
    }
}
