package io.lendstream.core.scheduler;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Findings;
import io.lendstream.core.state.GangGain;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ReplicaGroup;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Applies an actuator's report on a decision or a GPU to the state. It makes no decisions. */
record ReportApplier(StepBuilder builder, InventoryApplier inventory, SchedulerSettings settings) {
    /** How long no GPU is cut after one could not be. */
    private static final Duration PAUSE = Duration.ofMinutes(1);

    void take(ActuationReport report) {
        if (report.outcome() == Outcome.FOUND) {
            found(report);
            return;
        }
        inventory.evidence().take(report);
        StartReports starts = new StartReports(builder, settings);
        StartReports.Before before = starts.before(report);
        if (SlotReports.mayBeAbout(builder, report)) {
            new SlotReports(builder, inventory, this).take(report);
        } else {
            for (GpuId id : report.gpus()) {
                builder.gpus().get(id).ifPresent(gpu -> take(report, gpu));
            }
        }
        if (report.outcome() == Outcome.REJECTED || report.outcome() == Outcome.FAILED) {
            notRecut(report);
        }
        starts.learn(report, before);
        new ProgramWaits(builder).take(report);
        report.tenant().flatMap(Tenant::jobId).ifPresent(job -> settle(report, job));
    }

    /** A report has all that its actuator finds: what it does not name any more is not found any more. */
    private void found(ActuationReport report) {
        Map<NodeId, List<FoundTenant>> byNode = new HashMap<>();
        report.found()
                .forEach(each -> byNode.computeIfAbsent(each.node(), any -> new ArrayList<>())
                        .add(each));
        List<NodeId> scope = builder.entities()
                .actuators()
                .get(report.actuator())
                .map(ActuatorDescription::nodes)
                .orElse(List.of());
        for (NodeState node : builder.nodes().values()) {
            NodeId id = node.node().nodeId();
            Optional<Findings> before = node.findings();
            boolean isFirst = before.isEmpty() && (scope.isEmpty() || scope.contains(id));
            boolean isNewer = before.filter(earlier -> earlier.actuator().equals(report.actuator()))
                    .filter(earlier -> earlier.at().isBefore(report.at()))
                    .isPresent();
            if (isFirst || isNewer || (byNode.containsKey(id) && isOfAnother(before, report))) {
                builder.put(node.with(Findings.of(before, report, byNode.getOrDefault(id, List.of()), this::isLate)));
            }
        }
    }

    /** Whether a service claims something so late that it may be something else. */
    private boolean isLate(FoundTenant found, Instant firstLook) {
        return found.claimedBy().size() == 1
                && found.claimedBy()
                        .get(0)
                        .serviceId()
                        .flatMap(builder.services()::get)
                        .map(service -> service.spec().at())
                        .map(declared -> declared.isAfter(firstLook) ? declared : firstLook)
                        .filter(opened -> opened.plus(AdoptionClaims.WINDOW).isBefore(builder.now()))
                        .isPresent();
    }

    /** An actuator takes a node over from another one by what it finds there. */
    private static boolean isOfAnother(Optional<Findings> before, ActuationReport report) {
        return before.filter(earlier -> !earlier.actuator().equals(report.actuator()))
                .filter(earlier -> earlier.at().isBefore(report.at()))
                .isPresent();
    }

    private void settle(ActuationReport report, JobId job) {
        switch (report.outcome()) {
            case APPLIED -> applied(report, job);
            case FAILED, TIMED_OUT -> settle(job, report.decision(), Optional.empty());
            default -> {}
        }
        if (report.outcome() == Outcome.FAILED || report.outcome() == Outcome.FORCED) {
            notPaused(job, report.decision()); // it was killed
        }
    }

    /** A report on a decision before the pause is not about the pause. */
    private void notPaused(JobId name, DecisionId decision) {
        builder.jobs()
                .get(name)
                .filter(job -> job.paused().isPresent())
                .filter(job -> job.changing()
                        .filter(changing -> changing.compareTo(decision) > 0)
                        .isEmpty())
                .ifPresent(job -> {
                    builder.put(job.notPaused());
                    builder.invalidatePlan();
                });
    }

    /** A change over several actuators is in force when all have said so. */
    private void applied(ActuationReport report, JobId name) {
        Optional<JobState> job = builder.jobs().get(name);
        boolean othersAreOpen = job.filter(state ->
                        state.changing().filter(report.decision()::equals).isPresent())
                .filter(state ->
                        state.change().awaited().stream().anyMatch(actuator -> !actuator.equals(report.actuator())))
                .isPresent();
        if (othersAreOpen) {
            builder.put(job.get().doneBy(report.actuator()));
        } else {
            settle(name, report.decision(), report.timings().pause());
        }
    }

