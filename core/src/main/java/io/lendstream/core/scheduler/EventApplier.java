package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ApplicationPrior;
import io.lendstream.core.state.ClusterState.Mode;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Applies an event to the state. It makes no decisions. */
final class EventApplier implements Event.Cases<Runnable> {
    /** Errors after which a GPU is not trusted: double-bit ECC, NVLink, fallen off the bus, contained and not. */
    private static final Set<Integer> FATAL_XIDS = Set.of(48, 64, 74, 79, 94, 95);

    private final StepBuilder builder;
    private final InventoryApplier inventory;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final ClusterModel model;

    EventApplier(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.model = settings.model();
        this.inventory = new InventoryApplier(builder, model);
    }

    void take(Event event) {
        event.match(this).run();
    }

    @Override
    public Runnable started(SchedulerStarted started) {
        return () -> {
            builder.epoch(started.epoch());
            inventory.sortIntoKinds();
            inventory.forgetUncounted();
            if (model.kinds() && !model.gpuKinds().aliases().isEmpty()) {
                countKindsOfJobs();
                countKindsOfServices();
            }
        };
    }

    /** Has the effect of a start with other settings, in the same epoch. */
    @Override
    public Runnable domainSettings(DomainSettings declared) {
        return () -> {
            builder.mode(builder.mode().declaring(declared.standing()));
            inventory.forgetUncounted();
        };
    }

    private void countKindsOfJobs() {
        for (JobState job : builder.jobs().values()) {
            TrainingJob counted = job.spec().countedBy(model.gpuKinds());
            if (!counted.equals(job.spec())) {
                builder.put(job.described(counted, builder.eventSequence()));
            }
        }
    }

    private void countKindsOfServices() {
        for (ServiceState service : builder.services().values()) {
            InferenceService counted = service.spec().countedBy(model.gpuKinds());
            if (!counted.equals(service.spec())) {
                builder.put(service.describedBy(counted));
            }
        }
    }

    @Override
    public Runnable node(Node node) {
        return () -> {
            inventory.take(node);
            new MovedUnits(builder, inventory).reportedBy(node);
        };
    }

    @Override
    public Runnable nodeLeft(NodeLeft left) {
        return () -> inventory.take(left);
    }

    @Override
    public Runnable telemetry(GpuTelemetry telemetry) {
        return () -> take(telemetry);
    }

    @Override
    public Runnable sampleSummary(SampleSummary summary) {
        return () -> new SummedSamples(builder).take(summary);
    }

    @Override
    public Runnable service(InferenceService described) {
        InferenceService plain = described.plain();
        InferenceService service = model.kinds() ? plain.countedBy(model.gpuKinds()) : plain;
        return () -> {
            Optional<ServiceState> known = builder.services().get(service.service());
            if (service.removed()) {
                known.ifPresent(before -> new ServiceRemoval(builder).begin(before, service));
                return;
            }
            builder.put(known.map(before -> before.describedBy(service)).orElseGet(() -> ServiceState.of(service)));
            Optional<AdoptionSelector> claimed =
                    known.flatMap(before -> before.spec().adopt());
            heed(new Tenant.Service(service.service()), claimed, service.adopt());
            new ProgramWaits(builder).declared(service.service());
            if (service.queue()
                    .or(() -> known.flatMap(before -> before.spec().queue()))
                    .isPresent()) {
                builder.invalidatePlan(); // its floor is a part of its queue's quota
            }
            if (service.hasGroups()) {
                builder.slices().ifPresent(plan -> builder.slices(plan.without(service.service())));
            }
        };
    }

    @Override
    public Runnable rate(RequestRate rate) {
        return () -> new RateApplier(builder, settings).take(rate);
    }

    @Override
    public Runnable forecast(DemandForecast forecast) {
        return () -> builder.services()
                .get(forecast.service())
                .filter(service -> !service.spec().removed())
                .filter(service -> service.forecast()
                        .map(last -> last.issuedAt().isBefore(forecast.issuedAt()))
                        .orElse(true))
                .ifPresent(service -> builder.put(service.expecting(forecast, builder.eventSequence())));
    }

