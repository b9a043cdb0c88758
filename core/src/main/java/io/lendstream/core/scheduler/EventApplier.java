package io.lendstream.core.scheduler;

import io.lendstream.core.batching.ServiceBatches;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Takes an event into the state. Decides nothing. */
final class EventApplier {
    /** Errors after which a GPU is not to be trusted: double-bit ECC, NVLink, fallen off the bus, contained and not. */
    private static final Set<Integer> FATAL_XIDS = Set.of(48, 64, 74, 79, 94, 95);

    /** How long no GPU is cut after one could not be. */
    private static final Duration PAUSE = Duration.ofMinutes(1);

    private final StepBuilder builder;

    EventApplier(StepBuilder builder) {
        this.builder = builder;
    }

    void take(Event event) {
        if (event instanceof SchedulerStarted started) {
            builder.epoch(started.epoch());
        } else if (event instanceof Node node) {
            take(node);
        } else if (event instanceof NodeLeft left) {
            take(left);
        } else if (event instanceof GpuTelemetry telemetry) {
            take(telemetry);
        } else if (event instanceof InferenceService service) {
            builder.put(builder.services()
                    .get(service.service())
                    .map(known -> known.describedBy(service))
                    .orElseGet(() -> ServiceState.of(service)));
        } else if (event instanceof RequestRate rate) {
            builder.services()
                    .get(rate.service())
                    .filter(service -> !service.hasSeen(rate))
                    .ifPresent(service -> take(rate, service.observed(rate, builder.eventSequence())));
        } else if (event instanceof DemandForecast forecast) {
            builder.services()
                    .get(forecast.service())
                    .filter(service -> service.forecast()
                            .map(last -> last.issuedAt().isBefore(forecast.issuedAt()))
                            .orElse(true))
                    .ifPresent(service -> builder.put(service.expecting(forecast, builder.eventSequence())));
        } else if (event instanceof TrainingJob job) {
            builder.put(builder.jobs()
                    .get(job.job())
                    .map(known -> known.described(job, builder.eventSequence()))
                    .orElseGet(() -> JobState.of(job, builder.eventSequence())));
        } else if (event instanceof TrainingProgress progress) {
            builder.jobs()
                    .get(progress.job())
                    .filter(job -> !job.isOver())
                    .ifPresent(job -> builder.put(job.observed(progress, builder.eventSequence())));
        } else if (event instanceof ActuationReport report) {
            take(report);
        } else if (event instanceof ControlCommand command) {
            take(command);
        }
    }

    /** Batches count only where it is known what they ran on. */
    private void take(RequestRate rate, ServiceState service) {
        Optional<Instances> instances =
                rate.batches().isEmpty() ? Optional.empty() : Instances.of(builder, rate.service());
        builder.put(instances
                .map(known -> service.with(service.batches()
                        .orElseGet(() ->
                                ServiceBatches.of(known.gpu(), rate.windowEnd()).heard(rate))
                        .served(rate.batches(), known.gpu())))
                .orElse(service));
    }

    private void take(Node node) {
        if (builder.nodes()
                .get(node.nodeId())
                .filter(known -> known.node().covers(node))
                .isEmpty()) {
            describe(node);
        }
    }

    private void describe(Node node) {
        builder.put(builder.nodes()
                .get(node.nodeId())
                .map(known -> known.describedBy(node))
                .orElseGet(() -> NodeState.of(node)));
        Set<GpuId> reported = new HashSet<>();
        for (Gpu gpu : node.gpus()) {
            if (gpu.migEnabled()) {
                for (GpuInstance instance : gpu.instances()) {
                    reported.add(instance.gpuId());
                    add(node, instance.gpuId(), Optional.of(MigInstance.of(gpu, instance)));
                }
            } else {
                reported.add(gpu.gpuId());
                add(node, gpu.gpuId(), Optional.empty());
            }
        }
        if (node.status() != NodeStatus.READY) {
            return; // it does not see its GPUs just now, which is not to say that they are gone
        }
        for (GpuState gpu : builder.gpusOn(node.nodeId())) {
            boolean isComing = gpu.owner() instanceof Owner.Recutting recutting && recutting.coming();
            if (!reported.contains(gpu.gpuId()) && !isComing) {
                gone(gpu, "its node no longer reports it");
            }
        }
    }

    private void add(Node node, GpuId gpu, Optional<MigInstance> instance) {
        Optional<GpuState> known = builder.gpus().get(gpu);
        if (known.isEmpty()) {
            builder.invalidatePlan();
            builder.put(
                    GpuState.free(gpu, node.nodeId(), node.pool(), instance, builder.now(), builder.eventSequence()));
            builder.own(gpu, new Owner.Free());
        } else if (known.get().owner() instanceof Owner.Recutting recutting) {
            boolean isThere = recutting.coming()
                    && known.get().instance().map(MigInstance::profile).equals(instance.map(MigInstance::profile));
            if (isThere) {
                instance.ifPresent(described -> builder.put(known.get().with(described)));
                builder.own(gpu, new Owner.Free());
            }
        } else if (instance.isPresent() && !instance.equals(known.get().instance())) {
            described(known.get(), instance.get());
        }
    }

