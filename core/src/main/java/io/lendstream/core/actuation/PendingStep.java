package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A step of a change that is not done yet.
 *
 * @param due when it is done; for a driven step, the deadline
 * @param since when it was started
 * @param order separates steps that are due at the same time: the one with the lower number is first
 * @param decision the decision under which it is reported
 * @param tenant the tenant that it is about; empty if MIG instances are changed
 * @param gpus the GPUs that it is about; if MIG instances are changed, the GPU and the instances that are destroyed
 * @param timings what the report says about times; computed when a driven step is done
 * @param reported whether it is reported at all
 * @param driven whether it is done when a driver reports it, and not by itself
 * @param reason what the report says about it; usually empty
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
        boolean reported,
        boolean driven,
        String reason)
        implements Comparable<PendingStep> {
    private static final Comparator<PendingStep> ORDER =
            Comparator.comparing(PendingStep::due).thenComparingLong(PendingStep::order);

    /** What the step does. */
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
        gpus = gpus.stream().sorted().toList();
    }

    @Override
    public int compareTo(PendingStep other) {
        return ORDER.compare(this, other);
    }

    static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    PendingStep of(List<GpuId> others) {
        return new PendingStep(due, since, order, kind, decision, tenant, others, timings, reported, driven, reason);
    }

    PendingStep because(String other) {
        return new PendingStep(due, since, order, kind, decision, tenant, gpus, timings, reported, driven, other);
    }

    /** The same step when it is done. */
    PendingStep ended(Kind how, Instant at, String why) {
        Optional<Duration> took = Optional.of(Duration.between(since, at));
        Timings measured = switch (how) {
            case RELEASE, FORCE -> new Timings(Optional.empty(), took, Optional.empty(), Optional.empty());
            case BIND, FAIL -> new Timings(Optional.empty(), Optional.empty(), took, Optional.empty());
            default -> new Timings(Optional.empty(), Optional.empty(), Optional.empty(), took);
        };
        return new PendingStep(due, since, order, how, decision, tenant, gpus, measured, reported, driven, why);
    }

    /** The same step of a job that did not train for a time. */
    PendingStep pausing(Optional<Duration> pause) {
        return new PendingStep(
                due, since, order, kind, decision, tenant, gpus, timings.pausing(pause), reported, driven, reason);
    }

    /** The same step with another deadline. */
    PendingStep until(Instant other, Kind how, String why) {
        return new PendingStep(other, since, order, how, decision, tenant, gpus, timings, reported, driven, why);
    }

    /**
     * The same step under another decision, which asks for the release of its GPUs. A tenant that failed to start is
     * being released from then on.
     *
     * @param place a number of its own, as a part of the step may remain
     */
    PendingStep owedBy(DecisionId other, Instant by, long place, String why) {
        Kind release = kind == Kind.FAIL ? Kind.FORCE : kind;
        return new PendingStep(by, since, place, release, other, tenant, gpus, timings, reported, driven, why);
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
