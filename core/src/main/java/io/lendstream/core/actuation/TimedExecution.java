package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Carries decisions out in simulation: plans each step for the time at which it will be done. */
final class TimedExecution implements Execution {
    private final ActuationState state;
    private final PendingSteps steps;
    private final ChangeTiming timing;
    private final Instant now;

    TimedExecution(ActuationState state, ChangeTiming timing) {
        this.state = state;
        this.steps = state.steps();
        this.timing = timing;
        this.now = state.clock();
    }

    @Override
    public void start(AcceptedChange accepted) {
        TenantChange change = accepted.change();
        Instant left = release(
                new UnitRelease(accepted.decision().id(), change.tenant(), change.leaving(), accepted.by(), ""));
        boolean fails = !change.gained().isEmpty() && timing.trouble() == ChangeTiming.FailureMode.BIND_FAILS;
        Instant last = left;
        if (!change.gained().isEmpty()) {
            last = bind(accepted, left, fails);
        }
        if (accepted.isOfJob()) {
            for (PendingStep bind : steps.of(change.tenant(), PendingStep.Kind.BIND)) {
                last = PendingStep.later(last, bind.due());
            }
        }
        Instant applied = PendingStep.later(last, now.plus(timing.ready()));
        if (accepted.isOfJob()) {
            supersede(accepted, fails ? last : applied);
        }
        if (!fails) {
            apply(accepted, left, last, applied);
        }
    }

    /**
     * Plans when a tenant has left GPUs, and returns that time. A tenant that would not leave in time is killed then.
     */
    private Instant release(UnitRelease release) {
        if (release.gpus().isEmpty()) {
            return now;
        }
        state.startReleasing(release.tenant(), release.gpus());
        Instant deadline = PendingStep.later(now, release.by());
        Instant left = now.plus(timing.release());
        boolean forced = timing.trouble() == ChangeTiming.FailureMode.STUCK_RELEASE || left.isAfter(deadline);
        Instant due = forced ? deadline : left;
        String reason = forced ? ReasonText.join(release.reason(), "still there at the deadline") : release.reason();
        steps.plan(
                now,
                due,
                forced ? PendingStep.Kind.FORCE : PendingStep.Kind.RELEASE,
                release.subject(),
                account(timings(Duration.between(now, due), Optional.empty(), Optional.empty()), reason));
        return due;
    }

    /** Plans when a tenant runs on the GPUs that it gets, or has failed to start there, and returns that time. */
    private Instant bind(AcceptedChange accepted, Instant left, boolean fails) {
        List<GpuId> gained = accepted.change().gained();
        state.startBinding(accepted.tenant(), gained);
        Instant bound = left.plus(timing.bind());
        steps.plan(
                now,
                bound,
                fails ? PendingStep.Kind.FAIL : PendingStep.Kind.BIND,
                PendingSteps.Subject.of(accepted.decision().id(), accepted.tenant(), gained),
                account(
                        timings(Duration.between(now, left), Optional.of(timing.bind()), Optional.empty()),
                        fails ? "did not come up" : ""));
        return bound;
    }

    /** Older changes of the same job are reported as applied together with this one. */
    private void supersede(AcceptedChange accepted, Instant at) {
        Tenant job = accepted.tenant();
        for (PendingStep older : steps.of(job, PendingStep.Kind.APPLY)) {
            steps.remove(older);
            steps.plan(
                    now,
                    at,
                    PendingStep.Kind.APPLY,
                    PendingSteps.Subject.of(older.decision(), job, List.of()),
                    new PendingSteps.Account(
                            older.timings(),
                            older.reported(),
                            "superseded by " + accepted.decision().id()));
        }
    }

    private void apply(AcceptedChange accepted, Instant left, Instant last, Instant applied) {
        steps.plan(
                now,
                applied,
                PendingStep.Kind.APPLY,
                PendingSteps.Subject.of(accepted.decision().id(), accepted.tenant(), accepted.applied()),
                account(
                        timings(
                                Duration.between(now, left),
                                Optional.of(Duration.between(left, last)),
                                Optional.of(Duration.between(last, applied))),
                        accepted.remark()));
    }

    @Override
    public void endLease(UnitRelease release) {
        release(release);
    }

    @Override
    public void cut(Decision decision, GpuId gpu, List<String> places, List<GpuId> going) {
        steps.plan(
                now,
                now.plus(timing.ready()),
                PendingStep.Kind.RECUT,
                new PendingSteps.Subject(decision.id(), Optional.empty(), going),
                new PendingSteps.Account(
                        timings(Duration.ZERO, Optional.empty(), Optional.of(timing.ready())), true, ""));
    }

    /** A simulated service batches as decided at once. */
    @Override
    public void batch(Decision decision, Action.Batching batching, List<ActuationReport> reports) {
        Tenant service = new Tenant.Service(batching.service());
        reports.add(
                state.report(decision.id(), Outcome.APPLIED, batching.gpus(), Optional.of(service), Timings.NONE, ""));
    }

    private PendingSteps.Account account(Timings timings, String reason) {
        return new PendingSteps.Account(timings, timing.trouble() != ChangeTiming.FailureMode.UNREPORTED, reason);
    }

    private static Timings timings(Duration release, Optional<Duration> bind, Optional<Duration> ready) {
        return new Timings(Optional.empty(), Optional.of(release), bind, ready);
    }
}