    @Override
    public Runnable job(TrainingJob job) {
        TrainingJob declared = job.withoutProgram();
        TrainingJob counted = model.kinds() ? declared.countedBy(model.gpuKinds()) : declared;
        return () -> {
            Optional<JobState> known = builder.jobs().get(job.job());
            JobState described = known.map(before -> before.described(counted, builder.eventSequence()))
                    .orElseGet(() -> JobState.of(counted, builder.eventSequence()));
            builder.put(settings.learn() ? new ApplicationMemory(builder, settings).given(described) : described);
            new ProgramWaits(builder).declared(job.job());
            Optional<AdoptionSelector> claimed =
                    known.flatMap(before -> before.spec().adopt());
            heed(new Tenant.Job(job.job()), claimed, job.adopt());
            boolean comesToQueue = known.filter(before -> before.spec().queue().equals(job.queue()))
                    .isEmpty();
            if (comesToQueue) {
                job.queue()
                        .flatMap(builder.entities().queues()::get)
                        .filter(queue -> queue.refusedGpus() > 0)
                        .ifPresent(queue -> builder.put(queue.refusingGpus(0)));
            }
        };
    }

    /** What was found by a selector that has changed since counts as found now: its actuator may not know that yet. */
    private void heed(Tenant tenant, Optional<AdoptionSelector> before, Optional<AdoptionSelector> next) {
        if (!model.users().isStrict() || before.isEmpty() || before.equals(next)) {
            return;
        }
        for (NodeState node : builder.nodes().values()) {
            node.findings()
                    .filter(found -> found.seen().stream()
                            .anyMatch(each -> each.what().claimedBy().contains(tenant)))
                    .ifPresent(found -> builder.put(node.with(found.tryingAgain(tenant, builder.now()))));
        }
    }

    @Override
    public Runnable progress(TrainingProgress progress) {
        return () -> builder.jobs()
                .get(progress.job())
                .filter(job -> !job.isOver())
                .ifPresent(job -> {
                    JobState after = job.observed(ofKind(progress, job), builder.eventSequence(), rule(job));
                    builder.put(after);
                    if (job.isRefused() || !after.admission().equals(job.admission())) {
                        builder.invalidatePlan(); // it needs an answer
                    }
                    if (!after.paused().equals(job.paused())) {
                        builder.invalidatePlan(); // others may have its host memory
                    }
                });
    }

    private FitRule rule(JobState job) {
        return settings.learn() && ApplicationPrior.isMeantFor(job.spec()) ? policy.fits() : FitRule.COARSE;
    }

    /**
     * The report with the kind of GPU that its step was measured on. A step that may be of several kinds, or of one
     * that the domain does not have, is left out.
     */
    private TrainingProgress ofKind(TrainingProgress progress, JobState job) {
        PersistentMap<KindId, Integer> known =
                builder.clusterIndex().trainingCapacity().kinds();
        Optional<KindId> named = progress.kind().filter(any -> model.kinds()).map(model.gpuKinds()::counted);
        if (named.isPresent()) {
            return known.contains(named.get()) ? progress.on(named) : progress.withoutStep();
        }
        if (known.size() < 2) {
            return progress.on(known.firstKey());
        }
        Set<Optional<KindId>> held = new HashSet<>();
        for (GpuId gpu : job.allocation().gpus()) {
            held.add(builder.gpus().get(gpu).flatMap(GpuState::kind));
        }
        boolean isClear = job.changing().isEmpty() && held.size() == 1;
        return isClear ? progress.on(held.iterator().next()) : progress.withoutStep();
    }

    @Override
    public Runnable report(ActuationReport report) {
        return () -> new ReportApplier(builder, inventory, settings).take(report);
    }

    @Override
    public Runnable command(ControlCommand command) {
        return () -> take(command);
    }

    @Override
    public Runnable clusterQueue(ClusterQueue queue) {
        if (queue.removed()) {
            return () -> {
                builder.remove(queue.queue());
                builder.invalidatePlan();
            };
        }
        return () -> {
            builder.put(builder.entities()
                    .queues()
                    .get(queue.queue())
                    .map(known -> known.describedBy(queue))
                    .orElseGet(() -> QueueState.of(queue)));
            builder.invalidatePlan();
        };
    }

    /** An actuator may do something that it could not do before, or no longer. */
    @Override
    public Runnable actuatorDescription(ActuatorDescription description) {
        return () -> {
            Optional<ActuatorDescription> known = builder.entities().actuators().get(description.actuator());
            builder.put(description);
            if (known.filter(description::repeats).isEmpty()) {
                builder.invalidatePlan();
            }
        };
    }