    /**
     * The cut of a GPU failed: its instances are those that its node last reported. An actuator that does not know a
     * new node yet may refuse a decision about it, although another actuator executes it.
     */
    private void notRecut(ActuationReport report) {
        Set<NodeId> nodes = new TreeSet<>();
        for (GpuId id : builder.clusterIndex().gpus().owed().values()) {
            GpuState unit = builder.gpu(id);
            boolean isOfDecision = unit.owner()
                    .asRecutting()
                    .filter(recutting -> recutting.decision().equals(report.decision()))
                    .isPresent();
            if (isOfDecision && isInScope(report.actuator(), unit.nodeId())) {
                builder.remove(id);
                nodes.add(unit.nodeId());
            }
        }
        nodes.forEach(node -> builder.nodes().get(node).ifPresent(known -> inventory.describe(known.node())));
        if (!nodes.isEmpty()) {
            builder.slices()
                    .ifPresent(plan ->
                            builder.slices(plan.cuttingFrom(builder.now().plus(PAUSE))));
        }
    }

    /** Whether an actuator reports on a node: it claims it, or has not described itself. */
    private boolean isInScope(String actuator, NodeId node) {
        return builder.entities()
                .actuators()
                .get(actuator)
                .map(ActuatorDescription::nodes)
                .filter(nodes -> !nodes.isEmpty() && !nodes.contains(node))
                .isEmpty();
    }

    /** Applies what a report says about a unit that it names itself. */
    void take(ActuationReport report, GpuState gpu) {
        switch (report.outcome()) {
            case BOUND -> bound(report, gpu);
            case RELEASED, FORCED -> released(report, gpu);
            case FAILED -> failed(report, gpu);
            case HOLDS -> compare(report, gpu);
            default -> {}
        }
    }

    /**
     * Compares a report with the state. Units in transfer are left out, because their own reports follow. Only the
     * actuator that bound a unit can report that no tenant runs there; others can report that one does.
     */
    private void compare(ActuationReport report, GpuState gpu) {
        boolean isSettled = gpu.isFree() || gpu.owner().isForeign() || isThere(gpu);
        if (!isSettled
                || !report.at().isAfter(gpu.since())
                || report.tenant().equals(gpu.owner().holder())) {
            return;
        }
        if (gpu.owner().isForeign() && Adoption.mayStillTakeOver(builder, report.tenant())) {
            builder.invalidatePlan(); // it was taken over after all, see Adoption
        } else if (report.tenant().isPresent()) {
            inventory.quarantine(
                    gpu,
                    "actuator %s finds %s running on it, where %s was decided; stop what should not run there, then reset it"
                            .formatted(
                                    report.actuator(),
                                    report.tenant().get(),
                                    gpu.owner().holder().map(Tenant::toString).orElse("nothing")));
        } else if (gpu.boundBy().equals(Optional.of(report.actuator()))) {
            builder.invalidatePlan();
            inventory.left(gpu);
        }
    }

    void bound(ActuationReport report, GpuState gpu) {
        if (gpu.owner().isForeign() && Adoption.mayStillTakeOver(builder, report.tenant())) {
            return; // its next regular report has it taken over
        }
        if ((gpu.isFree() || gpu.owner().isForeign())
                && !report.at().isBefore(gpu.since())
                && report.tenant().isPresent()) {
            inventory.quarantine(
                    gpu,
                    "%s runs on it by decision %s, which no longer holds"
                            .formatted(report.tenant().get(), report.decision()));
            return;
        }
        gpu.owner().asBinding().filter(binding -> isAbout(report, binding)).ifPresent(binding -> {
            builder.put(gpu.boundBy(report.actuator()));
            if (gpu.part().isPresent()) {
                arrived(builder.gpu(gpu.gpuId()));
            } else {
                builder.own(gpu.gpuId(), bound(binding));
            }
        });
    }

    /**
     * One of several units that work together is bound, and older reports say nothing about it. They are in use once
     * all of them are.
     */
    private void arrived(GpuState gpu) {
        gpu.part()
                .filter(part -> !part.here())
                .ifPresent(part -> builder.describe(gpu.with(gpu.owner(), builder.now(), builder.eventSequence())
                        .in(part.arrived())));
        GangGain.of(builder.entities(), builder.gpu(gpu.gpuId()))
                .filter(GangGain::isHere)
                .ifPresent(this::begins);
        ReplicaGroup.of(builder.clusterIndex(), builder.gpu(gpu.gpuId()))
                .filter(ReplicaGroup::isHere)
                .ifPresent(group ->
                        group.gpus().forEach(unit -> builder.own(unit, new Owner.Serving(group.service()))));
    }

