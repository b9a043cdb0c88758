package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Starts what a decision asks for: orders it from the driver, and waits for the driver's events until a deadline. */
final class ChangeStarter {
    private final ActuationState state;
    private final PendingSteps steps;

    ChangeStarter(ActuationState state) {
        this.state = state;
        this.steps = state.steps();
    }

    /** Starts a change of a tenant. */
    void start(AcceptedChange accepted) {
        Decision decision = accepted.decision();
        Tenant tenant = accepted.tenant();
        List<GpuId> gained = accepted.change().gained();
        release(new UnitRelease(decision.id(), tenant, accepted.change().leaving(), accepted.by(), ""));
        state.startBinding(tenant, gained);
        state.join(accepted.started());
        state.adopt(accepted.adopted());
        Instant deadline = PendingStep.later(state.clock(), decision.deadline());
        if (!gained.isEmpty()) {
            await(deadline, PendingStep.Kind.BIND, PendingSteps.Subject.of(decision.id(), tenant, gained), "");
        }
        await(
                state.patience(decision, tenant),
                PendingStep.Kind.APPLY,
                PendingSteps.Subject.of(decision.id(), tenant, accepted.applied()),
                accepted.remark());
        Collection<GpuId> after = state.active(tenant);
        var out = new TreeSet<>(state.held(tenant));
        out.removeAll(after);
        state.orders()
                .add(new Order.Place(
                        decision.id(),
                        tenant,
                        List.copyOf(after),
                        List.copyOf(out),
                        accepted.allocation(),
                        accepted.by(),
                        state.replicas(after),
                        state.adopted(after)));
    }

    private void release(UnitRelease release) {
        if (!release.gpus().isEmpty()) {
            state.startReleasing(release.tenant(), release.gpus());
            Instant deadline = PendingStep.later(state.clock(), release.by());
            await(deadline, PendingStep.Kind.RELEASE, release.subject(), release.reason());
        }
    }

    /** Starts to take GPUs back whose lease is over. */
    void endLease(UnitRelease release) {
        Tenant tenant = release.tenant();
        release(release);
        state.orders()
                .add(new Order.Place(
                        laterDecision(tenant, release.decision()),
                        tenant,
                        List.copyOf(state.active(tenant)),
                        release.gpus(),
                        state.orders().place(tenant).flatMap(Order.Place::allocation),
                        release.by(),
                        List.of(),
                        state.adopted(state.active(tenant))));
    }

    /** The last decision about a tenant, which may be newer than the one that granted the lease. */
    private DecisionId laterDecision(Tenant tenant, DecisionId granted) {
        return state.orders()
                .place(tenant)
                .map(Order.Place::decision)
                .filter(last -> last.compareTo(granted) > 0)
                .orElse(granted);
    }

    /** Starts to change the MIG instances of a GPU. */
    void cut(Decision decision, GpuCutting cutting) {
        await(
                PendingStep.later(state.clock(), decision.deadline()),
                PendingStep.Kind.RECUT,
                new PendingSteps.Subject(decision.id(), Optional.empty(), cutting.going()),
                "");
        state.orders().add(new Order.Cut(decision.id(), cutting.id(), cutting.places()));
    }

    /** Starts to change how a service batches. */
    void batch(Decision decision, Action.Batching batching) {
        Tenant service = new Tenant.Service(batching.service());
        await(
                state.patience(decision, service),
                PendingStep.Kind.APPLY,
                PendingSteps.Subject.of(decision.id(), service, batching.gpus()),
                "");
        state.orders().add(new Order.Batch(decision.id(), batching));
    }

    private void await(Instant due, PendingStep.Kind kind, PendingSteps.Subject subject, String reason) {
        steps.await(state.clock(), due, kind, subject, reason);
    }
}