    @Override
    public Runnable tick(Tick tick) {
        return () -> {};
    }

    private void take(GpuTelemetry telemetry) {
        Optional<NodeState> node = builder.nodes().get(telemetry.nodeId());
        if (node.isEmpty()
                || (node.get().bootId().equals(telemetry.bootId()) && node.get().sequence() >= telemetry.sequence())) {
            return;
        }
        NodeState before = node.get();
        builder.put(before.sampled(telemetry.bootId(), telemetry.sequence(), telemetry.at()));
        for (GpuSample sample : telemetry.gpus()) {
            heed(sample.gpuId(), sample.errors());
        }
        new SlotSamples(builder, inventory).take(telemetry);
        if (model.users().heeded()) {
            new UserSamples(builder, inventory, model.users()).take(telemetry, before);
        }
    }

    /** An old error that is still reported, as after a reset, is no news; the next one of the same number is. */
    private void heed(GpuId id, GpuSample.Errors errors) {
        Optional<Integer> last = errors.lastXid();
        if (last.isEmpty() && !model.users().isStrict()) {
            return;
        }
        Optional<GpuState> gpu =
                builder.gpus().get(id).filter(known -> !known.lastXid().equals(last) || isFatalAgain(known, errors));
        gpu.ifPresent(known -> {
            builder.put(known.withXid(last));
            last.ifPresent(xid -> heed(id, xid));
        });
    }

    private void heed(GpuId id, int xid) {
        boolean isFatal = FATAL_XIDS.contains(xid);
        inventory.evidence().erred(builder.gpu(id), xid, isFatal);
        if (isFatal) {
            inventory.quarantineUntilReset(builder.gpu(id), "XID " + xid);
        }
    }

    /** Whether a unit had an error that needs a reset, since its owner changed: since the last reset, for one. */
    private boolean isFatalAgain(GpuState unit, GpuSample.Errors errors) {
        return model.users().isStrict()
                && errors.lastXid().filter(FATAL_XIDS::contains).isPresent()
                && errors.lastXidAt().filter(unit.since()::isBefore).isPresent();
    }

    private void take(ControlCommand command) {
        Mode mode = builder.mode();
        switch (command.kind()) {
            case FREEZE -> builder.mode(mode.ordered(true, mode.advisory(), mode.lendingStopped()));
            case THAW -> builder.mode(mode.ordered(false, mode.advisory(), false));
            case ADVISORY_ON -> builder.mode(mode.ordered(mode.frozen(), true, mode.lendingStopped()));
            case ADVISORY_OFF -> builder.mode(mode.ordered(mode.frozen(), false, mode.lendingStopped()));
            case RECLAIM_ALL -> builder.mode(mode.ordered(mode.frozen(), mode.advisory(), true));
            case RESET -> command.gpus().forEach(this::reset);
            case APPROVE, ADOPT, TRUST, UNKNOWN -> {}
        }
    }

    /** An actuator that still finds the user of a unit, which agents show as unused, does not count here. */
    private static boolean isUsedByOthers(GpuState gpu) {
        return gpu.owner().asForeign().filter(use -> use.foundBy().isEmpty()).isPresent();
    }

    /**
     * Takes a unit back into service. One that its node does not report any more goes away. One that others use stays
     * as it is: they still run there, by the account of agents. What runs there still counts as a stranger's: the
     * operator has looked.
     */
    private void reset(GpuId id) {
        builder.gpus()
                .get(id)
                .filter(gpu -> gpu.owner().isQuarantined() && !isUsedByOthers(gpu))
                .ifPresent(gpu -> {
                    Optional<Node> node = builder.nodes().get(gpu.nodeId()).map(NodeState::node);
                    boolean mayBeHidden = gpu.isWhole()
                            && node.filter(known -> known.status() != NodeStatus.READY)
                                    .isPresent();
                    if (mayBeHidden
                            || node.filter(known -> QuarantineEvidence.reports(known, gpu))
                                    .isPresent()) {
                        builder.put(gpu.withFailedBinds(0).seen(Optional.empty()));
                        builder.own(id, inventory.unseen());
                    } else {
                        builder.remove(id);
                    }
                });
    }
}
