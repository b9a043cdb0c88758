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
final class Observation {
    /** Errors after which a GPU is not to be trusted: double-bit ECC, NVLink, fallen off the bus, contained and not. */
    private static final Set<Integer> FATAL_XIDS = Set.of(48, 64, 74, 79, 94, 95);

    /** How long no GPU is cut after one could not be. */
    private static final Duration PAUSE = Duration.ofMinutes(1);

    private final Draft draft;

    Observation(Draft draft) {
        this.draft = draft;
    }

    void take(Event event) {
        if (event instanceof SchedulerStarted started) {
            draft.epoch(started.epoch());
        } else if (event instanceof Node node) {
            take(node);
        } else if (event instanceof NodeLeft left) {
            take(left);
        } else if (event instanceof GpuTelemetry telemetry) {
            take(telemetry);
        } else if (event instanceof InferenceService service) {
            draft.put(draft.services()
                    .get(service.service())
                    .map(known -> known.describedBy(service))
                    .orElseGet(() -> ServiceState.of(service)));
        } else if (event instanceof RequestRate rate) {
            draft.services()
                    .get(rate.service())
                    .filter(service -> !service.hasSeen(rate))
                    .ifPresent(service -> take(rate, service.observed(rate, draft.eventSequence())));
        } else if (event instanceof DemandForecast forecast) {
            draft.services()
                    .get(forecast.service())
                    .filter(service -> service.forecast()
                            .map(last -> last.issuedAt().isBefore(forecast.issuedAt()))
                            .orElse(true))
                    .ifPresent(service -> draft.put(service.expecting(forecast, draft.eventSequence())));
        } else if (event instanceof TrainingJob job) {
            draft.put(draft.jobs()
                    .get(job.job())
                    .map(known -> known.described(job, draft.eventSequence()))
                    .orElseGet(() -> JobState.of(job, draft.eventSequence())));
        } else if (event instanceof TrainingProgress progress) {
            draft.jobs()
                    .get(progress.job())
                    .filter(job -> !job.isOver())
                    .ifPresent(job -> draft.put(job.observed(progress, draft.eventSequence())));
        } else if (event instanceof ActuationReport report) {
            take(report);
        } else if (event instanceof ControlCommand command) {
            take(command);
        }
    }

    /** Batches count only where it is known what they ran on. */
    private void take(RequestRate rate, ServiceState service) {
        Optional<Instances> instances =
                rate.batches().isEmpty() ? Optional.empty() : Instances.of(draft, rate.service());
        draft.put(instances
                .map(known -> service.with(service.batches()
                        .orElseGet(() ->
                                ServiceBatches.of(known.gpu(), rate.windowEnd()).heard(rate))
                        .served(rate.batches(), known.gpu())))
                .orElse(service));
    }

    private void take(Node node) {
        if (draft.nodes()
                .get(node.nodeId())
                .filter(known -> known.node().covers(node))
                .isEmpty()) {
            describe(node);
        }
    }

