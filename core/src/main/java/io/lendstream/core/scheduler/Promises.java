package io.lendstream.core.scheduler;

import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Promise;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The units that are promised to tenants, in a step. Other tenants do not get them. Without promises each question
 * takes constant time.
 */
final class Promises {
    private final List<Promise> before;
    private Map<GpuId, Promise> byUnit = Collections.emptySortedMap();
    /** The jobs that have a promise; empty until needed. */
    private Optional<Set<JobId>> jobs = Optional.empty();

    Promises(List<Promise> before) {
        this.before = before;
        for (Promise promise : before) {
            put(promise);
        }
    }

    boolean isEmpty() {
        return byUnit.isEmpty();
    }

    /** The promises in the order of units. */
    Collection<Promise> all() {
        return byUnit.values();
    }

    /** Whether a unit is promised to some tenant. */
    boolean has(GpuId unit) {
        return byUnit.containsKey(unit);
    }

    /** Whether a unit is promised to another tenant. */
    boolean keepsFrom(Tenant tenant, GpuId unit) {
        Promise promise = byUnit.get(unit);
        return promise != null && !promise.tenant().equals(tenant);
    }

    /**
     * Whether a unit is promised to another tenant than a job, which it has to be free for.
     *
     * @param isGained whether the job gets it. If not, it goes to training with those that the job gets, and other jobs
     *     may have promises of it.
     */
    boolean keepsFrom(Tenant.Job job, GpuId unit, boolean isGained) {
        return keepsFrom(job, unit) && (isGained || !isForJob(unit));
    }

    /** The tenant that a unit is promised to. */
    Optional<Tenant> tenantOf(GpuId unit) {
        return Optional.ofNullable(byUnit.get(unit)).map(Promise::tenant);
    }

    /** Whether a unit is promised to a job. */
    boolean isForJob(GpuId unit) {
        Promise promise = byUnit.get(unit);
        return promise != null && promise.tenant().isJob();
    }

    /** Whether a unit is promised to a service whose replicas have several units. */
    boolean isForGroup(StepBuilder builder, GpuId unit) {
        Promise promise = byUnit.get(unit);
        return promise != null
                && promise.tenant()
                        .serviceId()
                        .flatMap(builder.services()::get)
                        .filter(service -> service.spec().hasGroups())
                        .isPresent();
    }

    /** Ends the promises to a service of other units than these. */
    void keepOnly(ServiceId service, Set<GpuId> units) {
        if (byUnit.isEmpty()) {
            return;
        }
        byUnit.values()
                .removeIf(promise -> !units.contains(promise.unit())
                        && promise.tenant().serviceId().filter(service::equals).isPresent());
    }

    /** Whether a job has a promise. */
    boolean has(JobId job) {
        return !byUnit.isEmpty() && jobs().contains(job);
    }

    /** The jobs that have a promise. */
    Set<JobId> jobs() {
        Set<JobId> known = jobs.orElseGet(this::listJobs);
        jobs = Optional.of(known);
        return known;
    }

    private Set<JobId> listJobs() {
        Set<JobId> known = new TreeSet<>();
        byUnit.values().forEach(promise -> promise.tenant().jobId().ifPresent(known::add));
        return known;
    }

    /** The cause of a job's change: the quota of its queue if it has a promise, else a plan. */
    ReasonCode cause(JobState job) {
        return has(job.spec().job()) ? ReasonCode.QUOTA : ReasonCode.PLAN;
    }

    /** The units that are promised to a service. */
    List<GpuId> units(ServiceId service) {
        List<GpuId> units = new ArrayList<>();
        for (Promise promise : byUnit.values()) {
            if (promise.tenant().serviceId().filter(service::equals).isPresent()) {
                units.add(promise.unit());
            }
        }
        return units;
    }

    void add(GpuId unit, Tenant tenant, Instant until) {
        put(new Promise(unit, tenant, until));
        jobs = Optional.empty();
    }

