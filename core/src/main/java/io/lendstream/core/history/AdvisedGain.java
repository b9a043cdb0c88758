package io.lendstream.core.history;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What would be gained by following advice, as an average over the time in which it was given: the units of inference
 * that advised loans would use, and those that would be freed from replicas that are not needed. It is an estimate:
 * nothing of it was done, so a loan counts from the plan that advises it, without its start, and for as long as plans
 * advise it.
 */
public final class AdvisedGain {
    /** A longer time without an event does not count: no plan was made, and agents were silent. */
    private static final Duration LONGEST_GAP = Duration.ofMinutes(10);

    private static final double SECONDS_PER_HOUR = 3600;

    private Duration covered = Duration.ZERO;
    private double unitSeconds;
    private double lentSeconds;
    private double freedSeconds;
    private Optional<Advice> seen = Optional.empty();
    private long units;
    private long lent;
    private long freed;

    AdvisedGain() {}

    /** Follows a step. */
    void follow(ClusterState before, ClusterState after) {
        Duration time = Duration.between(before.now(), after.now());
        boolean isGiven = before.mode().isAdvisory() && before.advice().isPresent();
        if (!isGiven || time.isNegative() || time.isZero() || time.compareTo(LONGEST_GAP) > 0) {
            return;
        }
        count(before);
        double seconds = time.toNanos() / 1e9;
        covered = covered.plus(time);
        unitSeconds += seconds * units;
        lentSeconds += seconds * lent;
        freedSeconds += seconds * freed;
    }

    /** Counts the units of the advice, if it has changed. */
    private void count(ClusterState state) {
        Advice advice = state.advice().orElseThrow();
        if (seen.filter(advice::equals).isPresent()) {
            return;
        }
        seen = Optional.of(advice);
        units = state.gpus().stream()
                .filter(unit -> unit.pool() == Pool.INFERENCE)
                .count();
        lent = counted(state, advice, decision -> decision.action().asLend().isPresent());
        // What makes way for requests that wait goes to another service, and not to a loan.
        freed = counted(
                state,
                advice,
                decision -> decision.action().asIdle().isPresent()
                        && !decision.reason().is(ReasonCode.WAITING));
    }

    private static long counted(ClusterState state, Advice advice, Predicate<Decision> which) {
        return advice.decisions().stream()
                .filter(which)
                .flatMap(decision -> decision.action().gpus().stream())
                .distinct()
                .flatMap(id -> state.gpus().get(id).stream())
                .filter(unit -> unit.pool() == Pool.INFERENCE && !unit.isTraining())
                .count();
    }

    /** For how long advice was given; zero if none was. */
    public Duration covered() {
        return covered;
    }

    /** GPUs and MIG instances of inference, on average. */
    public double units() {
        return average(unitSeconds);
    }

    /** Units that advised loans would use, on average. */
    public double lent() {
        return average(lentSeconds);
    }

    /** Units that would be freed from replicas that are not needed, on average; loans of them follow later. */
    public double freed() {
        return average(freedSeconds);
    }

    /** What loans would use, in hours of one unit. */
    public double lentHours() {
        return lentSeconds / SECONDS_PER_HOUR;
    }

    private double average(double seconds) {
        return covered.isZero() ? 0 : seconds / (covered.toNanos() / 1e9);
    }
}
