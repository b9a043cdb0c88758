package io.lendstream.core.actuation;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** What becomes of what drivers were ordered: takes in what they tell, and goes on where they do not do it in time. */
final class DriverFeedback {
    private final ActuationState work;
    private final List<ActuationReport> reports;

    DriverFeedback(ActuationState work, List<ActuationReport> reports) {
        this.work = work;
        this.reports = reports;
    }

    void take(DriverEvent driverEvent) {
        if (driverEvent instanceof DriverEvent.Stopped left) {
            left(left);
        } else if (driverEvent instanceof DriverEvent.Started came) {
            came(came);
        } else if (driverEvent instanceof DriverEvent.InForce settled) {
            settled(settled);
        } else if (driverEvent instanceof DriverEvent.Failed failed) {
            failed(failed);
        } else if (driverEvent instanceof DriverEvent.Cut cut) {
            cut(cut);
        }
    }

    private void left(DriverEvent.Stopped left) {
        String why = work.driven(left.tenant(), step -> step.returns(left.tenant())).stream()
                .filter(step -> !step.reason().isEmpty() && step.gpus().stream().anyMatch(left.units()::contains))
                .map(PendingStep::reason)
                .findFirst()
                .orElse("it left by itself");
        work.withdraw(left.units(), step -> step.returns(left.tenant()));
        var rest = new TreeSet<>(work.holdings.of(left.tenant()));
        rest.retainAll(Set.copyOf(left.units()));
        for (PendingStep step : work.driven(left.tenant(), PendingStep::ends)) {
            List<GpuId> gone = step.gpus().stream().filter(rest::contains).toList();
            if (gone.isEmpty()) {
                continue;
            }
            work.steps.remove(step);
            List<GpuId> still =
                    step.gpus().stream().filter(gpu -> !gone.contains(gpu)).toList();
            if (!still.isEmpty()) {
                work.steps.add(step.of(still));
            }
            rest.removeAll(gone);
            boolean forced = left.forced() || step.kind() == PendingStep.Kind.FORCE;
            PendingStep.Kind ended =
                    step.binds() ? PendingStep.Kind.FAIL : forced ? PendingStep.Kind.FORCE : PendingStep.Kind.RELEASE;
            String reason = ActuationState.join(step.reason(), left.reason());
            work.complete(step.of(gone).ended(ended, work.clock, reason), reports);
        }
        if (!rest.isEmpty() && work.places.containsKey(left.tenant())) {
            leftUnasked(left, List.copyOf(rest), why);
        }
        work.displace(left.tenant(), left.units());
    }

    private void leftUnasked(DriverEvent.Stopped left, List<GpuId> units, String why) {
        DecisionId by = anyDecision(left.tenant());
        units.forEach(work.holdings::remove);
        units.forEach(unit -> work.deserted.put(unit, left.tenant()));
        reports.add(new ActuationReport(
                by.domain(),
                by,
                work.actuator,
                work.clock,
                left.forced() ? Outcome.FORCED : Outcome.RELEASED,
                units,
                Optional.of(left.tenant()),
                Timings.NONE,
                ActuationState.join(why, left.reason())));
    }

    /** The last one about a tenant; where none is known, the last of all. */
    private DecisionId anyDecision(Tenant tenant) {
        return Optional.ofNullable(work.places.get(tenant))
                .map(Order.Place::decision)
                .or(() -> work.latest.values().stream().max(Comparator.naturalOrder()))
                .orElseThrow();
    }

    private void came(DriverEvent.Started came) {
        List<GpuId> strays = came.units().stream()
                .filter(unit -> !work.holdings.of(came.tenant()).contains(unit))
                .toList();
        if (!strays.isEmpty()) {
            work.orders.add(new Order.Force(anyDecision(came.tenant()), came.tenant(), strays));
        }
        work.withdraw(came.units(), step -> step.returns(came.tenant()));
        for (PendingStep step : work.driven(came.tenant(), other -> other.kind() == PendingStep.Kind.BIND)) {
            List<GpuId> here =
                    step.gpus().stream().filter(came.units()::contains).toList();
            if (here.isEmpty()) {
                continue;
            }
            work.steps.remove(step);
            List<GpuId> still =
                    step.gpus().stream().filter(gpu -> !here.contains(gpu)).toList();
            if (!still.isEmpty()) {
                work.steps.add(step.of(still));
            }
            work.complete(step.of(here).ended(PendingStep.Kind.BIND, work.clock, step.reason()), reports);
        }
    }

