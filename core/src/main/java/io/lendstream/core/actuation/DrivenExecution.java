package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** Has decisions carried out by a driver: orders what is to be, and waits for the driver's events until a deadline. */
final class DrivenExecution implements Execution {
    private final ActuationState state;
    private final PendingSteps steps;

    DrivenExecution(ActuationState state) {
        this.state = state;
        this.steps = state.steps();
    }

    @Override
    public void start(AcceptedChange accepted) {
        Decision decision = accepted.decision();
        Tenant tenant = accepted.tenant();
        List<GpuId> gained = accepted.change().gained();
        release(new UnitRelease(decision.id(), tenant, accepted.change().leaving(), accepted.by(), ""));
        state.startBinding(tenant, gained);
        Instant deadline = PendingStep.later(state.clock(), decision.deadline());
        if (!gained.isEmpty()) {
            await(deadline, PendingStep.Kind.BIND, PendingSteps.Subject.of(decision.id(), tenant, gained), "");
        }
        SortedSet<GpuId> after = state.active(tenant);
        await(
                deadline.plus(Actuation.PATIENCE),
                PendingStep.Kind.APPLY,
                PendingSteps.Subject.of(decision.id(), tenant, after),
                accepted.remark());
        var out = new TreeSet<>(state.held(tenant));
        out.removeAll(after);
        state.orders()
                .add(new Order.Place(
                        decision.id(),
                        tenant,
                        List.copyOf(after),
                        List.copyOf(out),
                        accepted.allocation(),
                        accepted.by()));
    }

    private void release(UnitRelease release) {
        if (!release.gpus().isEmpty()) {
            state.startReleasing(release.tenant(), release.gpus());
            Instant deadline = PendingStep.later(state.clock(), release.by());
            await(deadline, PendingStep.Kind.RELEASE, release.subject(), release.reason());
        }
    }

    @Override
    public void endLease(UnitRelease release) {
        Tenant tenant = release.tenant();
        release(release);
        state.orders()
                .add(new Order.Place(
                        laterDecision(tenant, release.decision()),
                        tenant,
                        List.copyOf(state.active(tenant)),
                        release.gpus(),
                        state.orders().place(tenant).flatMap(Order.Place::allocation),
                        release.by()));
    }

    /** The last decision about a tenant, which may be newer than the one that granted the lease. */
    private DecisionId laterDecision(Tenant tenant, DecisionId granted) {
        return state.orders()
                .place(tenant)
                .map(Order.Place::decision)
                .filter(last -> last.compareTo(granted) > 0)
                .orElse(granted);
    }

    @Override
    public void cut(Decision decision, GpuId gpu, List<String> places, List<GpuId> going) {
        await(
                PendingStep.later(state.clock(), decision.deadline()),
                PendingStep.Kind.RECUT,
                new PendingSteps.Subject(decision.id(), Optional.empty(), going),
                "");
        state.orders().add(new Order.Cut(decision.id(), gpu, places));
    }

    @Override
    public void batch(Decision decision, Action.Batching batching, List<ActuationReport> reports) {
        Tenant service = new Tenant.Service(batching.service());
        await(
                decision.deadline().plus(Actuation.PATIENCE),
                PendingStep.Kind.APPLY,
                PendingSteps.Subject.of(decision.id(), service, List.of()),
                "");
        state.orders().add(new Order.Batch(decision.id(), batching));
    }

    private void await(Instant due, PendingStep.Kind kind, PendingSteps.Subject subject, String reason) {
        steps.await(state.clock(), due, kind, subject, reason);
    }
}
