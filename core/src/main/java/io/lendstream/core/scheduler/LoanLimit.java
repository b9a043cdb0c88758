package io.lendstream.core.scheduler;

import java.time.Duration;
import java.util.Optional;

/**
 * How many GPUs of inference a plan may newly lend.
 *
 * @param most so many
 * @param rule the setting that says so, with its value and the way out, for people
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
                        "scheduler.max-loans-per-minute is %d, with %d min between plans; wait for the next plan, or raise it"
                                .formatted(settings.changeLimits().maxLoansPerMinute(), minutes));
    }

    /** Why so many loans are too many for a plan; empty where they are not. */
    Optional<String> against(long loans) {
        return loans > most
                ? Optional.of("%s, of which %d may begin now: %s"
                        .formatted(loans == 1 ? "1 new loan" : loans + " new loans", most, rule))
                : Optional.empty();
    }
}
