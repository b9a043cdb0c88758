package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptionEnd;
import io.lendstream.actuator.jobs.Batching;
import io.lendstream.actuator.jobs.ChangeTimings;
import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.actuator.jobs.JobHost;
import io.lendstream.actuator.jobs.JobListener;
import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.actuator.jobs.StepReport;
import io.lendstream.actuator.jobs.WorldPart;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.TenantName;
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
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes orders about training jobs, whose workers are processes of this node, and reports the results. */
final class TrainingProcesses implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TrainingProcesses.class);

    private final Programs programs;
    private final ClusterLookup surroundings;
    private final CleanEnvironment environment;
    private final Worlds worlds;
    private final DriverListener driverListener;
    private final InstantSource clock;
    private final Executor later;
    private final Map<JobId, Order.Place> placed = new ConcurrentHashMap<>();
    private final Map<JobId, DomainId> domains = new ConcurrentHashMap<>();
    /**
     * Jobs that ended by themselves. An order about such a job does not start it again, unless it is submitted again.
     */
    private final Map<JobId, Ended> ended = new ConcurrentHashMap<>();

    private final Set<JobId> starting = ConcurrentHashMap.newKeySet();
    private final ProgressReports progress = new ProgressReports();
    private final JobKinds kinds;
    private final JobHost jobs;

    /** @param reason how it ended, with the last line of its log if it failed */
    private record Ended(JobPhase phase, String reason, Instant at, boolean othersRunOn) {
        Ended(JobPhase phase, String reason, Instant at) {
            this(phase, reason, at, false);
        }

        static Ended of(int code, List<String> lines, Instant at) {
            String line = code == 0 || lines.isEmpty() ? "" : ": " + lines.get(lines.size() - 1);
            return new Ended(
                    code == 0 ? JobPhase.FINISHED : JobPhase.FAILED,
                    "it exited with status %d%s".formatted(code, line),
                    at);
        }
    }

    /**
     * @param state directory for its state
     * @param later runs work for a job's event, which must not run on the host's own thread
     */
    TrainingProcesses(
            Programs programs,
            Path state,
            CleanEnvironment environment,
            Worlds worlds,
            DriverListener driverListener,
            InstantSource clock,
            Executor later) {
        this.programs = programs;
        this.surroundings = worlds.surroundings();
        this.environment = environment;
        this.worlds = worlds;
        this.kinds = new JobKinds(surroundings);
        this.driverListener = driverListener;
        this.clock = clock;
        this.later = later;
        this.jobs = JobHost.open(state, environment, new Jobs());
    }

    void place(JobId id, Order.Place place) {
        domains.put(id, place.decision().domain());
        Ended end = ended.get(id);
        if (end != null && !isSubmittedAfter(id, end.at())) {
            reportOver(place, end);
            return;
        }
        ended.remove(id);
        placed.put(id, place);
        Optional<JobHost.Running> there = running(id);
        reportWhatIsDone(place, there);
        if (place.units().isEmpty()) {
            if (there.isPresent()) {
                jobs.stop(id, place.decision());
            } else {
                driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
            }
        } else if (there.isPresent() && there.get().change().equals(place.decision()) && !leaves(place, there.get())) {
            reportAgain(place, there.get());
        } else {
            startOrResize(id, place, there.isPresent());
        }
    }

    /** Whether a job is to leave units by the same change that gave it others, because their lease is over. */
    private static boolean leaves(Order.Place place, JobHost.Running there) {
        return DeviceSlots.units(there.wanted()).stream().anyMatch(place.leaving()::contains);
    }

    /** Reports units that the job has already left, and units in which it already computes. */
    private void reportWhatIsDone(Order.Place place, Optional<JobHost.Running> there) {
        List<GpuId> free = free(place.leaving(), there);
        if (!free.isEmpty()) {
            driverListener.tell(new DriverEvent.Stopped(place.tenant(), free, false, ""));
        }
        there.map(running -> DeviceSlots.units(running.bound()))
                .map(bound -> place.units().stream().filter(bound::contains).toList())
                .filter(bound -> !bound.isEmpty())
                .ifPresent(bound -> driverListener.tell(new DriverEvent.Started(place.tenant(), bound)));
    }

    /** Repeats the reports on a change, because the sender of the order may have lost them. */
    private void reportAgain(Order.Place place, JobHost.Running there) {
        if (there.settled()) {
            kinds.inForce(there.job(), place.decision());
            List<GpuId> wanted = DeviceSlots.units(there.wanted());
            List<GpuId> lost =
                    place.units().stream().filter(gpu -> !wanted.contains(gpu)).toList();
            if (!lost.isEmpty()) {
                driverListener.tell(new DriverEvent.Stopped(place.tenant(), lost, true, "its worker has ended"));
            }
            driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
        }
    }

    private void startOrResize(JobId id, Order.Place place, boolean isRunning) {
        try {
            List<Slot> slots = DeviceSlots.of(place.units(), surroundings);
            Batching batching = batching(place);
            Optional<WorldPart> world = worlds.of(place);
            world.ifPresent(all -> LOG.info("{} by {}: {}", id, place.decision(), all.inWords()));
            Optional<String> refusal =
                    isRunning ? Optional.empty() : surroundings.job(id).flatMap(programs::refusal);
            if (refusal.isPresent()) {
                refuse(id, place, refusal.get());
            } else if (isRunning) {
                jobs.resize(id, slots, batching, place.decision(), world);
            } else {
                jobs.start(id, program(id, place), slots, batching, place.decision(), world);
                starting.add(id);
            }
        } catch (Programs.ProgramException e) {
            driverListener.tell(e.failed(place));
        }
    }

    /** A job whose program is not run here ends: a failed start would count against its GPUs, and be tried again. */
    private void refuse(JobId id, Order.Place place, String why) {
        LOG.warn("refused: {}", why);
        placed.remove(id);
        Ended end = new Ended(JobPhase.FAILED, why, now());
        ended.put(id, end);
        reportOver(place, end);
    }

    private static Batching batching(Order.Place place) throws Programs.ProgramException {
        Allocation allocation = place.allocation()
                .orElseThrow(
                        () -> new Programs.ProgramException("no batch size is known for the job; submit it with one"));
        return new Batching(
                Math.max(1, allocation.localBatch()), allocation.accumulation() + 1, allocation.learningRateScale());
    }

    private JobProgram program(JobId id, Order.Place place) throws Programs.ProgramException {
        TrainingJob job = surroundings
                .job(id)
                .orElseThrow(() -> new Programs.ProgramException("job %s has not been submitted".formatted(id)));
        String tenant = TenantName.of(place.decision().domain(), place.tenant());
        return programs.job(job).with(Map.of("LENDSTREAM_JOB", id.value(), TenantName.VARIABLE, tenant));
    }

    void force(JobId id, Order.Force force) {
        List<GpuId> free = free(force.units(), running(id));
        if (!free.isEmpty()) {
            driverListener.tell(new DriverEvent.Stopped(force.tenant(), free, true, ""));
        }
        jobs.force(id, force.units());
    }

    /** The units in which a job has no process. */
    private static List<GpuId> free(List<GpuId> units, Optional<JobHost.Running> there) {
        Set<GpuId> occupied = there.stream()
                .flatMap(running -> running.occupied().stream())
                .map(Slot::gpu)
                .collect(Collectors.toSet());
        return units.stream().filter(gpu -> !occupied.contains(gpu)).toList();
    }

    private Optional<JobHost.Running> running(JobId id) {
        return jobs.running().stream().filter(each -> each.job().equals(id)).findFirst();
    }

    /** Whether a job has a process here that Lendstream started. */
    boolean isRunning(JobId id) {
        return running(id).isPresent();
    }

    boolean isSubmittedAfter(JobId id, Instant end) {
        return surroundings
                .job(id)
                .filter(job -> job.submittedAt().isAfter(end))
                .isPresent();
    }

    /** Why a job could not be started on the units of an order; empty if it could. */
    Optional<Programs.ProgramException> startProblem(JobId id, Order.Place place) {
        try {
            DeviceSlots.of(place.units(), surroundings);
            batching(place);
            worlds.of(place);
            return JobHost.complaint(id, program(id, place), environment).map(Programs.ProgramException::new);
        } catch (Programs.ProgramException e) {
            return Optional.of(e);
        }
    }

    /** Whether a job is to train over several machines. */
    boolean spans(Order.Place place) {
        return worlds.machines(place) > 1;
    }

    /** How long a job may take to write a checkpoint after SIGTERM. */
    Duration grace(JobId id) {
        Optional<TrainingJob> job = surroundings.job(id);
        try {
            return job.isPresent() ? programs.job(job.get()).grace() : Programs.GRACE;
        } catch (Programs.ProgramException e) {
            LOG.debug("{} has no program here", id, e);
            return Programs.GRACE;
        }
    }

    /**
     * A job has ended by itself whose process something else had started. It counts as failed, because it may have
     * been, and is not started again.
     */
    void endWithoutStatus(JobId id, Order.Place last, Instant at, AdoptionEnd how) {
        Ended end = new Ended(JobPhase.FAILED, DriverEvents.reasonOf(how), at, how == AdoptionEnd.OTHERS_RUN_ON);
        ended.put(id, end);
        reportOver(last, end);
    }

    /** Reports the end of a job: finished, failed, or stopped as ordered. */
    private void reportOver(Order.Place last, Ended end) {
        JobId job = last.tenant().jobId().orElseThrow();
        if (!last.units().isEmpty()) {
            driverListener.tell(progress.over(job, last.decision().domain(), end.phase(), now()));
        }
        List<GpuId> all = new ArrayList<>(last.units());
        all.addAll(last.leaving());
        driverListener.tell(
                new DriverEvent.Stopped(last.tenant(), all, false, end.reason()).leavingOthers(end.othersRunOn()));
        driverListener.tell(new DriverEvent.InForce(last.tenant(), last.decision()));
    }

    /** Reports units without a worker, in which none will be started again. */
    private void giveUp(JobId id, String why) {
        Optional<Order.Place> place = Optional.ofNullable(placed.get(id));
        Optional<JobHost.Running> there = running(id);
        if (place.isPresent() && there.isPresent()) {
            List<GpuId> empty = free(place.get().units(), there);
            if (!empty.isEmpty()) {
                driverListener.tell(new DriverEvent.Stopped(place.get().tenant(), empty, true, why));
            }
        }
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /** Closes its connections to jobs, which continue to run. */
    @Override
    public void close() {
        jobs.close();
    }

    private final class Jobs implements JobListener {
        @Override
        public void bound(JobId job, List<Slot> slots, DecisionId change, ChangeTimings timings) {
            driverListener.tell(new DriverEvent.Started(new Tenant.Job(job), DeviceSlots.units(slots)));
        }

        @Override
        public void released(JobId job, List<Slot> slots, DecisionId change, boolean forced, ChangeTimings timings) {
            driverListener.tell(new DriverEvent.Stopped(new Tenant.Job(job), DeviceSlots.units(slots), forced, ""));
        }

        @Override
        public void applied(JobId job, DecisionId change, ChangeTimings timings) {
            kinds.inForce(job, change);
            Optional<Duration> pause = starting.remove(job) ? Optional.of(timings.sinceAsked()) : timings.pause();
            driverListener.tell(new DriverEvent.InForce(new Tenant.Job(job), change, pause));
        }

        /** A change that a newer change replaced is in force together with the newer one. */
        @Override
        public void failed(JobId job, DecisionId change, String why, boolean ofProgram) {
            Order.Place last = placed.get(job);
            if (last == null || last.decision().equals(change)) {
                driverListener.tell(new DriverEvent.Failed(new Tenant.Job(job), change, why, ofProgram));
                later.execute(() -> giveUp(job, why));
            }
        }

        /** A slot whose worker was lost gets another worker; the job keeps its GPU. */
        @Override
        public void recovered(JobId job, List<Slot> lost, ChangeTimings timings) {
            LOG.info("{} recovered after it lost {}: {}", job, DeviceSlots.units(lost), timings);
        }

        @Override
        public void exited(JobId job, int code, List<String> lastLines) {
            kinds.over(job);
            Order.Place last = placed.remove(job);
            Ended end = Ended.of(code, lastLines, now());
            if (last == null || !last.units().isEmpty()) {
                ended.put(job, end);
            }
            if (last != null) {
                reportOver(last, end);
            }
        }

        @Override
        public void progress(JobId job, StepReport report) {
            DomainId domain = domains.get(job);
            if (domain != null) {
                Optional<Order.Place> last = Optional.ofNullable(placed.get(job));
                Optional<KindId> kind = last.flatMap(place -> kinds.of(job, place));
                int nodes = last.map(worlds::machines).orElse(1);
                driverListener.tell(progress.running(job, domain, report, nodes, kind, now()));
            }
        }
    }
}
