package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Demand of a service ahead of time, as quantiles.
 *
 * @param issuedAt end of the last step of demand that it knows
 * @param step length of the steps of demand that it is made from
 * @param model the model that made it
 * @param horizons quantiles at increasing horizons; not empty
 * @param recentError mean absolute error over mean demand of its recent forecasts at the first horizon
 * @param recentCoverage90 share of recent steps in which demand stayed under the p90 forecast of the first horizon;
 *     {@link HorizonQuantiles#recent} has it for each horizon, and for p99
 */
public record DemandForecast(
        ServiceId service,
        DomainId domain,
        Instant issuedAt,
        Duration step,
        String model,
        List<HorizonQuantiles> horizons,
        Optional<Double> recentError,
        Optional<Double> recentCoverage90)
        implements Event {
    public DemandForecast {
        horizons = horizons.stream()
                .sorted(Comparator.comparing(HorizonQuantiles::horizon))
                .toList();
        if (horizons.isEmpty()) {
            throw new IllegalArgumentException("a forecast of %s must have at least one horizon".formatted(service));
        }
        Checks.notNegative("recentError", recentError);
        Checks.fraction("recentCoverage90", recentCoverage90);
    }

    @Override
    public Instant at() {
        return issuedAt;
    }

    /** Whether it counts at a time: it is less than three steps old. */
    public boolean isFresh(Instant now) {
        return issuedAt.plus(step).plus(step).plus(step).isAfter(now);
    }

    /** The same with other horizons. */
    public DemandForecast with(List<HorizonQuantiles> others) {
        return new DemandForecast(service, domain, issuedAt, step, model, others, recentError, recentCoverage90);
    }

    /** The greatest p99 from now until the first horizon that reaches {@code ahead}, in requests per second. */
    public double peakP99Within(Duration ahead) {
        return peakWithin(ahead, HorizonQuantiles::p99);
    }

    /** The time of {@link #peakP99Within}; the earliest if several horizons have that value. */
    public Instant peakP99At(Duration ahead) {
        HorizonQuantiles peak = horizons.get(0);
        for (HorizonQuantiles at : horizons) {
            peak = at.p99() > peak.p99() ? at : peak;
            if (at.horizon().compareTo(ahead) >= 0) {
                break;
            }
        }
        return issuedAt.plus(peak.horizon());
    }

    /** The greatest value of a quantile up to the first horizon that reaches {@code ahead}. */
    public double peakWithin(Duration ahead, java.util.function.ToDoubleFunction<HorizonQuantiles> quantile) {
        double peak = 0;
        for (HorizonQuantiles at : horizons) {
            peak = Math.max(peak, quantile.applyAsDouble(at));
            if (at.horizon().compareTo(ahead) >= 0) {
                break;
            }
        }
        return peak;
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.forecast(this);
    }
}
