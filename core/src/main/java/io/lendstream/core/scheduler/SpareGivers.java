package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.WarmReplica;
import io.lendstream.core.state.WarmReplicas;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The replicas that other services have beyond their present load, for a service whose requests wait: they stand ready
 * for expected requests. Those of several GPUs are given whole. A service keeps its floors, the replicas for its
 * greatest load within the time that a replica takes to come back, and those that have just started.
 */
final class SpareGivers implements ReplicaGivers {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final PresentNeeds needs;
    private final ServiceState service;
    private final GiverQuotas quotas;
    private final AbilityGuard abilities;
    private final Map<ServiceId, WarmReplicas> warm = new HashMap<>();
    /** How many replicas roles may still give. */
    private final Map<Giver, Integer> spare = new HashMap<>();
    /** How many replicas services keep. */
    private final Map<ServiceId, Integer> kept = new HashMap<>();

    private final List<WarmReplica> candidates = new ArrayList<>();
    private final List<WarmReplica> given = new ArrayList<>();

    /** A service, or one of its roles. */
    private record Giver(ServiceId service, ReplicaRole role) {
        static Giver of(WarmReplica replica) {
            return new Giver(
                    replica.service(),
                    replica.group().map(group -> group.part().role()).orElse(ReplicaRole.ALL));
        }
    }

    /** @param service the service whose requests wait */
    SpareGivers(
            StepBuilder builder,
            Policy policy,
            SchedulerSettings settings,
            PresentNeeds needs,
            ServiceState service,
            GiverQuotas quotas) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.needs = needs;
        this.service = service;
        this.quotas = quotas;
        this.abilities = new AbilityGuard(builder);
        for (ServiceState other : builder.services().values()) {
            ServiceId name = other.spec().service();
            boolean mayGive =
                    !name.equals(service.spec().service()) && !other.spec().removed() && needs.isKnown(other);
            if (mayGive && other.spec().hasGroups()) {
                addGroups(other);
            } else if (mayGive) {
                needs.of(other).ifPresent(this::addSingles);
            }
        }
        candidates.sort(LEAST_FIRST);
    }

    /** Replicas of single GPUs are as good as each other, unless their kinds answer more or less. */
    private void addSingles(PresentNeed need) {
        int most = need.up().size() - need.kept();
        if (most <= 0) {
            return;
        }
        ServiceState other = need.service();
        int first = KindNeed.isFor(builder, other) ? need.kept() : 0;
        List<WarmReplica> theirs = new ArrayList<>();
        for (GpuState unit : need.up().subList(first, need.up().size())) {
            if (!needs.hasJustStarted(other, unit)) {
                theirs.add(new WarmReplica(need.name(), Optional.empty(), List.of(unit)));
            }
        }
        add(other, ReplicaRole.ALL, theirs, most, need.kept());
    }

    private void addGroups(ServiceState other) {
        ServiceId name = other.spec().service();
        List<ReplicaGroup> groups = ReplicaGroup.of(builder.clusterIndex(), name);
        for (GroupNeed need : GroupNeed.of(builder, policy, settings, other, groups)) {
            List<ReplicaGroup> up = new ArrayList<>();
            for (ReplicaGroup group : groups) {
                if (need.capacity(group) > 0 && group.isWarm() && !group.isSleeping()) {
                    up.add(group);
                }
            }
            up.sort(Comparator.comparing((ReplicaGroup group) -> !group.isServing())
                    .thenComparing(need.preferredFirst(Comparator.comparing(ReplicaGroup::id))));
            int keeps = Math.min(up.size(), need.kept(up, other.recentPeak(builder.now(), need.lead())));
            List<WarmReplica> theirs = new ArrayList<>();
            for (ReplicaGroup group : up.subList(keeps, up.size())) {
                boolean isNew = group.isServing()
                        && group.units().stream()
                                .anyMatch(unit -> PresentNeeds.isYoungerThan(unit, need.lead(), builder));
                if (!isNew) {
                    theirs.add(new WarmReplica(name, Optional.of(group), group.units()));
                }
            }
            add(other, need.role(), theirs, theirs.size(), keeps);
        }
    }

    private void add(ServiceState other, ReplicaRole role, List<WarmReplica> theirs, int most, int keeps) {
        ServiceId name = other.spec().service();
        warm.computeIfAbsent(name, any -> WarmReplicas.of(builder.clusterIndex(), other.spec()));
        spare.put(new Giver(name, role), most);
        kept.merge(name, keeps, Integer::sum);
        for (WarmReplica replica : theirs) {
            if (ReplicaGivers.isUsable(builder, abilities, replica)) {
                candidates.add(replica);
            }
        }
    }

    @Override
    public List<WarmReplica> candidates() {
        return Collections.unmodifiableList(candidates);
    }

    @Override
    public List<WarmReplica> given() {
        return Collections.unmodifiableList(given);
    }

    @Override
    public boolean give(WarmReplica replica) {
        Giver giver = Giver.of(replica);
        boolean mayGive = !given.contains(replica)
                && spare.getOrDefault(giver, 0) > 0
                && warmOf(replica).mayStop(replica)
                && quotas.mayGive(giver.service(), service.spec().service(), replica.units());
        if (mayGive) {
            warmOf(replica).stop(replica);
            quotas.give(giver.service(), replica.units());
            spare.merge(giver, -1, Integer::sum);
            given.add(replica);
        }
        return mayGive;
    }

    @Override
    public void takeBack(WarmReplica replica) {
        given.remove(replica);
        warmOf(replica).keep(replica);
        quotas.takeBack(replica.service(), replica.units());
        spare.merge(Giver.of(replica), 1, Integer::sum);
    }

    private WarmReplicas warmOf(WarmReplica replica) {
        return Objects.requireNonNull(warm.get(replica.service()), "the service of a candidate is known");
    }

    /** The quota of the service that asks is looked at where units are found. */
    @Override
    public boolean mayGain(List<GpuState> units) {
        return true;
    }

    @Override
    public void gain(List<GpuState> units) {
        // It counts against the quota of the service that asks when it is promised.
    }

    /** Those of several units; {@link WaitingFirst} asks for the others. */
    @Override
    public boolean isForSingles(WarmReplica replica) {
        return replica.group().isPresent();
    }

    @Override
    public void stop(String lacks) {
        ReplicaGivers.byService(given).forEach(theirs -> stop(lacks, theirs));
    }

    private void stop(String lacks, List<WarmReplica> theirs) {
        ServiceId name = theirs.get(0).service();
        List<GpuId> units = new ArrayList<>();
        theirs.forEach(replica -> replica.units().forEach(unit -> units.add(unit.gpuId())));
        String asks = service.spec().service().value();
        int keeps = kept.getOrDefault(name, 0);
        String text = "%s %s, on %s, and keeps %d for its present load; %s is short of %s"
                .formatted(
                        name,
                        Wording.stopsFor(theirs.size(), asks),
                        Reason.counted(units.size(), "GPU"),
                        keeps,
                        asks,
                        lacks);
        Map<String, Double> numbers = new TreeMap<>();
        numbers.put("idled", (double) theirs.size());
        numbers.put("kept", (double) keeps);
        numbers.put("requestsPerSecond", service.arrivalsPerSecond());
        numbers.put("waiting", (double) service.queueDepth());
        new ReplicaChanges(builder, settings)
                .stop(name, units, builder.because(ReasonCode.WAITING, text, numbers, service.rateEvents()));
    }
}
