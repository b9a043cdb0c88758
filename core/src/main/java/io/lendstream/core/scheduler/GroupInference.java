package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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
    /** The needs of the roles of each service. */
    private final Map<ServiceId, List<GroupNeed>> needs = new LinkedHashMap<>();

    private Optional<GroupSupply> supplies = Optional.empty();

    GroupInference(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
    }

    /** Whether a service has exactly the replicas that it needs, so that this rate update cannot cause a decision. */
    boolean isContent(ServiceState service) {
        ServiceId name = service.spec().service();
        if (!builder.promises().units(name).isEmpty()) {
            return false; // they end where it lacks nothing any more
        }
        List<ReplicaGroup> groups = ReplicaGroup.of(builder.clusterIndex(), name);
        int known = 0;
        for (GroupNeed need : GroupNeed.of(builder, policy, settings, service, groups)) {
            List<ReplicaGroup> active = new ArrayList<>();
            for (ReplicaGroup group : groups) {
                if (group.isActive() && need.capacity(group) > 0) {
                    active.add(group);
                }
            }
            active.sort(need.preferredFirst(WARMEST)); // as they are counted where decisions are made
            if (active.size() != need.in(active).replicas() || mustWake(need, groups)) {
                return false;
            }
            known += active.size();
        }
        for (ReplicaGroup group : groups) {
            known += group.isIdle() ? 1 : 0;
        }
        return known == groups.size() && LeftOutReplicas.singles(builder, name).isEmpty();
    }

    /** Whether a role is under its floor while others of its replicas start, and a warm one can serve meanwhile. */
    private static boolean mustWake(GroupNeed need, List<ReplicaGroup> groups) {
        int serving = 0;
        boolean hasIdle = false;
        for (ReplicaGroup group : groups) {
            if (need.capacity(group) > 0) {
                serving += group.isServing() ? 1 : 0;
                hasIdle |= group.isIdle();
            }
        }
        return hasIdle && serving < need.floor();
    }

    /** Wakes warm replicas, or protects surplus ones. */
    void adjust(ServiceState service, Map<ServiceId, ReplicaNeed> all) {
        ServiceId name = service.spec().service();
        List<ReplicaGroup> groups = ReplicaGroup.of(builder.clusterIndex(), name);
        List<GroupNeed> roles = GroupNeed.of(builder, policy, settings, service, groups);
        List<ReplicaGroup> leftOut = new ArrayList<>(groups);
        boolean isAnswered = !roles.isEmpty();
        for (GroupNeed need : roles) {
            List<ReplicaGroup> mine = mine(need, groups);
            leftOut.removeAll(mine);
            countActive(need, mine);
            isAnswered &= rest(need, mine);
        }
        if (isAnswered) {
            restLeftOut(name, leftOut);
        }
        for (GroupNeed need : roles) {
            wake(service, need, mine(need, groups));
        }
        if (!new InferencePool(builder).isHeldBack(service)) {
            needs.put(name, roles);
        }
        all.put(name, GroupNeed.sum(roles));
    }

    /** The needs of the roles of a service, which count the replicas that work or start. */
    static List<GroupNeed> active(
            StepBuilder builder, Policy policy, SchedulerSettings settings, ServiceState service) {
        List<ReplicaGroup> groups =
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service());
        List<GroupNeed> roles = GroupNeed.of(builder, policy, settings, service, groups);
        for (GroupNeed need : roles) {
            countActive(need, mine(need, groups));
        }
        return roles;
    }

    private static void countActive(GroupNeed need, List<ReplicaGroup> mine) {
        for (ReplicaGroup group : mine) {
            if (group.isActive()) {
                need.count(need.capacity(group));
            }
        }
    }

    /** The replicas that count for a role, those in preferred shapes first. */
    private static List<ReplicaGroup> mine(GroupNeed need, List<ReplicaGroup> groups) {
        List<ReplicaGroup> mine = new ArrayList<>();
        for (ReplicaGroup group : groups) {
            if (need.capacity(group) > 0) {
                mine.add(group);
            }
        }
        mine.sort(need.preferredFirst(WARMEST));
        return mine;
    }

    /**
     * Protects the running replicas of a role beyond its need, those in preferred shapes last; returns whether the
     * running ones are enough.
     */
    private boolean rest(GroupNeed need, List<ReplicaGroup> mine) {
        List<ReplicaGroup> serving = new ArrayList<>();
        for (ReplicaGroup group : mine) {
            if (group.isServing()) {
                serving.add(group);
            }
        }
        int needed = need.in(serving).replicas();
        if (needed > serving.size()) {
            return false;
        }
        serving.subList(needed, serving.size()).forEach(this::protect);
        return true;
    }

    /** Protects running replicas in shapes that the service does not declare any more. */
    private void restLeftOut(ServiceId service, List<ReplicaGroup> leftOut) {
        for (ReplicaGroup group : leftOut) {
            if (group.isServing()) {
                protect(group);
            }
        }
        for (GpuState single : LeftOutReplicas.singles(builder, service)) {
            if (single.owner().isServing()) {
                Instant until = builder.now().plus(policy.protectFor(single.warmHits()));
                builder.own(single.gpuId(), new Owner.Protected(service, until, single.warmHits()));
            }
        }
    }

    private void protect(ReplicaGroup group) {
        GpuState first = group.units().get(0);
        if (!ReplicaChanges.swings(first, builder.now())) {
            new GroupChanges(builder, settings).protect(group, builder.now().plus(policy.protectFor(first.warmHits())));
        }
    }

    /** Wakes warm replicas of a role that it needs, or that its floor needs until others have started. */
    private void wake(ServiceState service, GroupNeed need, List<ReplicaGroup> mine) {
        List<ReplicaGroup> warm = new ArrayList<>();
        ReplicaNeed before = need.inCounted();
        int serving = 0;
        for (ReplicaGroup group : mine) {
            serving += group.isServing() ? 1 : 0;
        }
        for (ReplicaGroup group : mine) {
            boolean isNeeded = need.missing() > 0 || serving + warm.size() < need.floor();
            if (isNeeded && group.isIdle()) {
                need.count(need.capacity(group));
                warm.add(group);
            }
        }
        if (!warm.isEmpty()) {
            String what =
                    "wakes " + Reason.counted(warm.size(), "warm " + need.role().replica());
            new GroupChanges(builder, settings)
                    .wake(
                            service,
                            warm,
                            new GroupReasons(builder, policy, service, need.role()).of(before, what, Map.of()));
        }
    }

    /** Lets replicas of several units rest that a service has although it declares no shapes any more. */
    void leaveOut(ServiceState service, boolean isServed) {
        for (ReplicaGroup group :
                ReplicaGroup.of(builder.clusterIndex(), service.spec().service())) {
            if (isServed && group.isServing()) {
                Instant until = builder.now()
                        .plus(policy.protectFor(group.units().get(0).warmHits()));
                new GroupChanges(builder, settings).protect(group, until);
            }
        }
    }

    /**
     * Starts missing replicas on free units, and frees units for the others.
     *
     * @param fill which needs are filled
     * @param kept how many of the units that are about to be free are for other services
     */
    void supply(Fill fill, int kept) {
        if (needs.isEmpty() || builder.entities().scopes().isEmpty()) {
            if (fill == Fill.ALL && !builder.entities().queues().isEmpty()) {
                new RefusedShapes(builder, new QuotaGuard(builder)).hold();
            }
            return;
        }
        GroupSupply supply = supplies.orElseGet(() -> new GroupSupply(builder, policy, settings));
        supplies = Optional.of(supply);
        supply.keep(kept);
        if (fill == Fill.FLOORS) {
            giveWayToFloors();
        }
        needs.forEach((name, roles) -> {
            supply.supply(builder.services().require(name), roles, fill);
            if (fill == Fill.ALL) {
                builder.promises().keepOnly(name, supply.promised(name));
            }
        });
        if (fill == Fill.ALL) {
            supply.refused().hold();
        }
    }

    /** Whether a service lacks replicas for the requests there are. */
    boolean areWaiting() {
        return needs.values().stream().flatMap(List::stream).anyMatch(need -> need.missing(Fill.PRESENT) > 0);
    }

    /** Ends promises for needs above floors if a service is under its floor. They are made again from what is left. */
    private void giveWayToFloors() {
        if (builder.promises().isEmpty() || needs.values().stream().noneMatch(GroupInference::isUnderFloor)) {
            return;
        }
        needs.forEach((name, roles) -> {
            if (!isUnderFloor(roles)) {
                builder.promises().keepOnly(name, Set.of());
            }
        });
    }

    private static boolean isUnderFloor(List<GroupNeed> roles) {
        return roles.stream().anyMatch(need -> need.missingToFloor() > 0);
    }
}
