package io.lendstream.core.history;

import java.util.List;

/**
 * What the checker found.
 *
 * @param events events of the log that were replayed
 * @param decisions published decisions that were compared with the replay
 * @param reports actuation reports in the log
 * @param lends decisions that lent GPUs
 * @param reclaims decisions that took lent GPUs back
 * @param violations empty when every promise was kept
 */
public record Verdict(int events, int decisions, int reports, int lends, int reclaims, List<Violation> violations) {
    public Verdict {
        violations = List.copyOf(violations);
    }

    public boolean isContent() {
        return violations.isEmpty();
    }
}
