package io.lendstream.core.forecast;

import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.Optional;

/**
 * The recent coverage of a horizon's p90 and p99. It is a share with forgetting of all judged forecasts, including
 * those that the levels do not learn from. A level cannot replace it, because a level has a range.
 */
public final class Coverage {
    /** About so many forecasts count: a share of 0.99 is known to within 0.002 then (one standard deviation). */
    private static final double MEMORY = 1000;

    private static final int FORECASTS = 0;
    private static final int UNDER_P90 = 1;
    private static final int UNDER_P99 = 2;

    private final float[] sums = new float[3];

    public void learn(boolean underP90, boolean underP99) {
        add(FORECASTS, true);
        add(UNDER_P90, underP90);
        add(UNDER_P99, underP99);
    }

    private void add(int sum, boolean counts) {
        sums[sum] = (float) ((1 - 1 / MEMORY) * sums[sum] + (counts ? 1 : 0));
    }

    /** Empty before a forecast could be judged. */
    public Optional<RecentCoverage> recent() {
        return sums[FORECASTS] == 0
                ? Optional.empty()
                : Optional.of(new RecentCoverage(
                        share(UNDER_P90), share(UNDER_P99), Math.max(1, Math.round(sums[FORECASTS]))));
    }

    private double share(int sum) {
        return Math.min(1, (double) sums[sum] / sums[FORECASTS]);
    }

    public void save(StateWriter out) {
        out.numbers(sums);
    }

    /** States before format 5 have none. */
    public void load(StateReader in) {
        if (!in.isBefore(5)) {
            in.numbers(sums);
        }
    }
}
