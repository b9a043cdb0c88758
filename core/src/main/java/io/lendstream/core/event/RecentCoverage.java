package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import java.util.Optional;

/**
 * The shares of recent forecasts at a horizon that demand stayed under; older forecasts weigh less.
 *
 * @param p90 share under p90; a fraction from 0 to 1, 0.9 if the forecasts keep their promise
 * @param p99 share under p99; a fraction from 0 to 1, 0.99 if they do
 * @param forecasts how many forecasts the shares rest on
 */
public record RecentCoverage(double p90, double p99, int forecasts) {
    public RecentCoverage {
        Checks.fraction("coverage of p90", Optional.of(p90));
        Checks.fraction("coverage of p99", Optional.of(p99));
        Checks.atLeast("forecasts that coverage rests on", 1, forecasts);
    }
}
