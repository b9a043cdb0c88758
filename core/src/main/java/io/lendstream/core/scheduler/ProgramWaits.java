package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.ProgramFault;
import io.lendstream.core.state.ReplicaStarts;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Waits before a program is started again that a node could not run, such as a missing one. Its GPUs are not at fault
 * and stay in use. A replica may start on other nodes meanwhile, but for it no tenant leaves a GPU of that node.
 */
record ProgramWaits(StepBuilder builder) {
    /** A replica without an address to ask is taken for running until its program has ended. */
    private static final Duration PROVEN = Duration.ofSeconds(10);

    /** Follows what a report says about the program of its tenant. */
    void take(ActuationReport report) {
        if (report.programFault()) {
            report.tenant()
                    .ifPresent(tenant -> tenant.match(Tenant.Cases.<Runnable>of(
                                    job -> () -> jobFailed(report, job.job()),
                                    service -> () -> serviceFailed(report, service.service())))
                            .run());
        } else if (report.outcome() == Outcome.HOLDS) {
            report.tenant()
                    .flatMap(Tenant::serviceId)
                    .flatMap(builder.services()::get)
                    .filter(service -> !service.starts().faults().isEmpty())
                    .ifPresent(service -> stillRuns(report, service));
        } else if (report.outcome() == Outcome.APPLIED) {
            report.tenant()
                    .flatMap(Tenant::jobId)
                    .flatMap(builder.jobs()::get)
                    .filter(job -> job.gpus() > 0 && job.change().fault().isPresent() && !job.waitsForProgram())
                    .ifPresent(job -> builder.put(job.with(Optional.empty())));
        }
    }

    /** The first regular report that names a replica for some time after its start proves its program. */
    private void stillRuns(ActuationReport report, ServiceState service) {
        ReplicaStarts starts = service.starts();
        for (GpuId id : report.gpus()) {
            Optional<GpuState> gpu = builder.gpus()
                    .get(id)
                    .filter(unit -> unit.owner().holder().equals(report.tenant()))
                    .filter(unit -> !report.at().isBefore(unit.since().plus(PROVEN)));
            Optional<NodeId> ran = gpu.flatMap(unit -> service.starts().on(unit.nodeId()))
                    .filter(fault -> !fault.waits() && !gpu.get().since().isBefore(fault.until()))
                    .map(ProgramFault::node);
            starts = ran.isPresent() ? starts.ran(ran.get()) : starts;
        }
        if (!starts.equals(service.starts())) {
            builder.put(service.with(starts));
        }
    }

    private void serviceFailed(ActuationReport report, ServiceId name) {
        FaultReport fault = new FaultReport(builder.before(), report);
        for (NodeId node : nodes(report.gpus())) {
            builder.services()
                    .get(name)
                    .filter(service -> !service.spec().removed() && !fault.isOfEarlierStart(name, node))
                    .ifPresent(service ->
                            builder.put(service.with(service.starts().failed(node, report.reason(), builder.now()))));
        }
    }

    private void jobFailed(ActuationReport report, JobId name) {
        Optional<JobState> known = builder.jobs().get(name).filter(job -> !job.isOver());
        if (known.isEmpty() || new FaultReport(builder.before(), report).isOfEarlierStart(name)) {
            return;
        }
        JobState job = known.get();
        TreeSet<NodeId> nodes = nodes(report.gpus().isEmpty() ? job.allocation().gpus() : report.gpus());
        if (!nodes.isEmpty()) {
            ProgramFault fault =
                    ProgramFault.after(job.change().fault(), nodes.first(), report.reason(), builder.now());
            builder.put(job.aiming(job.allocation().gpus()).with(Optional.of(fault)));
            builder.invalidatePlan();
        }
    }

    private TreeSet<NodeId> nodes(List<GpuId> gpus) {
        TreeSet<NodeId> nodes = new TreeSet<>();
        gpus.forEach(gpu -> builder.gpus().get(gpu).map(GpuState::nodeId).ifPresent(nodes::add));
        return nodes;
    }

    /** A declaration, even an unchanged one, has the program of a job tried at once. */
    void declared(JobId name) {
        JobState job = builder.jobs().require(name);
        if (job.change().fault().isPresent()) {
            builder.put(job.with(Optional.empty()));
            builder.invalidatePlan();
        }
    }

    /** The same for the program of a service, on all nodes. */
    void declared(ServiceId name) {
        ServiceState service = builder.services().require(name);
        if (!service.starts().faults().isEmpty()) {
            builder.put(service.with(service.starts().untried()));
        }
    }

    /** Ends the waits whose time is over. The next failure makes a longer one. */
    void end() {
        for (JobId name : Deadlines.until(builder.clusterIndex().jobs().faulty(), builder.now())) {
            JobState job = builder.jobs().require(name);
            builder.put(job.with(job.change().fault().map(ProgramFault::triedAgain)));
            builder.invalidatePlan();
        }
        for (ServiceId name : Deadlines.until(builder.clusterIndex().faulty(), builder.now())) {
            ServiceState service = builder.services().require(name);
            builder.put(service.with(service.starts().triedAgain(builder.now())));
        }
    }

    /** Says what is wrong, once for each wait that this step begins. */
    void hold() {
        Optional<Tenant> tenant =
                builder.event().asReport().filter(ActuationReport::programFault).flatMap(ActuationReport::tenant);
        tenant.flatMap(Tenant::jobId)
                .flatMap(builder.jobs()::get)
                .ifPresent(job -> job.change()
                        .fault()
                        .filter(fault -> isNew(
                                fault,
                                builder.before()
                                        .jobs()
                                        .get(job.spec().job())
                                        .flatMap(before -> before.change().fault())))
                        .ifPresent(fault -> hold(
                                fault,
                                "job " + job.spec().job() + " gets no further GPU",
                                new Action.Hold(Optional.of(job.spec().job()), Optional.empty()))));
        tenant.flatMap(Tenant::serviceId).flatMap(builder.services()::get).ifPresent(service -> {
            for (ProgramFault fault : service.starts().faults()) {
                Optional<ProgramFault> before = builder.before()
                        .services()
                        .get(service.spec().service())
                        .flatMap(known -> known.starts().on(fault.node()));
                if (isNew(fault, before)) {
                    hold(
                            fault,
                            "service %s starts no replica on node %s"
                                    .formatted(service.spec().service(), fault.node()),
                            new Action.Hold(
                                    Optional.empty(), Optional.of(service.spec().service())));
                }
            }
        });
    }

    private static boolean isNew(ProgramFault fault, Optional<ProgramFault> before) {
        return fault.waits()
                && before.filter(known -> known.waits() || known.failures() == fault.failures())
                        .isEmpty();
    }

    private void hold(ProgramFault fault, String what, Action.Hold hold) {
        long seconds = Duration.between(builder.now(), fault.until()).toSeconds();
        builder.decide(
                builder.now(),
                builder.because(
                        ReasonCode.PROGRAM,
                        "%s for %d s, because node %s cannot run its program: %s. Its GPUs stay in use; a declaration that is applied again is tried at once"
                                .formatted(what, seconds, fault.node(), fault.why()),
                        Map.of("failures", (double) fault.failures(), "seconds", (double) seconds),
                        List.of(builder.eventSequence())),
                hold);
    }
}
