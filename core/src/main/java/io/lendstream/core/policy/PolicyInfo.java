package io.lendstream.core.policy;

import java.util.Optional;

/**
 * The description of a policy.
 *
 * @param name the name in the setting {@code scheduler.policy}
 * @param summary its objective in one line, for the list of policies
 * @param elastic whether it changes the GPUs of running jobs
 * @param needsDurations whether it needs the run times of jobs in advance
 * @param looksAhead whether it uses demand forecasts
 * @param warning a sentence to log at start; empty for a policy without known danger
 */
public record PolicyInfo(
        String name,
        String summary,
        boolean elastic,
        boolean needsDurations,
        boolean looksAhead,
        Optional<String> warning) {
    /** A policy without a warning. */
    public PolicyInfo(String name, String summary, boolean elastic, boolean needsDurations, boolean looksAhead) {
        this(name, summary, elastic, needsDurations, looksAhead, Optional.empty());
    }

    /** Whether the policy is marked experimental: it has a warning. */
    public boolean isExperimental() {
        return warning.isPresent();
    }
}
