package io.lendstream.core.scheduler;

import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Trust;
import java.util.Optional;

/** Which GPUs of inference, and how many, the level of trust allows to lend. It never limits what inference gets. */
record TrustGuard(StepBuilder builder, SchedulerSettings settings) {
    /** Whether only the GPUs that one service leaves idle are lent. */
    boolean namesUnits() {
        return builder.mode().level() == TrustLevel.ONE_SERVICE;
    }

    /** Why a unit must not be lent; empty if it may. Units of training may always be used. */
    Optional<String> against(GpuState unit) {
        if (!namesUnits() || unit.pool() != Pool.INFERENCE) {
            return Optional.empty();
        }
        Optional<ServiceId> service = builder.mode().trust().flatMap(Trust::service);
        if (service.isEmpty()) {
            return Optional.of("the level of trust is one, and no service is named");
        }
        return isLeftBy(unit, service.get())
                ? Optional.empty()
                : Optional.of("the level of trust is one (service %s), and %s"
                        .formatted(
                                service.get(),
                                unit.lastService()
                                        .map(other -> "the last replica on it was one of " + other)
                                        .orElse("no replica of this service has left it")));
    }

    /** Whether a service has left a unit idle, as far as the log shows: its replica was the last one there. */
    static boolean isLeftBy(GpuState unit, ServiceId service) {
        return unit.lastService().filter(service::equals).isPresent();
    }

    /** The greatest share of inference GPUs that may be lent, by the level and the settings. */
    double share() {
        double share = settings.changeLimits().maxShareLent();
        return limitsShare() ? settings.changeLimits().trust().share() : share;
    }

    private boolean limitsShare() {
        return builder.mode().level() == TrustLevel.SHARE
                && settings.changeLimits().trust().share()
                        < settings.changeLimits().maxShareLent();
    }

    /** The rule that gives the share, such as {@code scheduler.max-share-lent is 0.5}. */
    String shareRule() {
        return limitsShare()
                ? "the level of trust is share, and scheduler.trust-share is "
                        + settings.changeLimits().trust().share()
                : "scheduler.max-share-lent is " + settings.changeLimits().maxShareLent();
    }

    /** What an operator can do to lend more. */
    String shareRemedy() {
        return limitsShare() ? "raise the level ('lendstream trust') to lend more" : "raise the setting to lend more";
    }

    /** What the level of trust limits now; empty if it limits nothing. */
    Optional<String> limit() {
        TrustLevel level = builder.mode().level();
        if (level.onlyObserves()) {
            return Optional.of("the level of trust is observe, so no decision is made");
        }
        if (level.isAdvice()) {
            return Optional.of("the level of trust is advise, so decisions are only advice");
        }
        return level.limitsLoans()
                ? builder.mode()
                        .trust()
                        .map(trust -> "the level of trust is %s, so %s"
                                .formatted(
                                        trust.inWords(),
                                        namesUnits()
                                                ? "only GPUs that this service leaves idle are lent"
                                                : "at most %s of inference GPUs are lent".formatted(percent(share()))))
                : Optional.empty();
    }

    static String percent(double share) {
        return "%s %%".formatted(Math.round(share * 1000) / 10.0);
    }
}