    private void settled(DriverEvent.InForce settled) {
        work.steps.removeIf(
                step -> step.returns(settled.tenant()) && step.decision().equals(settled.decision()));
        for (PendingStep step : work.driven(settled.tenant(), other -> other.kind() == PendingStep.Kind.APPLY)) {
            int order = step.decision().compareTo(settled.decision());
            if (step.decision().domain().equals(settled.decision().domain()) && order <= 0) {
                work.steps.remove(step);
                String reason = order < 0
                        ? ActuationState.join(step.reason(), "superseded by " + settled.decision())
                        : step.reason();
                work.complete(
                        step.ended(PendingStep.Kind.APPLY, work.clock, reason)
                                .pausing(order == 0 ? settled.pause() : Optional.empty()),
                        reports);
            }
        }
    }

    /** What it has, it keeps. What it was to gain may have come up by half: that is killed before it counts as nobody's. */
    private void failed(DriverEvent.Failed failed) {
        work.steps.removeIf(step -> step.returns(failed.tenant()));
        for (PendingStep step : work.driven(
                failed.tenant(),
                other -> (other.binds() || other.kind() == PendingStep.Kind.APPLY)
                        && other.decision().equals(failed.decision()))) {
            work.steps.remove(step);
            if (step.binds()) {
                work.displace(failed.tenant(), step.gpus());
                kill(step, PendingStep.Kind.FAIL, failed.reason());
            } else {
                reports.add(new ActuationReport(
                        step.decision().domain(),
                        step.decision(),
                        work.actuator,
                        work.clock,
                        Outcome.FAILED,
                        List.of(),
                        step.tenant(),
                        Timings.NONE,
                        failed.reason()));
            }
        }
    }

    private void cut(DriverEvent.Cut cut) {
        for (PendingStep step : List.copyOf(work.steps)) {
            boolean meant = step.driven()
                    && step.kind() == PendingStep.Kind.RECUT
                    && step.decision().equals(cut.decision())
                    && step.gpus().contains(cut.gpu());
            if (meant) {
                work.steps.remove(step);
                work.cuts.remove(cut.gpu());
                work.complete(
                        step.ended(
                                cut.done() ? PendingStep.Kind.RECUT : PendingStep.Kind.NOT_CUT,
                                work.clock,
                                cut.reason()),
                        reports);
            }
        }
    }

    /** A driver has not done in time what it was ordered to. */
    void overdue(PendingStep step) {
        switch (step.kind()) {
            case RELEASE -> kill(step, PendingStep.Kind.FORCE, "still there at the deadline");
            case BIND -> {
                work.displace(step.tenant().orElseThrow(), step.gpus());
                kill(step, PendingStep.Kind.FAIL, "did not come up until " + work.clock);
            }
            case FORCE, FAIL -> kill(step, step.kind(), "");
            case RECUT -> {
                step.gpus().forEach(work.cuts::remove);
                work.complete(step.ended(PendingStep.Kind.NOT_CUT, work.clock, "not cut until " + work.clock), reports);
            }
            case RETURN -> {
                Tenant tenant = step.tenant().orElseThrow();
                work.displace(tenant, step.gpus());
                work.orders.add(new Order.Force(step.decision(), tenant, step.gpus()));
                work.steps.add(step.until(
                        work.clock.plus(Actuation.KILL_AGAIN),
                        step.kind(),
                        "killed: its driver had not said that it runs since the actuator's restart"));
            }
            case APPLY ->
                work.complete(
                        step.ended(PendingStep.Kind.GIVE_UP, work.clock, "not in force until " + work.clock), reports);
            case NOT_CUT, GIVE_UP -> throw new IllegalStateException(step + " is not waited for");
        }
    }

    /** What is being killed may not be asked for again before it is gone, else the driver starts it again after the kill. */
    private void kill(PendingStep step, PendingStep.Kind kind, String why) {
        for (GpuId gpu : step.gpus()) {
            work.holdings.of(gpu).ifPresent(holding -> work.holdings.put(holding.in(Holding.Phase.RELEASING)));
        }
        work.orders.add(new Order.Force(step.decision(), step.tenant().orElseThrow(), step.gpus()));
        work.steps.add(
                step.until(work.clock.plus(Actuation.KILL_AGAIN), kind, ActuationState.join(step.reason(), why)));
    }
}