    /** Instances of the same place need not be of the same size: a 3g and a 4g both cover half of the memory. */
    private void described(GpuState gpu, MigInstance instance) {
        boolean isAnother = gpu.instance().isPresent();
        builder.invalidatePlan();
        builder.put(gpu.with(instance));
        if (isAnother && !gpu.isFree()) {
            quarantine(
                    builder.gpu(gpu.gpuId()),
                    "its GPU was cut anew while it was " + gpu.owner().label());
        }
    }

    private void take(NodeLeft left) {
        NodeId node = left.nodeId();
        builder.remove(node);
        for (GpuState gpu : builder.gpusOn(node)) {
            gone(gpu, "its node left");
        }
    }

    private void gone(GpuState gpu, String why) {
        boolean isPast = gpu.owner() instanceof Owner.Quarantined && !gpu.isWhole();
        if (gpu.isFree() || gpu.owner() instanceof Owner.Recutting || isPast) {
            builder.remove(gpu.gpuId());
        } else {
            quarantine(gpu, why);
        }
    }

    private void quarantine(GpuState gpu, String why) {
        if (!(gpu.owner() instanceof Owner.Quarantined)) {
            builder.own(gpu.gpuId(), new Owner.Quarantined(why));
        }
    }

    private void take(GpuTelemetry telemetry) {
        Optional<NodeState> node = builder.nodes().get(telemetry.nodeId());
        if (node.isEmpty()
                || (node.get().bootId().equals(telemetry.bootId()) && node.get().sequence() >= telemetry.sequence())) {
            return;
        }
        builder.put(node.get().sampled(telemetry.bootId(), telemetry.sequence(), telemetry.at()));
        for (GpuSample sample : telemetry.gpus()) {
            sample.lastXid().ifPresent(xid -> tell(sample.gpuId(), xid));
        }
    }

    private void tell(GpuId id, int xid) {
        Optional<GpuState> gpu =
                builder.gpus().get(id).filter(known -> !known.lastXid().equals(Optional.of(xid)));
        gpu.ifPresent(known -> {
            builder.put(known.withXid(xid));
            if (FATAL_XIDS.contains(xid)) {
                quarantine(builder.gpu(id), "XID " + xid);
            }
        });
    }

    private void take(ActuationReport report) {
        for (GpuId id : report.gpus()) {
            builder.gpus().get(id).ifPresent(gpu -> take(report, gpu));
        }
        if (report.outcome() == Outcome.REJECTED || report.outcome() == Outcome.FAILED) {
            notRecut(report.decision());
        }
        if (report.tenant().isPresent() && report.tenant().get() instanceof Tenant.Job tenant) {
            switch (report.outcome()) {
                case APPLIED ->
                    settle(tenant.job(), report.decision(), report.timings().pause());
                case FAILED, TIMED_OUT -> settle(tenant.job(), report.decision(), Optional.empty());
                default -> {}
            }
        }
    }

    /** A GPU is not cut anew after all: its instances are those that its node last reported. */
    private void notRecut(DecisionId decision) {
        Set<NodeId> nodes = new TreeSet<>();
        for (GpuId id : builder.clusterIndex().owed().values()) {
            GpuState unit = builder.gpu(id);
            if (unit.owner() instanceof Owner.Recutting recutting
                    && recutting.decision().equals(decision)) {
                builder.remove(id);
                nodes.add(unit.nodeId());
            }
        }
        nodes.forEach(node -> builder.nodes().get(node).ifPresent(known -> describe(known.node())));
        if (!nodes.isEmpty()) {
            builder.slices()
                    .ifPresent(plan ->
                            builder.slices(plan.cuttingFrom(builder.now().plus(PAUSE))));
        }
    }

    private void take(ActuationReport report, GpuState gpu) {
        switch (report.outcome()) {
            case BOUND -> bound(report, gpu);
            case RELEASED, FORCED -> released(report, gpu);
            case FAILED -> failed(report, gpu);
            case HOLDS -> compare(report, gpu);
            default -> {}
        }
    }

    /**
     * What is, with what we believe; where something is under way we are about to hear of it. Another actuator than the one that
     * bound a unit may see that something runs there, but not that nothing does.
     */
    private void compare(ActuationReport report, GpuState gpu) {
        boolean isSettled = gpu.isFree() || isUp(gpu.owner());
        if (!isSettled
                || !report.at().isAfter(gpu.since())
                || report.tenant().equals(gpu.owner().holder())) {
            return;
        }
        if (report.tenant().isPresent()) {
            quarantine(
                    gpu,
                    "actuator %s finds %s running on it, where %s was decided; stop what should not run there, then reset it"
                            .formatted(
                                    report.actuator(),
                                    report.tenant().get(),
                                    gpu.owner().holder().map(Tenant::toString).orElse("nothing")));
        } else if (gpu.boundBy().equals(Optional.of(report.actuator()))) {
            builder.invalidatePlan();
            builder.own(gpu.gpuId(), new Owner.Free());
        }
    }