    private void begins(GangGain gain) {
        for (GpuState unit : gain.units()) {
            unit.owner().asBinding().ifPresent(binding -> builder.own(unit.gpuId(), bound(binding)));
        }
    }

    /** Whether a tenant runs on a unit, as far as reports say; also if others that it needs are not bound yet. */
    private static boolean isThere(GpuState gpu) {
        return gpu.owner().isUp() || (gpu.owner().isBinding() && gpu.isHere());
    }

    /** What a unit is once its tenant has it. */
    private static Owner bound(Owner.Binding binding) {
        return binding.tenant()
                .match(Tenant.Cases.of(
                        job -> binding.until()
                                .<Owner>map(until -> new Owner.Lent(job.job(), binding.decision(), until))
                                .orElseGet(() -> new Owner.Training(job.job())),
                        service -> new Owner.Serving(service.service())));
    }

    /** Where a decision was refused, the next one on the same tenant may bind what that one was to, or fail to. */
    static boolean isAbout(ActuationReport report, Owner.Binding binding) {
        return binding.decision().equals(report.decision())
                || (binding.decision().compareTo(report.decision()) < 0
                        && report.tenant().filter(binding.tenant()::equals).isPresent());
    }

    void released(ActuationReport report, GpuState gpu) {
        Optional<Tenant> holder = gpu.owner().holder();
        if (report.tenant().isPresent() && !report.tenant().equals(holder)) {
            return;
        }
        Optional<Owner.Releasing> releasing = gpu.owner().asReleasing();
        if (inventory.rules().isStrict()
                && !report.found().isEmpty()
                && !gpu.owner().isBinding()) {
            if (releasing.isPresent() || (isThere(gpu) && report.at().isAfter(gpu.since()))) {
                builder.invalidatePlan();
                inventory.quarantine(
                        gpu,
                        "%s has left it, and others run on there (%s): stop them, then reset the GPU"
                                .formatted(holder.map(Tenant::toString).orElse("what was there"), report.reason()));
            }
            return;
        }
        boolean endsItsLoan = gpu.owner()
                .asLent()
                .filter(lent -> lent.decision().equals(report.decision()))
                .isPresent();
        if (releasing.isPresent()) {
            // An older release of the same tenant, which has come back since, does not concern this one.
            if (report.decision().compareTo(releasing.get().decision()) >= 0) {
                inventory.left(gpu);
            }
        } else if (endsItsLoan) {
            inventory.left(gpu);
        } else if (isThere(gpu) && report.at().isAfter(gpu.since())) {
            // A tenant may end by itself, and only its actuator sees that.
            builder.invalidatePlan();
            inventory.left(gpu);
        }
    }

    void failed(ActuationReport report, GpuState gpu) {
        Optional<Owner.Binding> binding = gpu.owner().asBinding();
        if (binding.filter(open -> isAbout(report, open)).isEmpty()) {
            return;
        }
        builder.invalidatePlan();
        if (binding.get().isAdoption()) {
            new AdoptionFailure(builder).undo(gpu, binding.get());
            return;
        }
        boolean counts = !report.programFault() && !isFaultOfCommand(binding.get());
        int failures = gpu.failedBinds() + (counts ? 1 : 0);
        builder.put(builder.gpu(gpu.gpuId()).withFailedBinds(failures));
        builder.own(
                gpu.gpuId(),
                counts && failures >= 2
                        ? inventory.rules().quarantine("could not be bound twice in a row: " + report.reason())
                        : inventory.afterTenant(gpu));
    }

    /** A job that brings its command may bring a wrong one, or be refused: that is no sign of a broken GPU. */
    private boolean isFaultOfCommand(Owner.Binding binding) {
        return binding.tenant()
                .jobId()
                .flatMap(builder.jobs()::get)
                .filter(job -> job.spec().driver().equals(SubmittedProgram.DRIVER))
                .isPresent();
    }

    private void settle(JobId job, DecisionId decision, Optional<Duration> pause) {
        builder.jobs()
                .get(job)
                .filter(state -> state.changing().filter(decision::equals).isPresent())
                .ifPresent(state -> {
                    builder.put(state.settled(pause));
                    if (state.paused().isPresent() && !state.allocation().isPaused()) {
                        builder.invalidatePlan(); // others may have its host memory
                    }
                });
    }
}
