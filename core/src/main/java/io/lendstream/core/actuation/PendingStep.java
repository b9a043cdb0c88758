package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.persistent.WhenAbsent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A step of a change that is not done yet.
 *
 * @param due until when a driver has to report it
 * @param since when it was started
 * @param order separates steps that are due at the same time: the one with the lower number is first
 * @param decision the decision under which it is reported
 * @param tenant the tenant that it is about; empty if MIG instances are changed
 * @param gpus the GPUs that it is about; if MIG instances are changed, the GPU and the instances that are destroyed
 * @param timings the times of the parts of the change, as far as they are known
 * @param reason the text of the report; usually empty
 * @param ofProgram whether the tenant's program is at fault
 */
public record PendingStep(
        Instant due,
        Instant since,
        long order,
        Kind kind,
        DecisionId decision,
        Optional<Tenant> tenant,
        List<GpuId> gpus,
        Timings timings,
        String reason,
        @WhenAbsent("false") boolean ofProgram)
        implements Comparable<PendingStep> {
    /** The kinds of steps. */
    public enum Kind {
        RELEASE,
        FORCE,
        BIND,
        FAIL,
        APPLY,
        RECUT,
        /** A driver confirms that a tenant still runs after a restart. */
        RETURN,
        /** A driver did not cut a GPU, or not in time. */
        NOT_CUT,
        /** A change was not in force in time. */
        GIVE_UP
    }

    public PendingStep {
        gpus = GpuId.sorted(gpus);
    }

    /** A step without a known fault. */
    public PendingStep(
            Instant due,
            Instant since,
            long order,
            Kind kind,
            DecisionId decision,
            Optional<Tenant> tenant,
            List<GpuId> gpus,
            Timings timings,
            String reason) {
        this(due, since, order, kind, decision, tenant, gpus, timings, reason, false);
    }

    /** The same step, where the tenant's program may be at fault. */
    PendingStep ofProgram(boolean isAtFault) {
        return new PendingStep(due, since, order, kind, decision, tenant, gpus, timings, reason, isAtFault);
    }

    @Override
    public int compareTo(PendingStep other) {
        int byTime = due.compareTo(other.due);
        return byTime != 0 ? byTime : Long.compare(order, other.order);
    }

    static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    PendingStep of(List<GpuId> others) {
        return new PendingStep(due, since, order, kind, decision, tenant, others, timings, reason, ofProgram);
    }

    PendingStep because(String other) {
        return new PendingStep(due, since, order, kind, decision, tenant, gpus, timings, other, ofProgram);
    }

    /** The same step when it is done. Its timings have the part of the change that ended with it. */
    PendingStep ended(Kind how, Instant at, String why) {
        Duration took = Duration.between(since, at);
        Timings measured = switch (how) {
            case RELEASE, FORCE -> new Timings(Optional.empty(), Optional.of(took), Optional.empty(), Optional.empty());
            case BIND, FAIL ->
                new Timings(
                        Optional.empty(),
                        timings.release(),
                        Optional.of(took.minus(timings.release().orElse(Duration.ZERO))),
                        Optional.empty());
            default ->
                new Timings(
                        Optional.empty(),
                        timings.release(),
                        timings.bind(),
                        Optional.of(took.minus(timings.release().orElse(Duration.ZERO))
                                .minus(timings.bind().orElse(Duration.ZERO))));
        };
        return new PendingStep(due, since, order, how, decision, tenant, gpus, measured, why, ofProgram);
    }

    /** The same step after a release by the same decision has ended. */
    PendingStep afterRelease(Instant at) {
        return measured(Optional.of(Duration.between(since, at)), Optional.empty());
    }

    /** The same step after a tenant has started by the same decision. */
    PendingStep afterBind(Instant at) {
        Duration left = timings.release().orElse(Duration.ZERO);
        return measured(
                timings.release(), Optional.of(Duration.between(since, at).minus(left)));
    }

    /** The same step of which nothing has been measured. */
    PendingStep unmeasured() {
        return measured(Optional.empty(), Optional.empty());
    }

    private PendingStep measured(Optional<Duration> release, Optional<Duration> bind) {
        Timings parts = new Timings(Optional.empty(), release, bind, Optional.empty());
        return new PendingStep(due, since, order, kind, decision, tenant, gpus, parts, reason, ofProgram);
    }

    /** The same step of a job that did not train for a time. */
    PendingStep pausing(Optional<Duration> pause) {
        return new PendingStep(
                due, since, order, kind, decision, tenant, gpus, timings.pausing(pause), reason, ofProgram);
    }

    /** The same step with another deadline. */
    PendingStep until(Instant other, Kind how, String why) {
        return new PendingStep(other, since, order, how, decision, tenant, gpus, timings, why, ofProgram);
    }

    /**
     * The same step under another decision, which asks for the release of its GPUs. A tenant that failed to start is
     * being released from then on.
     *
     * @param place a number of its own, as a part of the step may remain
     */
    PendingStep owedBy(DecisionId other, Instant by, long place, String why) {
        Kind release = kind == Kind.FAIL ? Kind.FORCE : kind;
        return new PendingStep(by, since, place, release, other, tenant, gpus, timings, why, ofProgram);
    }

    /** Whether a tenant leaves its GPUs, or starts there. */
    boolean ends() {
        return frees() || binds();
    }

    /** Whether a kill has been ordered. */
    boolean kills() {
        return kind == Kind.FORCE || kind == Kind.FAIL;
    }

    boolean isAbout(Tenant who) {
        return tenant.filter(who::equals).isPresent();
    }

    boolean applies(Tenant who) {
        return kind == Kind.APPLY && isAbout(who);
    }

    boolean returns(Tenant who) {
        return kind == Kind.RETURN && isAbout(who);
    }

    boolean frees() {
        return kind == Kind.RELEASE || kind == Kind.FORCE;
    }

    boolean binds() {
        return kind == Kind.BIND || kind == Kind.FAIL;
    }
}
