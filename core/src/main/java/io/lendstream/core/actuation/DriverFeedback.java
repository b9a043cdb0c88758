package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Applies driver events to awaited steps, and handles awaited steps that are overdue. */
final class DriverFeedback {
    private final ActuationState state;
    private final PendingSteps steps;
    private final List<ActuationReport> reports;

    DriverFeedback(ActuationState state, List<ActuationReport> reports) {
        this.state = state;
        this.steps = state.steps();
        this.reports = reports;
    }

    void take(DriverEvent driverEvent) {
        if (driverEvent instanceof DriverEvent.Stopped stopped) {
            stopped(stopped);
        } else if (driverEvent instanceof DriverEvent.Started started) {
            started(started);
        } else if (driverEvent instanceof DriverEvent.InForce inForce) {
            inForce(inForce);
        } else if (driverEvent instanceof DriverEvent.Failed failed) {
            failed(failed);
        } else if (driverEvent instanceof DriverEvent.Cut cut) {
            cut(cut);
        }
    }

    private void stopped(DriverEvent.Stopped stopped) {
        Tenant tenant = stopped.tenant();
        int told = reports.size();
        List<FoundTenant> behind =
                stopped.othersRunOn() ? new LeftBehind(state).of(tenant, stopped.units()) : List.of();
        List<PendingStep> returning = steps.awaited(tenant, step -> step.returns(tenant));
        steps.withdraw(tenant, stopped.units(), step -> step.returns(tenant));
        var rest = new TreeSet<>(state.held(tenant));
        rest.retainAll(Set.copyOf(stopped.units()));
        for (PendingStep step : steps.awaited(tenant, PendingStep::ends)) {
            List<GpuId> gone = step.gpus().stream().filter(rest::contains).toList();
            if (gone.isEmpty()) {
                continue;
            }
            PendingStep part = steps.takeOut(step, gone);
            gone.forEach(rest::remove);
            boolean forced = stopped.forced() || step.kind() == PendingStep.Kind.FORCE;
            if (forced) {
                state.orders().endPause(tenant);
            }
            PendingStep.Kind ended =
                    step.binds() ? PendingStep.Kind.FAIL : forced ? PendingStep.Kind.FORCE : PendingStep.Kind.RELEASE;
            String reason = ReasonText.join(step.reason(), stopped.reason());
            state.complete(
                    part.ended(ended, state.clock(), reason).ofProgram(step.ofProgram() || stopped.ofProgram()),
                    reports);
        }
        if (!rest.isEmpty() && state.orders().place(tenant).isPresent()) {
            leftUnasked(stopped, List.copyOf(rest), whyLeft(returning, stopped.units()));
        }
        reports.subList(told, reports.size()).replaceAll(report -> report.leaving(behind));
        state.displace(tenant, stopped.units());
    }

    private static String whyLeft(List<PendingStep> returning, List<GpuId> units) {
        return returning.stream()
                .filter(step -> !step.reason().isEmpty() && step.gpus().stream().anyMatch(units::contains))
                .map(PendingStep::reason)
                .findFirst()
                .orElse("it left by itself");
    }

    private void leftUnasked(DriverEvent.Stopped stopped, List<GpuId> units, String why) {
        state.vacate(stopped.tenant(), units);
        reports.add(state.report(
                        lastDecision(state, stopped.tenant()),
                        stopped.forced() ? Outcome.FORCED : Outcome.RELEASED,
                        units,
                        Optional.of(stopped.tenant()),
                        Timings.NONE,
                        ReasonText.join(why, stopped.reason()))
                .ofProgram(stopped.ofProgram()));
    }

    /** The last decision about a tenant; if none is known, the last of all. */
    static DecisionId lastDecision(ActuationState state, Tenant tenant) {
        return state.orders()
                .place(tenant)
                .map(Order.Place::decision)
                .or(() -> state.latest().values().stream().max(Comparator.naturalOrder()))
                .orElseThrow();
    }

    private void started(DriverEvent.Started started) {
        Tenant tenant = started.tenant();
        List<GpuId> strays = new ArrayList<>(started.units());
        strays.removeAll(state.held(tenant));
        if (!strays.isEmpty()) {
            state.orders().add(new Order.Force(lastDecision(state, tenant), tenant, strays));
        }
        steps.withdraw(tenant, started.units(), step -> step.returns(tenant));
        for (PendingStep step : steps.awaited(tenant, other -> other.kind() == PendingStep.Kind.BIND)) {
            List<GpuId> here =
                    step.gpus().stream().filter(started.units()::contains).toList();
            if (!here.isEmpty()) {
                PendingStep part = steps.takeOut(step, here);
                state.complete(part.ended(PendingStep.Kind.BIND, state.clock(), step.reason()), reports);
            }
        }
    }

