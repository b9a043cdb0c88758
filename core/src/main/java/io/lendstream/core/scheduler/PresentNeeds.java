package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What services have, and need for the requests there are. Services with shapes have no present need here. */
final class PresentNeeds {
    private final StepBuilder builder;
    private final SingleNeeds needs;
    /** The needs beyond MIG instances. */
    private final Map<ServiceId, ReplicaNeed> beside = new HashMap<>();

    private final Map<ServiceId, KindNeed> besideByKind = new HashMap<>();

    PresentNeeds(StepBuilder builder, SingleNeeds needs) {
        this.builder = builder;
        this.needs = needs;
    }

    /** Takes the need of a service beyond the MIG instances that serve it. */
    void beside(ServiceId service, ReplicaNeed need) {
        beside.put(service, need);
    }

    /** The same of a service that counts by kinds. */
    void beside(ServiceId service, KindNeed need) {
        besideByKind.put(service, need);
    }

    /** The present need of a service with replicas of single GPUs, unless it is being removed. */
    Optional<PresentNeed> of(ServiceState service) {
        if (service.spec().hasGroups() || service.spec().removed()) {
            return Optional.empty();
        }
        Optional<KindNeed> kinds = kinds(service);
        List<GpuState> serving = new ArrayList<>();
        List<GpuState> resting = new ArrayList<>();
        int others = 0;
        for (Map.Entry<Replica, GpuState> replica :
                builder.clusterIndex().gpus().replicasOf(service.spec().service())) {
            GpuState unit = replica.getValue();
            if (!counts(service, unit) || !kinds.map(need -> need.uses(unit)).orElse(true)) {
                continue;
            }
            if (unit.owner().isServing()) {
                serving.add(unit);
            } else if (unit.owner().isProtected()) {
                resting.add(unit);
            } else {
                others++;
            }
        }
        Comparator<GpuState> byName = Comparator.comparing(GpuState::gpuId);
        Comparator<GpuState> order =
                kinds.map(need -> need.preferredFirst(byName)).orElse(byName);
        serving.sort(order);
        resting.sort(order);
        List<GpuState> up = new ArrayList<>(serving);
        up.addAll(resting);
        ReplicaNeed need = kinds.map(each -> each.in(up)).orElseGet(() -> alike(service));
        int needed = need.present(service.feedback());
        int lately = up.size() > needed ? lately(service, up) : 0; // counts only where there are more
        return Optional.of(new PresentNeed(service, needed, lately, up, others, isKnown(service)));
    }

    /** Whether a replica has just started: it works for as long as its return would take before others get its GPU. */
    boolean hasJustStarted(ServiceState service, GpuState unit) {
        return unit.owner().isServing() && isYoungerThan(unit, hold(service), builder);
    }

    /** Whether a unit got what is on it within a time, and has not rested since. */
    static boolean isYoungerThan(GpuState unit, Duration time, StepBuilder builder) {
        return unit.warmHits() == 0
                && Duration.between(unit.since(), builder.now()).compareTo(time) < 0;
    }

    /** Replicas for the greatest load of the last minutes; 0 where MIG instances answer some of it. */
    private int lately(ServiceState service, List<GpuState> up) {
        ServiceId name = service.spec().service();
        if (beside.containsKey(name) || besideByKind.containsKey(name)) {
            return 0;
        }
        double peak = service.recentPeak(builder.now(), hold(service));
        return KindNeed.isFor(builder, service)
                ? needs.byKindFor(service, peak).in(up).now()
                : ReplicaCapacity.of(service.spec()).replicasFor(peak);
    }

    /** The time that a replica of a service takes to come back. */
    private Duration hold(ServiceState service) {
        return KindNeed.isFor(builder, service) ? needs.leadByKind(service) : needs.lead(service);
    }

    private Optional<KindNeed> kinds(ServiceState service) {
        if (!KindNeed.isFor(builder, service)) {
            return Optional.empty();
        }
        return Optional.of(
                Optional.ofNullable(besideByKind.get(service.spec().service())).orElseGet(() -> needs.byKind(service)));
    }

    private ReplicaNeed alike(ServiceState service) {
        return Optional.ofNullable(beside.get(service.spec().service())).orElseGet(() -> needs.alike(service));
    }

    /** Whether a replica is one of a single GPU, and not counted as a MIG instance. */
    private boolean counts(ServiceState service, GpuState unit) {
        return unit.isWhole()
                && unit.part().isEmpty()
                && CuttableGpus.capacity(builder, service.spec().service(), unit) == 0;
    }

    /** Whether the rates of a service are fresh. */
    boolean isKnown(ServiceState service) {
        return Duration.between(service.heardAt(), builder.now()).compareTo(service.patience()) <= 0;
    }
}
