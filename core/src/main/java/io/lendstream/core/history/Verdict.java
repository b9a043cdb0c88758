package io.lendstream.core.history;

import java.util.List;

/**
 * The result of a check of a history.
 *
 * @param events events of the log that were replayed
 * @param decisions published decisions that were compared with the replay
 * @param reports actuation reports in the log
 * @param lends decisions that lent GPUs
 * @param reclaims decisions that took lent GPUs back from jobs that had not ended
 * @param releases decisions that released the GPUs of ended jobs
 * @param violations empty if every promise was kept
 */
public record Verdict(
        int events, int decisions, int reports, int lends, int reclaims, int releases, List<Violation> violations) {
    public Verdict {
        violations = List.copyOf(violations);
    }

    /** A verdict on a history in which no job ended. */
    public Verdict(int events, int decisions, int reports, int lends, int reclaims, List<Violation> violations) {
        this(events, decisions, reports, lends, reclaims, 0, violations);
    }

    public boolean isContent() {
        return violations.isEmpty();
    }
}