    private void bound(ActuationReport report, GpuState gpu) {
        if (gpu.isFree()
                && !report.at().isBefore(gpu.since())
                && report.tenant().isPresent()) {
            quarantine(
                    gpu,
                    "%s runs on it by decision %s, which no longer holds"
                            .formatted(report.tenant().get(), report.decision()));
            return;
        }
        if (!(gpu.owner() instanceof Owner.Binding binding) || !hasBound(report, binding)) {
            return;
        }
        builder.put(gpu.boundBy(report.actuator()));
        if (binding.tenant() instanceof Tenant.Service service) {
            builder.own(gpu.gpuId(), new Owner.Serving(service.service()));
            return;
        }
        JobId job = ((Tenant.Job) binding.tenant()).job();
        builder.own(
                gpu.gpuId(),
                binding.until()
                        .<Owner>map(until -> new Owner.Lent(job, binding.decision(), until))
                        .orElseGet(() -> new Owner.Training(job)));
    }

    /** Where a decision was refused, the next one on the same tenant may bind what that one was to. */
    private static boolean hasBound(ActuationReport report, Owner.Binding binding) {
        return binding.decision().equals(report.decision())
                || (binding.decision().compareTo(report.decision()) < 0
                        && report.tenant().filter(binding.tenant()::equals).isPresent());
    }

    private void released(ActuationReport report, GpuState gpu) {
        Optional<Tenant> holder = gpu.owner().holder();
        if (report.tenant().isPresent() && !report.tenant().equals(holder)) {
            return;
        }
        if (gpu.owner() instanceof Owner.Releasing releasing) {
            // An older release of the same tenant, which has come back since, says nothing of this one.
            if (report.decision().compareTo(releasing.decision()) >= 0) {
                builder.own(gpu.gpuId(), new Owner.Free());
            }
        } else if (gpu.owner() instanceof Owner.Lent lent && lent.decision().equals(report.decision())) {
            builder.own(gpu.gpuId(), new Owner.Free());
        } else if (isUp(gpu.owner()) && report.at().isAfter(gpu.since())) {
            builder.invalidatePlan();
            builder.own(gpu.gpuId(), new Owner.Free());
        }
    }

    /** Whether a tenant runs there, as far as we know; it may end by itself, and only its actuator sees that. */
    private static boolean isUp(Owner owner) {
        return owner.holder().isPresent() && !(owner instanceof Owner.Binding) && !(owner instanceof Owner.Releasing);
    }

    private void failed(ActuationReport report, GpuState gpu) {
        if (!(gpu.owner() instanceof Owner.Binding binding)
                || !binding.decision().equals(report.decision())) {
            return;
        }
        builder.invalidatePlan();
        int failures = gpu.failedBinds() + 1;
        builder.put(builder.gpu(gpu.gpuId()).withFailedBinds(failures));
        builder.own(
                gpu.gpuId(),
                failures >= 2
                        ? new Owner.Quarantined("could not be bound twice in a row: " + report.reason())
                        : new Owner.Free());
    }

    private void settle(JobId job, DecisionId decision, Optional<Duration> pause) {
        builder.jobs()
                .get(job)
                .filter(state -> state.changing().filter(decision::equals).isPresent())
                .ifPresent(state -> builder.put(state.settled(pause)));
    }

    private void take(ControlCommand command) {
        Mode mode = builder.mode();
        switch (command.kind()) {
            case FREEZE -> builder.mode(new Mode(true, mode.advisory(), mode.lendingStopped()));
            case THAW -> builder.mode(new Mode(false, mode.advisory(), false));
            case ADVISORY_ON -> builder.mode(new Mode(mode.frozen(), true, mode.lendingStopped()));
            case ADVISORY_OFF -> builder.mode(new Mode(mode.frozen(), false, mode.lendingStopped()));
            case RECLAIM_ALL -> builder.mode(new Mode(mode.frozen(), mode.advisory(), true));
            case RESET -> command.gpus().forEach(this::reset);
            case APPROVE, UNKNOWN -> {}
        }
    }

    private void reset(GpuId id) {
        builder.gpus()
                .get(id)
                .filter(gpu -> gpu.owner() instanceof Owner.Quarantined)
                .ifPresent(gpu -> {
                    if (gpu.isWhole() || isReported(gpu)) {
                        builder.put(gpu.withFailedBinds(0));
                        builder.own(id, new Owner.Free());
                    } else {
                        builder.remove(id);
                    }
                });
    }

    private boolean isReported(GpuState unit) {
        return builder.nodes()
                .get(unit.nodeId())
                .filter(node -> node.node().gpus().stream()
                        .flatMap(gpu -> gpu.instances().stream())
                        .anyMatch(instance -> instance.gpuId().equals(unit.gpuId())))
                .isPresent();
    }
}
