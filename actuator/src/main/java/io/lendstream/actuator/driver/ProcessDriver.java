package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.Batching;
import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.actuator.jobs.JobHost;
import io.lendstream.actuator.jobs.JobListener;
import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.ReplicaHost;
import io.lendstream.actuator.jobs.ReplicaListener;
import io.lendstream.actuator.jobs.ReplicaProgram;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.actuator.jobs.StepReport;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs jobs and replicas as processes of this node, as the node's own files say ({@link Programs}). It cuts no GPUs. */
public final class ProcessDriver implements Driver {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessDriver.class);

    private static final String JOBS = "jobs";

    private final Programs programs;
    private final ProcessPlan plan;
    private final ClusterLookup surroundings;
    private final DriverListener driverListener;
    private final InstantSource clock;
    private final JobHost jobs;
    private final ReplicaHost replicas;
    private final Map<JobId, Order.Place> placed = new ConcurrentHashMap<>();
    private final Map<JobId, DomainId> domains = new ConcurrentHashMap<>();
    /** Jobs that ended by themselves, perhaps before an order about them came; nobody starts them again. */
    private final Map<JobId, Ended> ended = new ConcurrentHashMap<>();

    private final Set<JobId> starting = ConcurrentHashMap.newKeySet();
    private final Map<JobId, TrainingProgress> said = new ConcurrentHashMap<>();
    private final ExecutorService later = DriverThreads.pool(1, "process-driver");
    private final Map<ServiceId, Order.Place> served = new ConcurrentHashMap<>();

    private record Ended(int code, List<String> lines, Instant at) {}

    /**
     * @param programs directory of the node's files
     * @param state directory in which it keeps what runs; only this user may read it
     * @param environment what jobs and replicas inherit
     */
    public ProcessDriver(
            Path programs,
            Path state,
            CleanEnvironment environment,
            ClusterLookup surroundings,
            DriverListener driverListener,
            InstantSource clock) {
        this.programs = new Programs(programs);
        this.plan = new ProcessPlan(programs, surroundings);
        this.surroundings = surroundings;
        this.driverListener = driverListener;
        this.clock = clock;
        this.jobs = JobHost.open(state.resolve(JOBS), environment, new Jobs());
        this.replicas = ReplicaHost.open(state.resolve("replicas"), environment, new Replicas());
    }

    /** Why it cannot keep what runs in a directory, with the way out. */
    public static Optional<String> complaint(Path state) {
        return JobHost.complaint(state.resolve(JOBS));
    }

    /** An order that fails in a way that was not foreseen must not end the actuator, which has others to carry out. */
    @Override
    public void take(Order order) {
        try {
            begin(order);
        } catch (RuntimeException e) {
            LOG.error("{} cannot be carried out", order, e);
            DriverEvents.failureOf(order, "it cannot be carried out: " + e).ifPresent(driverListener::tell);
        }
    }

    private void begin(Order order) {
        if (order instanceof Order.Place place) {
            place.tenant()
                    .match(Tenant.Cases.<Runnable>of(
                            job -> () -> place(job.job(), place), service -> () -> place(service.service(), place)))
                    .run();
        } else if (order instanceof Order.Force force) {
            force(force);
        } else {
            DriverEvents.failureOf(order, "processes can do nothing about it").ifPresent(driverListener::tell);
        }
    }

    private void place(JobId id, Order.Place place) {
        domains.put(id, place.decision().domain());
        Ended end = ended.get(id);
        if (end != null && !isSubmittedAgain(id, end)) {
            over(place, end);
            return;
        }
        ended.remove(id);
        placed.put(id, place);
        Optional<JobHost.Running> there = running(id);
        Set<GpuId> occupied = there.stream()
                .flatMap(running -> running.occupied().stream())
                .map(Slot::gpu)
                .collect(Collectors.toSet());
        List<GpuId> free =
                place.leaving().stream().filter(gpu -> !occupied.contains(gpu)).toList();
        if (!free.isEmpty()) {
            driverListener.tell(new DriverEvent.Stopped(place.tenant(), free, false, ""));
        }
        there.map(running -> gpus(running.bound()))
                .map(bound -> place.units().stream().filter(bound::contains).toList())
                .filter(bound -> !bound.isEmpty())
                .ifPresent(bound -> driverListener.tell(new DriverEvent.Started(place.tenant(), bound)));
        if (place.units().isEmpty()) {
            if (there.isPresent()) {
                jobs.stop(id, place.decision());
            } else {
                driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
            }
            return;
        }
        if (there.isPresent() && there.get().change().equals(place.decision())) {
            tellAgain(place, there.get());
            return;
        }
        try {
            List<Slot> slots = slots(place.units(), surroundings);
            Batching batching = batching(place);
            if (there.isPresent()) {
                jobs.resize(id, slots, batching, place.decision());
            } else {
                jobs.start(id, program(id), slots, batching, place.decision());
                starting.add(id);
            }
        } catch (Programs.ProgramException e) {
            driverListener.tell(
                    new DriverEvent.Failed(place.tenant(), place.decision(), String.valueOf(e.getMessage())));
        }
    }

    /** What was told already, to somebody who may have forgotten it. */
    private void tellAgain(Order.Place place, JobHost.Running there) {
        if (there.settled()) {
            List<GpuId> wanted = gpus(there.wanted());
            List<GpuId> lost =
                    place.units().stream().filter(gpu -> !wanted.contains(gpu)).toList();
            if (!lost.isEmpty()) {
                driverListener.tell(new DriverEvent.Stopped(place.tenant(), lost, true, "its worker is gone"));
            }
            driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
        }
    }

    private TrainingProgress over(JobId job, DomainId domain, JobPhase phase) {
        Optional<TrainingProgress> last = Optional.ofNullable(said.remove(job));
        return new TrainingProgress(
                job,
                domain,
                now(),
                phase,
                last.map(TrainingProgress::progress).orElse(0.0),
                last.flatMap(TrainingProgress::totalProgress),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    private boolean isSubmittedAgain(JobId id, Ended end) {
        return surroundings
                .job(id)
                .filter(job -> job.submittedAt().isAfter(end.at()))
                .isPresent();
    }

    /** A job is over: finished, failed, or stopped as it was to be. */
    private void over(Order.Place last, Ended end) {
        JobId job = last.tenant().jobId().orElseThrow();
        if (!last.units().isEmpty()) {
            JobPhase phase = end.code() == 0 ? JobPhase.FINISHED : JobPhase.FAILED;
            driverListener.tell(over(job, last.decision().domain(), phase));
        }
        List<GpuId> all = new ArrayList<>(last.units());
        all.addAll(last.leaving());
        String line = end.code() == 0 || end.lines().isEmpty()
                ? ""
                : ": " + end.lines().get(end.lines().size() - 1);
        driverListener.tell(
                new DriverEvent.Stopped(last.tenant(), all, false, "it ended with %d%s".formatted(end.code(), line)));
        driverListener.tell(new DriverEvent.InForce(last.tenant(), last.decision()));
    }

    private Optional<JobHost.Running> running(JobId id) {
        return jobs.running().stream().filter(each -> each.job().equals(id)).findFirst();
    }

    private JobProgram program(JobId id) throws Programs.ProgramException {
        TrainingJob job =
                surroundings.job(id).orElseThrow(() -> new Programs.ProgramException("nobody has submitted job " + id));
        return programs.job(job.application()).with(Map.of("LENDSTREAM_JOB", id.value()));
    }

    static List<Slot> slots(List<GpuId> units, ClusterLookup surroundings) throws Programs.ProgramException {
        List<Slot> slots = new ArrayList<>();
        for (GpuId unit : units) {
            boolean isWhole = unit.value().indexOf('/') < 0;
            String device = surroundings
                    .device(unit)
                    .flatMap(Device::name)
                    .or(() -> isWhole ? Optional.of(unit.value()) : Optional.empty())
                    .orElseThrow(() -> new Programs.ProgramException(
                            ("%s is a MIG instance, and no inventory tells its uuid, without which CUDA does not find it;"
                                            + " have the node's agent tell it, or run this by a command or a webhook")
                                    .formatted(unit)));
            try {
                slots.add(new Slot(unit, device));
            } catch (IllegalArgumentException e) {
                throw new Programs.ProgramException(String.valueOf(e.getMessage()));
            }
        }
        return slots;
    }

    private static Batching batching(Order.Place place) throws Programs.ProgramException {
        Allocation allocation = place.allocation()
                .orElseThrow(() -> new Programs.ProgramException("nothing says with which batch it trains"));
        return new Batching(
                Math.max(1, allocation.localBatch()), allocation.accumulation() + 1, allocation.learningRateScale());
    }

    private void place(ServiceId id, Order.Place place) {
        served.put(id, place);
        place.leaving().forEach(gpu -> replicas.stop(id, gpu, false));
        try {
            ReplicaProgram program = place.units().isEmpty() ? null : programs.service(id.value());
            for (Slot slot : slots(place.units(), surroundings)) {
                replicas.start(
                        id,
                        java.util.Objects.requireNonNull(program),
                        slot,
                        surroundings.device(slot.gpu()).map(Device::index).orElse(0));
            }
        } catch (Programs.ProgramException e) {
            driverListener.tell(
                    new DriverEvent.Failed(place.tenant(), place.decision(), String.valueOf(e.getMessage())));
        }
        settle(id);
    }

    /** A service's decision is in force when all its replicas are ready and none that leaves is left. */
    private void settle(ServiceId id) {
        Order.Place place = served.get(id);
        if (place == null) {
            return;
        }
        Set<GpuId> ready = new java.util.HashSet<>();
        Set<GpuId> there = new java.util.HashSet<>();
        for (ReplicaHost.Running each : replicas.running()) {
            if (each.service().equals(id)) {
                there.add(each.gpu());
                if (each.ready()) {
                    ready.add(each.gpu());
                }
            }
        }
        if (ready.containsAll(place.units()) && place.leaving().stream().noneMatch(there::contains)) {
            driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
        }
    }

    private void force(Order.Force force) {
        force.tenant()
                .match(Tenant.Cases.<Runnable>of(
                        job -> () -> force(job.job(), force),
                        service -> () -> force.units().forEach(gpu -> replicas.stop(service.service(), gpu, true))))
                .run();
    }

    private void force(JobId id, Order.Force force) {
        Set<GpuId> occupied = running(id).stream()
                .flatMap(running -> running.occupied().stream())
                .map(Slot::gpu)
                .collect(Collectors.toSet());
        List<GpuId> free =
                force.units().stream().filter(gpu -> !occupied.contains(gpu)).toList();
        if (!free.isEmpty()) {
            driverListener.tell(new DriverEvent.Stopped(force.tenant(), free, true, ""));
        }
        jobs.force(id, force.units());
    }

    @Override
    public List<String> plan(Order order) {
        return plan.of(order);
    }

    @Override
    public boolean seesWhatRuns() {
        return true;
    }

    @Override
    public List<String> complaints() {
        return plan.complaints();
    }

    @Override
    public void close() {
        later.shutdownNow();
        jobs.close();
        replicas.close();
    }

    /** Not on a host's own thread, which would wait for itself. */
    private void soon(Runnable task) {
        later.execute(task);
    }

    /** Units in which no worker is, and none will be started again. */
    private void giveUp(JobId id, String why) {
        Optional<Order.Place> place = Optional.ofNullable(placed.get(id));
        Optional<JobHost.Running> there = running(id);
        if (place.isPresent() && there.isPresent()) {
            List<GpuId> occupied = gpus(there.get().occupied());
            List<GpuId> empty = place.get().units().stream()
                    .filter(gpu -> !occupied.contains(gpu))
                    .toList();
            if (!empty.isEmpty()) {
                driverListener.tell(new DriverEvent.Stopped(place.get().tenant(), empty, true, why));
            }
        }
    }

    private static List<GpuId> gpus(List<Slot> slots) {
        return slots.stream().map(Slot::gpu).toList();
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    private final class Jobs implements JobListener {
        @Override
        public void bound(JobId job, List<Slot> slots, DecisionId change, ChangeTimings timings) {
            driverListener.tell(new DriverEvent.Started(new Tenant.Job(job), gpus(slots)));
        }

        @Override
        public void released(JobId job, List<Slot> slots, DecisionId change, boolean forced, ChangeTimings timings) {
            driverListener.tell(new DriverEvent.Stopped(new Tenant.Job(job), gpus(slots), forced, ""));
        }

        @Override
        public void applied(JobId job, DecisionId change, ChangeTimings timings) {
            Optional<Duration> pause = starting.remove(job) ? Optional.of(timings.sinceAsked()) : timings.pause();
            driverListener.tell(new DriverEvent.InForce(new Tenant.Job(job), change, pause));
        }

        /** One that a newer change replaced comes into force with that. */
        @Override
        public void failed(JobId job, DecisionId change, String why) {
            Order.Place last = placed.get(job);
            if (last == null || last.decision().equals(change)) {
                driverListener.tell(new DriverEvent.Failed(new Tenant.Job(job), change, why));
                soon(() -> giveUp(job, why));
            }
        }

        /** A slot whose worker was lost gets another one; the job keeps its GPU. */
        @Override
        public void recovered(JobId job, List<Slot> lost, ChangeTimings timings) {
            LOG.info("{} goes on after it lost {}: {}", job, gpus(lost), timings);
        }

        @Override
        public void exited(JobId job, int code, List<String> lastLines) {
            Order.Place last = placed.remove(job);
            Ended end = new Ended(code, lastLines, now());
            if (last == null || !last.units().isEmpty()) {
                ended.put(job, end);
            }
            if (last != null) {
                over(last, end);
            }
        }

        @Override
        public void progress(JobId job, StepReport report) {
            DomainId domain = domains.get(job);
            if (domain != null) {
                var progress = new TrainingProgress(
                        job,
                        domain,
                        now(),
                        JobPhase.RUNNING,
                        report.progress(),
                        Optional.of(report.totalProgress()).filter(total -> total > 0),
                        new TrainingProgress.Parallelism(1, report.replicas(), report.localBatch(), report.accumulation() - 1),
                        new TrainingProgress.StepTiming(Optional.of(report.stepSeconds()).filter(seconds -> seconds > 0), Optional.of(report.syncSeconds())),
                        new TrainingProgress.GradientStatistics(report.gradientSquared(), report.gradientVariance()));
                said.put(job, progress);
                driverListener.tell(progress);
            }
        }
    }

    private final class Replicas implements ReplicaListener {
        @Override
        public void ready(ServiceId service, GpuId gpu) {
            driverListener.tell(new DriverEvent.Started(new Tenant.Service(service), List.of(gpu)));
            soon(() -> settle(service));
        }

        @Override
        public void gone(ServiceId service, GpuId gpu, boolean forced, int code, List<String> lastLines) {
            String end = code == 0 || forced || lastLines.isEmpty() ? "" : lastLines.get(lastLines.size() - 1);
            driverListener.tell(new DriverEvent.Stopped(new Tenant.Service(service), List.of(gpu), forced, end));
            soon(() -> settle(service));
        }
    }
}