    private void describe(Node node) {
        draft.put(draft.nodes()
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
        for (GpuState gpu : draft.gpusOn(node.nodeId())) {
            boolean isComing = gpu.owner() instanceof Owner.Recutting recutting && recutting.coming();
            if (!reported.contains(gpu.gpuId()) && !isComing) {
                gone(gpu, "its node no longer reports it");
            }
        }
    }

    private void add(Node node, GpuId gpu, Optional<MigInstance> instance) {
        Optional<GpuState> known = draft.gpus().get(gpu);
        if (known.isEmpty()) {
            draft.upsetPlan();
            draft.put(GpuState.free(gpu, node.nodeId(), node.pool(), instance, draft.now(), draft.eventSequence()));
            draft.own(gpu, new Owner.Free());
        } else if (known.get().owner() instanceof Owner.Recutting recutting) {
            boolean isThere = recutting.coming()
                    && known.get().instance().map(MigInstance::profile).equals(instance.map(MigInstance::profile));
            if (isThere) {
                instance.ifPresent(described -> draft.put(known.get().with(described)));
                draft.own(gpu, new Owner.Free());
            }
        } else if (instance.isPresent() && !instance.equals(known.get().instance())) {
            described(known.get(), instance.get());
        }
    }

    /** Instances of the same place need not be of the same size: a 3g and a 4g both cover half of the memory. */
    private void described(GpuState gpu, MigInstance instance) {
        boolean isAnother = gpu.instance().isPresent();
        draft.upsetPlan();
        draft.put(gpu.with(instance));
        if (isAnother && !gpu.isFree()) {
            quarantine(
                    draft.gpu(gpu.gpuId()),
                    "its GPU was cut anew while it was " + gpu.owner().label());
        }
    }

    private void take(NodeLeft left) {
        NodeId node = left.nodeId();
        draft.remove(node);
        for (GpuState gpu : draft.gpusOn(node)) {
            gone(gpu, "its node left");
        }
    }

    private void gone(GpuState gpu, String why) {
        boolean isPast = gpu.owner() instanceof Owner.Quarantined && !gpu.isWhole();
        if (gpu.isFree() || gpu.owner() instanceof Owner.Recutting || isPast) {
            draft.remove(gpu.gpuId());
        } else {
            quarantine(gpu, why);
        }
    }

    private void quarantine(GpuState gpu, String why) {
        if (!(gpu.owner() instanceof Owner.Quarantined)) {
            draft.own(gpu.gpuId(), new Owner.Quarantined(why));
        }
    }

    private void take(GpuTelemetry telemetry) {
        Optional<NodeState> node = draft.nodes().get(telemetry.nodeId());
        if (node.isEmpty()
                || (node.get().bootId().equals(telemetry.bootId()) && node.get().sequence() >= telemetry.sequence())) {
            return;
        }
        draft.put(node.get().sampled(telemetry.bootId(), telemetry.sequence(), telemetry.at()));
        for (GpuSample sample : telemetry.gpus()) {
            sample.lastXid().ifPresent(xid -> tell(sample.gpuId(), xid));
        }
    }

    private void tell(GpuId id, int xid) {
        Optional<GpuState> gpu =
                draft.gpus().get(id).filter(known -> !known.lastXid().equals(Optional.of(xid)));
        gpu.ifPresent(known -> {
            draft.put(known.withXid(xid));
            if (FATAL_XIDS.contains(xid)) {
                quarantine(draft.gpu(id), "XID " + xid);
            }
        });
    }

    private void take(ActuationReport report) {
        for (GpuId id : report.gpus()) {
            draft.gpus().get(id).ifPresent(gpu -> take(report, gpu));
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
        for (GpuId id : draft.agenda().owed().values()) {
            GpuState unit = draft.gpu(id);
            if (unit.owner() instanceof Owner.Recutting recutting
                    && recutting.decision().equals(decision)) {
                draft.remove(id);
                nodes.add(unit.nodeId());
            }
        }
        nodes.forEach(node -> draft.nodes().get(node).ifPresent(known -> describe(known.node())));
        if (!nodes.isEmpty()) {
            draft.slices()
                    .ifPresent(plan -> draft.slices(plan.cuttingFrom(draft.now().plus(PAUSE))));
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
            draft.upsetPlan();
            draft.own(gpu.gpuId(), new Owner.Free());
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
        draft.put(gpu.boundBy(report.actuator()));
        if (binding.tenant() instanceof Tenant.Service service) {
            draft.own(gpu.gpuId(), new Owner.Serving(service.service()));
            return;
        }
        JobId job = ((Tenant.Job) binding.tenant()).job();
        draft.own(
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
                draft.own(gpu.gpuId(), new Owner.Free());
            }
        } else if (gpu.owner() instanceof Owner.Lent lent && lent.decision().equals(report.decision())) {
            draft.own(gpu.gpuId(), new Owner.Free());
        } else if (isUp(gpu.owner()) && report.at().isAfter(gpu.since())) {
            draft.upsetPlan();
            draft.own(gpu.gpuId(), new Owner.Free());
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
        draft.upsetPlan();
        int failures = gpu.failedBinds() + 1;
        draft.put(draft.gpu(gpu.gpuId()).withFailedBinds(failures));
        draft.own(
                gpu.gpuId(),
                failures >= 2
                        ? new Owner.Quarantined("could not be bound twice in a row: " + report.reason())
                        : new Owner.Free());
    }

    private void settle(JobId job, DecisionId decision, Optional<Duration> pause) {
        draft.jobs()
                .get(job)
                .filter(state -> state.changing().filter(decision::equals).isPresent())
                .ifPresent(state -> draft.put(state.settled(pause)));
    }

    private void take(ControlCommand command) {
        Mode mode = draft.mode();
        switch (command.kind()) {
            case FREEZE -> draft.mode(new Mode(true, mode.advisory(), mode.lendingStopped()));
            case THAW -> draft.mode(new Mode(false, mode.advisory(), false));
            case ADVISORY_ON -> draft.mode(new Mode(mode.frozen(), true, mode.lendingStopped()));
            case ADVISORY_OFF -> draft.mode(new Mode(mode.frozen(), false, mode.lendingStopped()));
            case RECLAIM_ALL -> draft.mode(new Mode(mode.frozen(), mode.advisory(), true));
            case RESET -> command.gpus().forEach(this::reset);
            case APPROVE, UNKNOWN -> {}
        }
    }

    private void reset(GpuId id) {
        draft.gpus()
                .get(id)
                .filter(gpu -> gpu.owner() instanceof Owner.Quarantined)
                .ifPresent(gpu -> {
                    if (gpu.isWhole() || isReported(gpu)) {
                        draft.put(gpu.withFailedBinds(0));
                        draft.own(id, new Owner.Free());
                    } else {
                        draft.remove(id);
                    }
                });
    }

    private boolean isReported(GpuState unit) {
        return draft.nodes()
                .get(unit.nodeId())
                .filter(node -> node.node().gpus().stream()
                        .flatMap(gpu -> gpu.instances().stream())
                        .anyMatch(instance -> instance.gpuId().equals(unit.gpuId())))
                .isPresent();
    }
}
