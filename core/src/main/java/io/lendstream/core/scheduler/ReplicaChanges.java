package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Starts, wakes and stops replicas of services: one decision each, and the transfers that go with it. */
record ReplicaChanges(StepBuilder builder, SchedulerSettings settings) {
    /** Time to drain a replica before it is stopped by force. */
    static final Duration DRAIN = Duration.ofSeconds(30);

    /** The end of a new promise: its unit is out of service by then if its release was not reported. */
    Instant promisedUntil() {
        return builder.now().plus(settings.notice().multipliedBy(2)).plus(DRAIN);
    }

    /** Wake-ups of a protected replica in a row from which its demand counts as swinging. */
    private static final int SWINGS = 3;

    /**
     * The shortest time that a replica works if its demand swings, so that fast swings are not a decision each. A
     * rising need is still served at once.
     */
    private static final Duration SHORTEST_WORK = Duration.ofSeconds(10);

    /** Starts replicas on units that are free. */
    void start(ServiceState service, List<GpuId> gpus, Reason reason) {
        Instant deadline = builder.now().plus(bindTime(service, gpus));
        DecisionId id = builder.nextId();
        builder.decide(deadline, reason, new Action.Serve(service.spec().service(), gpus, false));
        Tenant tenant = new Tenant.Service(service.spec().service());
        for (GpuId gpu : gpus) {
            int attempt = builder.gpu(gpu).failedBinds() + 1;
            builder.put(builder.gpu(gpu).withWarmHits(0));
            builder.own(gpu, new Owner.Binding(tenant, id, deadline, Optional.empty(), attempt));
        }
    }

    /** The time that a start gets on the kind where it takes longest. */
    private Duration bindTime(ServiceState service, List<GpuId> gpus) {
        BindTime times = new BindTime(settings);
        if (service.spec().takesKindsAsAlike()) {
            return times.of(service, Optional.empty(), Optional.empty());
        }
        return gpus.stream()
                .map(gpu -> times.of(service, Optional.empty(), builder.gpu(gpu).kind()))
                .max(Comparator.naturalOrder())
                .orElseGet(() -> times.of(service, Optional.empty(), Optional.empty()));
    }

    /** Puts warm replicas to work. */
    void wake(ServiceId name, List<GpuState> warm, Reason reason) {
        List<GpuId> gpus = warm.stream().map(GpuState::gpuId).toList();
        builder.decide(builder.now().plus(wakeTime(name, warm)), reason, new Action.Serve(name, gpus, true));
        for (GpuState gpu : warm) {
            int hits = gpu.owner().isProtected() ? gpu.warmHits() + 1 : 0;
            builder.put(gpu.withWarmHits(hits));
            builder.own(gpu.gpuId(), new Owner.Serving(name));
        }
    }

    /** The notice, or twice the time that a sleeping replica takes to answer. */
    private Duration wakeTime(ServiceId name, List<GpuState> warm) {
        Optional<Duration> twice = builder.services()
                .get(name)
                .flatMap(service -> service.spec().singleStarts())
                .map(StartTimes::twiceAsleep)
                .filter(time -> time.compareTo(settings.notice()) > 0);
        return twice.isPresent() && warm.stream().anyMatch(gpu -> gpu.owner().isSleeping())
                ? twice.get()
                : settings.notice();
    }

    /** Stops replicas once they are drained. Those of several units are stopped whole. */
    void stop(ServiceId service, List<GpuId> gpus, Reason reason) {
        List<ReplicaGroup> groups = groups(service, gpus);
        if (!groups.isEmpty()) {
            new GroupChanges(builder, settings).stop(service, groups, singles(gpus), reason);
            return;
        }
        Instant by = builder.now().plus(DRAIN);
        DecisionId id = builder.nextId();
        builder.decide(by, reason, new Action.Idle(service, gpus, by));
        for (GpuId gpu : gpus) {
            builder.own(gpu, new Owner.Releasing(new Tenant.Service(service), id, by, by.plus(settings.notice())));
        }
    }

    /** The replicas of several units that some units are parts of. */
    private List<ReplicaGroup> groups(ServiceId service, List<GpuId> gpus) {
        if (builder.clusterIndex().gpus().groups().isEmpty()) {
            return List.of();
        }
        return ReplicaGroup.of(builder.clusterIndex(), service).stream()
                .filter(group -> group.gpus().stream().anyMatch(gpus::contains))
                .toList();
    }

    private List<GpuId> singles(List<GpuId> gpus) {
        return gpus.stream().filter(gpu -> builder.gpu(gpu).part().isEmpty()).toList();
    }

    /** Whether the demand for a replica swings, so that it works a little longer. */
    static boolean swings(GpuState gpu, Instant now) {
        return gpu.warmHits() >= SWINGS && gpu.since().plus(SHORTEST_WORK).isAfter(now);
    }
}