    /** The promises of two units follow an exchange of their owners; the tenants that have them. */
    List<Tenant> exchange(GpuId one, GpuId other) {
        if (byUnit.isEmpty()) {
            return List.of();
        }
        List<Tenant> tenants = new ArrayList<>();
        Promise ofOne = byUnit.remove(one);
        Promise ofOther = byUnit.remove(other);
        if (ofOne != null) {
            add(other, ofOne.tenant(), ofOne.until());
            tenants.add(ofOne.tenant());
        }
        if (ofOther != null) {
            add(one, ofOther.tenant(), ofOther.until());
            tenants.add(ofOther.tenant());
        }
        return tenants;
    }

    private void put(Promise promise) {
        if (byUnit.isEmpty()) {
            byUnit = new TreeMap<>();
        }
        byUnit.put(promise.unit(), promise);
    }

    /**
     * Ends promises whose unit is bound, whose tenant does not want it any more, or whose time is over. If a unit of a
     * job cannot come any more, all promises of the job end, and it waits for a plan.
     */
    void end(StepBuilder builder) {
        if (byUnit.isEmpty()) {
            return;
        }
        jobs = Optional.empty();
        Set<JobId> broken = new TreeSet<>();
        for (Promise promise : List.copyOf(byUnit.values())) {
            if (isOpen(builder, promise) && isWanted(builder, promise)) {
                continue;
            }
            byUnit.remove(promise.unit());
            if (!isBound(builder, promise)) {
                promise.tenant().jobId().ifPresent(broken::add);
            }
        }
        for (JobId job : broken) {
            byUnit.values()
                    .removeIf(promise ->
                            promise.tenant().jobId().filter(job::equals).isPresent());
            builder.jobs()
                    .get(job)
                    .filter(known -> !known.isOver())
                    .ifPresent(
                            known -> builder.put(known.aiming(known.allocation().gpus())));
            builder.invalidatePlan();
        }
    }

    /**
     * Whether a unit that is free, or will be, is promised no more, or to a tenant that does not want it any more.
     *
     * @param earlier promises that stood
     */
    boolean haveFreed(StepBuilder builder, List<Promise> earlier) {
        for (Promise promise : earlier) {
            boolean isOver = !byUnit.containsKey(promise.unit()) || !isWanted(builder, promise);
            if (isOver
                    && builder.gpus()
                            .get(promise.unit())
                            .filter(unit -> isOpen(unit))
                            .isPresent()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a promised unit is free, or will be. */
    private static boolean isOpen(StepBuilder builder, Promise promise) {
        return builder.now().isBefore(promise.until())
                && builder.gpus()
                        .get(promise.unit())
                        .filter(unit -> isOpen(unit))
                        .isPresent();
    }

    private static boolean isOpen(GpuState unit) {
        return unit.isFree() || unit.owner().isReleasing() || unit.owner().isSleeping();
    }

    private static boolean isWanted(StepBuilder builder, Promise promise) {
        Optional<JobId> job = promise.tenant().jobId();
        return job.isEmpty()
                || builder.jobs()
                        .get(job.get())
                        .filter(known -> wants(known, promise.unit()))
                        .isPresent();
    }

    private static boolean wants(JobState job, GpuId unit) {
        return !job.isOver()
                && !job.isHeldBack()
                && job.target().contains(unit)
                && job.target().size() >= job.spec().scaling().least();
    }

    private static boolean isBound(StepBuilder builder, Promise promise) {
        return builder.gpus()
                .get(promise.unit())
                .filter(unit -> unit.isHeldBy(promise.tenant()) && !unit.owner().isReleasing())
                .isPresent();
    }

    /** The promises after the step: those of units that are not bound yet and that their tenants still want. */
    List<Promise> left(StepBuilder builder) {
        if (byUnit.isEmpty()) {
            return List.of();
        }
        List<Promise> left = new ArrayList<>();
        for (Promise promise : byUnit.values()) {
            if (!isBound(builder, promise) && isWanted(builder, promise)) {
                left.add(promise);
            }
        }
        return left.equals(before) ? before : left;
    }
}
