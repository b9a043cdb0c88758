package io.lendstream.core.scheduler;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Frees the units that replicas of several units wait for. */
final class GroupRelease {
    private final GroupReasons reasons;
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final Bundles bundles;
    private final Map<GpuId, ReplicaRole> spares;

    /** @param spares the roles of the units of idle replicas of the service */
    GroupRelease(GroupReasons reasons, SchedulerSettings settings, Map<GpuId, ReplicaRole> spares) {
        this.reasons = reasons;
        this.builder = reasons.builder();
        this.settings = settings;
        this.bundles = new Bundles(builder);
        this.spares = Map.copyOf(spares);
    }

    /** Frees the units that the replicas of a role wait for, and promises them to the service; returns them. */
    Set<GpuId> free(RoleSupply role) {
        ReplicaNeed need = role.need().inCounted();
        ServiceId name = reasons.service().spec().service();
        Map<ServiceId, List<GpuId>> replicas = new TreeMap<>();
        Set<GpuId> loans = new LinkedHashSet<>();
        Set<GpuId> units = new TreeSet<>();
        for (UnitSet set : role.waits()) {
            for (GpuId id : set.gpus()) {
                Owner owner = builder.gpu(id).owner();
                units.add(id);
                if (owner.isIdleReplica() || owner.isServing()) {
                    replicas.computeIfAbsent(owner.replicaOf().orElseThrow(), any -> new ArrayList<>())
                            .add(id);
                } else if (owner.isLent()) {
                    loans.add(id);
                } else if (bundles.isWithTraining(builder.gpu(id))) {
                    loans.addAll(loansBeside(builder.gpu(id)));
                }
            }
        }
        String shortage = reasons.shortage(need, " (", ")");
        replicas.forEach((other, gpus) -> stop(need, other, gpus, shortage));
        if (!loans.isEmpty()) {
            takeBack(need, List.copyOf(loans), shortage);
        }
        Tenant tenant = new Tenant.Service(name);
        // The units are out of service by then if their release was not reported.
        Instant until = builder.now().plus(settings.notice().multipliedBy(2)).plus(ReplicaChanges.DRAIN);
        units.forEach(unit -> builder.promises().add(unit, tenant, until));
        return units;
    }

    /** The loans that have to end before a unit of the same bundle can be used; none if they are ending. */
    private List<GpuId> loansBeside(GpuState unit) {
        return bundles.of(unit).map(bundles::units).orElse(List.of()).stream()
                .filter(other -> other.owner().isLent())
                .map(GpuState::gpuId)
                .toList();
    }

    private void stop(ReplicaNeed need, ServiceId other, List<GpuId> gpus, String shortage) {
        ServiceId name = reasons.service().spec().service();
        String text = other.equals(name)
                ? spareText(gpus, name, shortage)
                : "%s %s%s, which %s".formatted(other, Wording.idles(gpus.size()), name, shortage);
        Map<String, Double> numbers = Map.of("idled", (double) gpus.size());
        new ReplicaChanges(builder, settings).stop(other, gpus, reasons.because(need, text, numbers));
    }

    /** The text for replicas of the service itself: spare ones of other roles, and left-out ones. */
    private String spareText(List<GpuId> gpus, ServiceId name, String shortage) {
        Set<ReplicaRole> roles = new TreeSet<>();
        gpus.stream().filter(spares::containsKey).forEach(gpu -> roles.add(spares.get(gpu)));
        List<String> others = roles.stream().map(ReplicaRole::inWords).toList();
        String what = others.isEmpty()
                ? "in shapes that it does not declare any more"
                : "of its role %s that it does not need now".formatted(Wording.list(others));
        return "%s stops replicas %s: it %s".formatted(name, what, shortage);
    }

    private void takeBack(ReplicaNeed need, List<GpuId> loans, String shortage) {
        String cause = ": %s %s; policy %s loses least by the loans of these nodes"
                .formatted(
                        reasons.service().spec().service(),
                        shortage,
                        reasons.policy().info().name());
        new JobChanges(builder, settings)
                .takeBack(loans, back -> reasons.because(need, back.inWords() + cause, back.numbers(Map.of())));
    }
}
