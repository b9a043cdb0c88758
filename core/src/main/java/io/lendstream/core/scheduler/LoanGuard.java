package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which GPUs of inference must not be lent: by the level of trust, and those left by a service that missed its SLO a
 * short time ago. It never limits what inference gets, and ends no loan.
 */
record LoanGuard(StepBuilder builder, SchedulerSettings settings) {
    /** Whether some units may be closed, so that each has to be asked for. */
    boolean limitsUnits() {
        return trust().namesUnits() || someMissedTheirSlo();
    }

    private boolean someMissedTheirSlo() {
        if (!settings.changeLimits().slo().isOn()) {
            return false;
        }
        for (ServiceState service : builder.services().values()) {
            if (missedItsSlo(service)) {
                return true;
            }
        }
        return false;
    }

    private boolean missedItsSlo(ServiceState service) {
        return settings.changeLimits().slo().withhold(service, builder.now());
    }

    /** Why a unit must not be lent; empty if it may. Units of training may always be used. */
    Optional<String> against(GpuState unit) {
        return trust().against(unit).or(() -> bySlo(unit));
    }

    /** The same by missed SLOs alone. */
    Optional<String> bySlo(GpuState unit) {
        if (unit.pool() != Pool.INFERENCE || !settings.changeLimits().slo().isOn()) {
            return Optional.empty();
        }
        return unit.lastService()
                .flatMap(builder.services()::get)
                .filter(this::missedItsSlo)
                .map(service ->
                        "the last replica on it was one of %s, which missed its SLO at %s: nothing of it is lent for %s after that"
                                .formatted(
                                        service.spec().service(),
                                        service.feedback()
                                                .flatMap(SloFeedback::missedAt)
                                                .orElseThrow(),
                                        TrustRules.inWords(
                                                settings.changeLimits().slo().withhold())));
    }

    TrustGuard trust() {
        return new TrustGuard(builder, settings);
    }

    /** Why one of these units must not be lent; empty if all may. */
    Optional<String> againstAny(Collection<GpuId> units) {
        return limitsUnits()
                ? units.stream()
                        .flatMap(id -> builder.gpus().get(id).stream())
                        .flatMap(unit -> against(unit).stream())
                        .findFirst()
                : Optional.empty();
    }

    /** Removes the idle units that must not be lent. Nodes that are lent whole are lent if all their units may be. */
    void hide(List<GpuState> usable) {
        if (!limitsUnits()) {
            return;
        }
        Bundles bundles = new Bundles(builder);
        Set<String> closed = new HashSet<>();
        for (GpuState unit : builder.gpus().values()) {
            if (against(unit).isPresent()) {
                bundles.of(unit).ifPresent(closed::add);
            }
        }
        usable.removeIf(unit -> unit.pool() == Pool.INFERENCE
                && !unit.isTraining()
                && (against(unit).isPresent()
                        || bundles.of(unit).filter(closed::contains).isPresent()));
    }
}