    private void inForce(DriverEvent.InForce inForce) {
        DecisionId decision = inForce.decision();
        steps.removeIf(
                inForce.tenant(),
                step -> step.returns(inForce.tenant()) && step.decision().equals(decision));
        for (PendingStep step : steps.awaited(inForce.tenant(), other -> other.kind() == PendingStep.Kind.APPLY)) {
            int order = step.decision().compareTo(decision);
            if (step.decision().domain().equals(decision.domain()) && order <= 0) {
                steps.remove(step);
                String reason = order < 0 ? ReasonText.join(step.reason(), "superseded by " + decision) : step.reason();
                state.complete(
                        step.ended(PendingStep.Kind.APPLY, state.clock(), reason)
                                .pausing(order == 0 ? inForce.pause() : Optional.empty()),
                        reports);
            }
        }
    }

    /**
     * The tenant keeps what it has. What it was to gain may have started in part, so it is killed before it is reported
     * failed. If nothing has to be killed, the decision is reported failed at once.
     */
    private void failed(DriverEvent.Failed failed) {
        steps.removeIf(failed.tenant(), step -> step.returns(failed.tenant()));
        List<PendingStep> binds = steps.awaited(
                failed.tenant(), step -> step.binds() && step.decision().equals(failed.decision()));
        for (PendingStep step : binds) {
            steps.remove(step);
            state.displace(failed.tenant(), step.gpus());
            if (isAdopted(step)) {
                letGo(step, failed.reason());
            } else {
                kill(step.ofProgram(failed.ofProgram()), PendingStep.Kind.FAIL, failed.reason());
            }
        }
        for (PendingStep step : steps.awaited(
                failed.tenant(),
                other -> other.kind() == PendingStep.Kind.APPLY
                        && other.decision().equals(failed.decision()))) {
            steps.remove(step);
            if (binds.isEmpty()) {
                reports.add(state.report(
                                step.decision(),
                                Outcome.FAILED,
                                List.of(),
                                step.tenant(),
                                Timings.NONE,
                                failed.reason())
                        .ofProgram(failed.ofProgram()));
            }
        }
    }

    private void cut(DriverEvent.Cut cut) {
        for (PendingStep step : steps.all()) {
            boolean meant = step.kind() == PendingStep.Kind.RECUT
                    && step.decision().equals(cut.decision())
                    && step.gpus().contains(cut.gpu());
            if (meant) {
                steps.remove(step);
                state.orders().endCut(cut.gpu());
                PendingStep.Kind ended = cut.done() ? PendingStep.Kind.RECUT : PendingStep.Kind.NOT_CUT;
                state.complete(step.ended(ended, state.clock(), cut.reason()), reports);
            }
        }
    }

    /** A driver has not reported an awaited step in time. */
    void overdue(PendingStep step) {
        switch (step.kind()) {
            case RELEASE -> kill(step, PendingStep.Kind.FORCE, "still there at the deadline");
            case BIND -> {
                state.displace(step.tenant().orElseThrow(), step.gpus());
                if (isAdopted(step)) {
                    // By the decision of the adoption itself, a driver lets go what it may have taken over since.
                    state.orders()
                            .add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
                    letGo(step, "was not taken over until " + state.clock());
                } else {
                    kill(step, PendingStep.Kind.FAIL, "did not come up until " + state.clock());
                }
            }
            case FORCE, FAIL -> kill(step, step.kind(), "");
            case RECUT -> {
                step.gpus().forEach(state.orders()::endCut);
                state.complete(
                        step.ended(PendingStep.Kind.NOT_CUT, state.clock(), "not cut until " + state.clock()), reports);
            }
            case RETURN -> {
                state.displace(step.tenant().orElseThrow(), step.gpus());
                orderKill(
                        step,
                        PendingStep.Kind.RETURN,
                        "killed: its driver did not confirm it since the actuator's restart");
            }
            case APPLY ->
                state.complete(
                        step.ended(PendingStep.Kind.GIVE_UP, state.clock(), "not in force until " + state.clock()),
                        reports);
            case NOT_CUT, GIVE_UP -> throw new IllegalStateException(step + " is not waited for");
        }
    }

    /** Whether a step is about something that something else has started. */
    private boolean isAdopted(PendingStep step) {
        return step.gpus().stream()
                .anyMatch(gpu -> state.holding(gpu).flatMap(Holding::adopted).isPresent());
    }

    /** Something is not taken over. It goes on as if it had never been found. */
    private void letGo(PendingStep step, String why) {
        state.complete(step.ended(PendingStep.Kind.FAIL, state.clock(), why), reports);
    }

    /**
     * A GPU is not bound again before the killed tenant is gone; otherwise the driver would start it again after the
     * kill.
     */
    private void kill(PendingStep step, PendingStep.Kind kind, String why) {
        state.markReleasing(step.gpus());
        orderKill(step, kind, ReasonText.join(step.reason(), why));
    }

    /** Orders a kill, and waits for it until it is to be ordered again. */
    private void orderKill(PendingStep step, PendingStep.Kind kind, String reason) {
        state.orders().add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
        steps.awaitAgain(step.until(state.clock().plus(WaitingTimes.KILL_AGAIN), kind, reason));
    }
}
