package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Starts, wakes and stops replicas of several units. A replica moves whole: no decision takes some of its units and
 * leaves others.
 */
record GroupChanges(StepBuilder builder, SchedulerSettings settings) {
    /** Starts replicas on units that are free. All units of a replica have to be bound by one deadline. */
    void start(ServiceState service, List<UnitSet> sets, Reason reason) {
        BindTime times = new BindTime(settings);
        Duration longest = sets.stream()
                .map(set -> times.of(service, Optional.of(set.shape().name()), set.kind()))
                .max(Comparator.naturalOrder())
                .orElse(BindTime.of(Duration.ZERO));
        Instant deadline = builder.now().plus(longest);
        DecisionId id = builder.nextId();
        List<ReplicaUnits> replicas = new ArrayList<>();
        for (UnitSet set : sets) {
            replicas.add(new ReplicaUnits(
                    ReplicaId.of(id, replicas.size()),
                    set.shape().name(),
                    set.shape().role(),
                    set.gpus()));
        }
        ServiceId name = service.spec().service();
        builder.decide(deadline, reason, new Action.Serve(name, gpus(replicas), false, replicas));
        for (ReplicaUnits replica : replicas) {
            for (GpuId gpu : replica.units()) {
                int attempt = builder.gpu(gpu).failedBinds() + 1;
                builder.put(builder.gpu(gpu).withWarmHits(0));
                builder.own(gpu, new Owner.Binding(new Tenant.Service(name), id, deadline, Optional.empty(), attempt));
                builder.put(builder.gpu(gpu).in(replica.part()));
            }
        }
    }

    /** Puts warm replicas to work. */
    void wake(ServiceState service, List<ReplicaGroup> warm, Reason reason) {
        ServiceId name = service.spec().service();
        List<ReplicaUnits> replicas = warm.stream().map(ReplicaGroup::named).toList();
        builder.decide(
                builder.now().plus(wakeTime(service, warm)),
                reason,
                new Action.Serve(name, gpus(replicas), true, replicas));
        for (ReplicaGroup group : warm) {
            for (GpuState gpu : group.units()) {
                int hits = gpu.owner().isProtected() ? gpu.warmHits() + 1 : 0;
                builder.put(gpu.withWarmHits(hits));
                builder.own(gpu.gpuId(), new Owner.Serving(name));
            }
        }
    }

    /** The notice, or twice the time that a sleeping replica takes to answer. */
    private Duration wakeTime(ServiceState service, List<ReplicaGroup> warm) {
        Duration longest = settings.notice();
        for (ReplicaGroup group : warm) {
            Duration twice = service.spec()
                    .hardware()
                    .named(group.part().shape())
                    .filter(shape -> group.isSleeping())
                    .map(shape -> shape.starts().twiceAsleep())
                    .orElse(Duration.ZERO);
            longest = twice.compareTo(longest) > 0 ? twice : longest;
        }
        return longest;
    }

    /** Protects replicas that demand does not need now. */
    void protect(ReplicaGroup group, Instant until) {
        for (GpuState gpu : group.units()) {
            builder.own(gpu.gpuId(), new Owner.Protected(group.service(), until, gpu.warmHits()));
        }
    }

    /** Stops replicas, or what is left of them, once they are drained. */
    void stop(ServiceId service, List<ReplicaGroup> groups, Reason reason) {
        stop(service, groups, List.of(), reason);
    }

    /**
     * The same with other replicas of the service.
     *
     * @param singles units of replicas of one unit
     */
    void stop(ServiceId service, List<ReplicaGroup> groups, List<GpuId> singles, Reason reason) {
        Instant by = builder.now().plus(ReplicaChanges.DRAIN);
        DecisionId id = builder.nextId();
        List<ReplicaUnits> replicas = groups.stream().map(ReplicaGroup::named).toList();
        List<GpuId> gpus = new ArrayList<>(gpus(replicas));
        gpus.addAll(singles);
        builder.decide(by, reason, new Action.Idle(service, gpus, by, replicas));
        for (GpuId gpu : gpus) {
            builder.own(gpu, new Owner.Releasing(new Tenant.Service(service), id, by, by.plus(settings.notice())));
        }
    }

