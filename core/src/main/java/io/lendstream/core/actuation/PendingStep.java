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
 * Something an actuator will have done at a moment to come.
 *
 * @param since when it was begun
 * @param order tells steps of the same moment apart: the one planned first goes first
 * @param decision the decision under which it will be reported
 * @param tenant whom it is about; nobody where GPUs are cut anew
 * @param gpus the GPUs that it is about; where they are cut anew, with the instances that go
 * @param reported whether it will be reported at all
 * @param driven whether it is done when a driver says so; then {@code due} is when patience ends
 * @param reason what the report says beside the plain course; usually empty
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

    /** What will have been done. */
    public enum Kind {
        RELEASE,
        FORCE,
        BIND,
        FAIL,
        APPLY,
        RECUT,
        /** What was there before a restart is there still, or again. */
        RETURN,
        /** A driver did not cut, or not in time. */
        NOT_CUT,
        /** A driver did not get done in time. */
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

    /** The same when it is over. */
    PendingStep ended(Kind how, Instant at, String why) {
        Optional<Duration> took = Optional.of(Duration.between(since, at));
        Timings measured = switch (how) {
            case RELEASE, FORCE -> new Timings(Optional.empty(), took, Optional.empty(), Optional.empty());
            case BIND, FAIL -> new Timings(Optional.empty(), Optional.empty(), took, Optional.empty());
            default -> new Timings(Optional.empty(), Optional.empty(), Optional.empty(), took);
        };
        return new PendingStep(due, since, order, how, decision, tenant, gpus, measured, reported, driven, why);
    }

    /** The same where a job did not train for so long. */
    PendingStep pausing(Optional<Duration> pause) {
        return new PendingStep(
                due, since, order, kind, decision, tenant, gpus, timings.pausing(pause), reported, driven, reason);
    }

    /** The same with more time. */
    PendingStep until(Instant other, Kind how, String why) {
        return new PendingStep(other, since, order, how, decision, tenant, gpus, timings, reported, driven, why);
    }

    /**
     * The same under another decision, which asks for the release of its GPUs: what had failed to come up is a release from then on.
     *
     * @param place its own order, as the step that it is a part of may remain
     */
    PendingStep owedBy(DecisionId other, Instant by, long place, String why) {
        Kind release = kind == Kind.FAIL ? Kind.FORCE : kind;
        return new PendingStep(by, since, place, release, other, tenant, gpus, timings, reported, driven, why);
    }

    /** Whether a tenant is not to be on its GPUs any more, or may not have come to be. */
    boolean ends() {
        return frees() || binds();
    }

    /** Whether what runs is being killed. */
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
