package io.lendstream.core.scheduler;

import io.lendstream.core.decision.GroupPart;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Replica;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Learns from reports how long replicas take to start. A report counts once for each shape and kind of GPU, however
 * many replicas it names, and only if it has the time by the clock of its actuator. A replica of several units counts
 * once all its units are bound. A replica that is taken over is not started.
 */
record StartReports(StepBuilder builder, SchedulerSettings settings) {
    /** A start that was given up counts for at most this time, or ten times the declared one if that is longer. */
    private static final Duration MOST_GIVEN_UP = Duration.ofMinutes(10);

    private static final int MOST_FACTOR = 10;

    /** The replicas that a report may complete, as they were before. */
    record Before(List<Start> starts) {}

    /**
     * A start of a replica.
     *
     * @param shape the name of its shape; empty for a replica of one GPU
     * @param unit its unit, or one of its units
     * @param cached whether the service had a replica on the node; empty if that is not sure
     */
    private record Start(Optional<String> shape, GpuState unit, Optional<Boolean> cached) {
        boolean isLike(Start other) {
            return shape.equals(other.shape) && unit.kind().equals(other.unit.kind()) && cached.equals(other.cached);
        }
    }

    /** Whether a step's report changes the start-up time of a service, and with it the need of the service ahead. */
    static boolean changeNeed(StepBuilder step, SchedulerSettings settings) {
        Optional<ServiceId> service = settings.learn()
                ? step.event().asReport().flatMap(ActuationReport::tenant).flatMap(Tenant::serviceId)
                : Optional.empty();
        return service.isPresent()
                && !timed(step.before().services().get(service.get()))
                        .equals(timed(step.services().get(service.get())));
    }

    private static Optional<InferenceService> timed(Optional<ServiceState> service) {
        return service.map(ServiceState::timed);
    }

    /** To be called before a report is applied. */
    Before before(ActuationReport report) {
        List<Start> starts = new ArrayList<>();
        Optional<ServiceState> service = service(report);
        if (service.isPresent() && report.outcome() == Outcome.BOUND) {
            for (GpuId id : report.gpus()) {
                builder.gpus()
                        .get(id)
                        .filter(unit -> isStart(report, unit))
                        .ifPresent(unit -> starts.add(start(service.get(), unit)));
            }
        }
        return new Before(starts);
    }

    private Optional<ServiceState> service(ActuationReport report) {
        return settings.learn() && report.timings().bind().isPresent()
                ? report.tenant().flatMap(Tenant::serviceId).flatMap(builder.services()::get)
                : Optional.empty();
    }

    private static boolean isStart(ActuationReport report, GpuState unit) {
        return !unit.owner().isAdoption()
                && unit.owner()
                        .asBinding()
                        .filter(binding -> ReportApplier.isAbout(report, binding))
                        .isPresent();
    }

    private Start start(ServiceState service, GpuState unit) {
        Optional<String> shape = unit.part().map(GroupPart::shape);
        return new Start(shape, unit, startsFromCache(service, shape) ? isCached(service, unit) : Optional.of(false));
    }

    private static boolean startsFromCache(ServiceState service, Optional<String> shape) {
        Optional<StartTimes> starts = shape.isPresent()
                ? service.spec().hardware().named(shape.get()).map(ReplicaShape::starts)
                : service.spec().singleStarts();
        return starts.flatMap(StartTimes::cached).isPresent();
    }

    /** Not sure if other replicas on the node came up, or changed, while this one started. */
    private Optional<Boolean> isCached(ServiceState service, GpuState mine) {
        boolean isSure = true;
        for (Map.Entry<Replica, GpuState> other :
                builder.clusterIndex().gpus().replicasOf(service.spec().service())) {
            GpuState unit = other.getValue();
            if (unit.nodeId().equals(mine.nodeId()) && unit.owner().isUp()) {
                if (unit.since().isBefore(mine.since())) {
                    return Optional.of(true);
                }
                isSure = false;
            }
        }
        return isSure ? Optional.of(false) : Optional.empty();
    }

    /** To be called after the report is applied. */
    void learn(ActuationReport report, Before before) {
        Optional<ServiceState> service = service(report);
        if (service.isEmpty()) {
            return;
        }
        Duration took = report.timings().bind().orElseThrow();
        List<Start> counted = new ArrayList<>();
        for (Start start : before.starts()) {
            boolean isUp = builder.gpus()
                    .get(start.unit().gpuId())
                    .filter(unit -> unit.owner().isServing())
                    .isPresent();
            if (isUp && start.cached().isPresent() && counted.stream().noneMatch(start::isLike)) {
                counted.add(start);
                started(
                        report,
                        start.shape(),
                        start.unit().kind(),
                        start.cached().get(),
                        took);
            }
        }
        if (report.outcome() == Outcome.FAILED) {
            gaveUp(report, service.get(), took);
        }
    }

    private void started(
            ActuationReport report, Optional<String> shape, Optional<KindId> kind, boolean cached, Duration took) {
        service(report).ifPresent(now -> builder.put(now.started(shape, kind, cached, took)));
    }

    /**
     * A start that failed because its time was over takes at least that time. The report may come before the scheduler
     * has given the start up, or afterwards. A report that comes again finds a longer time and counts no more.
     */
    private void gaveUp(ActuationReport report, ServiceState service, Duration took) {
        Optional<GpuState> unit = report.gpus().stream()
                .flatMap(id -> builder.gpus().get(id).stream())
                .findFirst();
        if (unit.isEmpty() || (service.spec().hasGroups() && unit.get().part().isEmpty())) {
            return;
        }
        Optional<String> shape = unit.get().part().map(GroupPart::shape);
        Optional<KindId> kind = unit.get().kind();
        Duration given = new BindTime(settings).of(service, shape, kind);
        if (took.compareTo(given.multipliedBy(9).dividedBy(10)) < 0) {
            return;
        }
        Duration tenfold = service.spec().warmUpOn(kind).multipliedBy(MOST_FACTOR);
        Duration most = tenfold.compareTo(MOST_GIVEN_UP) > 0 ? tenfold : MOST_GIVEN_UP;
        started(report, shape, kind, false, given.compareTo(most) < 0 ? given : most);
    }
}