    private static List<GpuId> gpus(List<ReplicaUnits> replicas) {
        return replicas.stream().flatMap(replica -> replica.units().stream()).toList();
    }

    /**
     * Stops what is left of replicas that have lost units, or of which a unit could not be bound. What is to be taken
     * over is not stopped before actuators have said that they have it.
     */
    void stopBroken() {
        Map<ServiceId, List<ReplicaGroup>> broken = new LinkedHashMap<>();
        AdoptionFailure adoptions = new AdoptionFailure(builder);
        for (ReplicaGroup group : ReplicaGroup.all(builder.clusterIndex())) {
            if (!group.isComplete() && !adoptions.keeps(group, settings.model().users())) {
                broken.computeIfAbsent(group.service(), any -> new ArrayList<>())
                        .add(group);
            }
        }
        broken.forEach((service, groups) -> {
            builder.invalidatePlan();
            stop(service, groups, lost(service, groups));
        });
    }

    private Reason lost(ServiceId service, List<ReplicaGroup> groups) {
        int lost = 0;
        int left = 0;
        List<String> causes = new ArrayList<>();
        List<Long> events = new ArrayList<>();
        for (ReplicaGroup group : groups) {
            lost += group.part().units() - group.units().size();
            left += group.units().size();
            for (GpuState unit : lostUnits(group)) {
                causes.add("%s: %s".formatted(unit.gpuId(), cause(unit.gpuId())));
                builder.gpus().get(unit.gpuId()).map(GpuState::changedBy).ifPresent(events::add);
            }
        }
        String why = causes.isEmpty() ? "" : " (%s)".formatted(String.join(", ", causes));
        return builder.because(
                ReasonCode.LOST,
                "%s stops %s on %s: %s lost%s, and a replica works only whole"
                        .formatted(
                                service,
                                Reason.counted(groups.size(), "replica"),
                                Reason.counted(left, "GPU"),
                                Reason.counted(lost, "GPU"),
                                why),
                Map.of("lost", (double) lost, "stopped", (double) left, "replicas", (double) groups.size()),
                events);
    }

    /** The units that a replica had before this step and does not have any more. */
    private List<GpuState> lostUnits(ReplicaGroup group) {
        List<GpuId> left = group.gpus();
        return ReplicaGroup.of(builder.before().clusterIndex(), group.service()).stream()
                .filter(known -> known.id().equals(group.id()))
                .flatMap(known -> known.units().stream())
                .filter(unit -> !left.contains(unit.gpuId()))
                .toList();
    }

    private String cause(GpuId id) {
        Optional<GpuState> unit = builder.gpus().get(id);
        return unit.isEmpty()
                ? "its node left"
                : unit.get()
                        .owner()
                        .asQuarantined()
                        .map(Owner.Quarantined::reason)
                        .orElse("its replica ended");
    }

    /**
     * Undoes a replica that is not whole by its deadline. A unit that was not bound twice in a row is quarantined. If
     * none is overdue, the replica has lost a unit, and {@link #stopBroken} stops the rest.
     */
    void giveUp(ReplicaGroup group) {
        List<GpuId> missing = new MissedBinds(builder, settings.model().users())
                .count(group.units(), "a replica of " + group.service());
        List<GpuState> rest = group.gpus().stream()
                .map(builder::gpu)
                .filter(unit -> !unit.owner().isQuarantined())
                .toList();
        if (!rest.isEmpty() && !missing.isEmpty()) {
            stop(
                    group.service(),
                    List.of(new ReplicaGroup(group.service(), group.part(), rest)),
                    builder.because(
                            ReasonCode.TIMEOUT,
                            "%s stops its replica on %s: %s did not start %s, and a replica works only whole"
                                    .formatted(
                                            group.service(),
                                            Reason.counted(group.units().size(), "GPU"),
                                            missing.stream().map(GpuId::value).collect(Collectors.joining(", ")),
                                            new BindTime(settings).inWords()),
                            Map.of("missing", (double) missing.size(), "units", (double)
                                    group.part().units()),
                            group.units().stream().map(GpuState::changedBy).toList()));
        }
    }
}
