package io.lendstream.core.scheduler;

import java.time.Duration;
import java.util.Optional;

/**
 * The number of inference GPUs that a plan may newly lend.
 *
 * @param most the greatest number
 * @param rule the setting that limits it, with its value and the way out
 */
record LoanLimit(long most, String rule) {
    /** The tighter of the limits per minute and on transfers. */
    static LoanLimit of(Duration planEvery, SchedulerSettings settings, TransferPace pace) {
        long minutes = Math.max(1, planEvery.toMinutes());
        long perPlan = settings.changeLimits().maxLoansPerMinute() * minutes;
        long room = pace.room();
        return room < perPlan
                ? new LoanLimit(room, pace.explained())
                : new LoanLimit(
                        perPlan,
                        "scheduler.max-loans-per-minute is %d (%d min between plans); wait for the next plan, or raise it"
                                .formatted(settings.changeLimits().maxLoansPerMinute(), minutes));
    }

    /** The cause why a number of loans is too large for a plan; empty if it is not. */
    Optional<String> against(long loans) {
        return loans > most
                ? Optional.of("%s would begin, but only %d may begin now: %s"
                        .formatted(loans == 1 ? "1 new loan" : loans + " new loans", most, rule))
                : Optional.empty();
    }
}
