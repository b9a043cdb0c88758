package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptedTenant;
import io.lendstream.actuator.adoption.AdoptionEnd;
import io.lendstream.actuator.adoption.AdoptionHost;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Executes orders about jobs, of which something else may have started the process. Such a job is taken over as it is.
 * When it is to change its GPUs, its process is ended, and the job goes on as one of {@link TrainingProcesses}, from
 * its checkpoint.
 */
final class AdoptedJobs {
    private final AdoptionHost host;
    private final TrainingProcesses jobs;
    private final DriverListener driverListener;
    /** The last order about each job whose process something else has started. */
    private final Map<JobId, Order.Place> latest = new HashMap<>();

    AdoptedJobs(AdoptionHost host, TrainingProcesses jobs, DriverListener driverListener) {
        this.host = host;
        this.jobs = jobs;
        this.driverListener = driverListener;
    }

    synchronized void place(JobId id, Order.Place place) {
        Optional<AdoptedTenant> there = held(id);
        if (there.isPresent() && isUnknown(there.get(), place)) {
            host.letGo(there.get());
            there = Optional.empty();
        }
        if (there.isPresent()) {
            steer(id, there.get(), place);
            return;
        }
        latest.remove(id);
        Optional<Instant> end = host.endedByItself(place.tenant());
        if (end.isPresent() && !jobs.isSubmittedAfter(id, end.get())) {
            jobs.endWithoutStatus(id, place, end.get(), AdoptionEnd.UNASKED);
            return;
        }
        List<Adopted> found = place.adopted().stream()
                .filter(each -> !host.hasEnded(each.user()))
                .toList();
        if (!found.isEmpty()) {
            takeOver(id, found, place);
        } else {
            start(id, place);
        }
    }

    /** Whether the sender of an order does not know a process, which the list has from a state that was lost. */
    private boolean isUnknown(AdoptedTenant there, Order.Place place) {
        return !there.isOnAnyOf(place.units()) && !there.isOnAnyOf(place.leaving()) && !host.isEnding(there);
    }

    /** Executes an order about a job whose process has ended, or that Lendstream has started. */
    private void start(JobId id, Order.Place place) {
        jobs.place(id, place);
        boolean isLost = !place.adopted().isEmpty() && !place.units().isEmpty() && !jobs.isRunning(id);
        Optional<Programs.ProgramException> problem = isLost ? jobs.startProblem(id, place) : Optional.empty();
        problem.ifPresent(why -> driverListener.tell(
                new DriverEvent.Stopped(place.tenant(), place.units(), false, String.valueOf(why.getMessage()))
                        .ofProgram(why.isOfProgram())));
    }

    private void takeOver(JobId id, List<Adopted> found, Order.Place place) {
        Adopted first = found.get(0);
        Optional<String> refusal = conflict(id, found, place)
                .or(() -> host.adopt(place.decision(), place.tenant(), first.user(), first.units()));
        if (refusal.isEmpty()) {
            held(id).ifPresent(there -> steer(id, there, place));
            return;
        }
        List<GpuId> units =
                found.stream().flatMap(each -> each.units().stream()).toList();
        driverListener.tell(new DriverEvent.Failed(place.tenant(), place.decision(), refusal.get()));
        driverListener.tell(new DriverEvent.Stopped(place.tenant(), units, false, refusal.get()));
    }

    private Optional<String> conflict(JobId id, List<Adopted> found, Order.Place place) {
        String first = found.get(0).user();
        if (jobs.isRunning(id)) { // the copy must not move to the GPUs of a stranger
            return Optional.of("%s is not taken over: Lendstream runs %s already".formatted(first, place.tenant()));
        }
        return found.size() > 1
                ? Optional.of("%s is not taken over: a job has one process on a machine, but %s and %s are to be its"
                        .formatted(place.tenant(), first, found.get(1).user()))
                : Optional.empty();
    }

    /** Brings a job whose process runs to its order. */
    private void steer(JobId id, AdoptedTenant there, Order.Place place) {
        List<GpuId> free = without(place.leaving(), there.units());
        if (!free.isEmpty()) {
            driverListener.tell(new DriverEvent.Stopped(place.tenant(), free, false, ""));
        }
        boolean isSame = new HashSet<>(place.units()).equals(new HashSet<>(there.units()));
        boolean isUnchanged = isSame && (place.decision().equals(there.decision()) || !jobs.spans(place));
        if (host.isEnding(there)) {
            latest.put(id, place); // it is executed when the process has ended
        } else if (isUnchanged) {
            latest.put(id, place);
            driverListener.tell(new DriverEvent.Started(place.tenant(), there.units()));
            driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
        } else {
            Optional<Programs.ProgramException> problem =
                    place.units().isEmpty() ? Optional.empty() : jobs.startProblem(id, place);
            if (problem.isPresent()) {
                driverListener.tell(problem.get()
                        .failed(
                                place,
                                "%s runs on as it is, because it could not be started again: %s"
                                        .formatted(
                                                there.process(), problem.get().getMessage())));
                return;
            }
            latest.put(id, place);
            host.end(there, Optional.of(jobs.grace(id)));
        }
    }

    /**
     * Kills the process with all that it has started. An adoption that is undone by its own decision or one before,
     * without an order to leave, gives the process up instead.
     */
    synchronized void force(JobId id, Order.Force force) {
        Optional<AdoptedTenant> there = held(id).filter(each -> each.isOnAnyOf(force.units()));
        if (there.isEmpty()) {
            jobs.force(id, force);
            return;
        }
        List<GpuId> rest = without(force.units(), there.get().units());
        if (!rest.isEmpty()) {
            jobs.force(id, new Order.Force(force.decision(), force.tenant(), rest));
        }
        if (!host.isEnding(there.get()) && there.get().isUndoneBy(force.decision())) {
            host.letGo(there.get());
            latest.remove(id);
            driverListener.tell(
                    new DriverEvent.Stopped(force.tenant(), there.get().units(), false, "given up; it runs on"));
        } else {
            host.kill(there.get());
        }
    }

    /** The process of an adopted job has ended. */
    synchronized void gone(AdoptedTenant job, AdoptionEnd end) {
        JobId id = job.tenant().jobId().orElseThrow();
        Optional<Order.Place> last = Optional.ofNullable(latest.remove(id));
        if (!end.isAsked()) {
            Order.Place place = last.orElseGet(() -> asTakenOver(job));
            host.endedByItself(job.tenant()).ifPresent(at -> jobs.endWithoutStatus(id, place, at, end));
            return;
        }
        List<GpuId> left = without(job.units(), last.map(Order.Place::units).orElse(List.of()));
        if (!left.isEmpty()) {
            driverListener.tell(new DriverEvent.Stopped(job.tenant(), left, end.isForced(), ""));
        }
        last.ifPresent(place -> start(id, place));
    }

    /** Without an order since the actuator's start the job runs as it was taken over. */
    private static Order.Place asTakenOver(AdoptedTenant job) {
        return new Order.Place(job.decision(), job.tenant(), job.units(), List.of(), Optional.empty(), Instant.EPOCH);
    }

    private Optional<AdoptedTenant> held(JobId id) {
        return host.of(new Tenant.Job(id)).stream().findFirst();
    }

    private static List<GpuId> without(List<GpuId> units, List<GpuId> others) {
        return units.stream().filter(unit -> !others.contains(unit)).toList();
    }
}
