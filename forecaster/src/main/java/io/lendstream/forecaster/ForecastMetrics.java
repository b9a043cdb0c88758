package io.lendstream.forecaster;

import io.lendstream.core.cluster.ServiceId;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.forecast.ServiceForecaster;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * What a task shows through Flink's reporters: totals, and numbers of single services, of so many at most, since every
 * reporter carries each of them.
 */
final class ForecastMetrics {
    private final MetricGroup group;
    private final RateReader.Clock clock;
    private final int mostServices;
    private final Counter forecasts;
    private final Counter early;
    private final Counter duplicates;
    private final Counter late;
    private final Map<ServiceId, OfService> services = new HashMap<>();
    private volatile Instant watermark = Instant.MIN;

    ForecastMetrics(MetricGroup group, RateReader.Clock clock, int mostServices) {
        this.group = group;
        this.clock = clock;
        this.mostServices = mostServices;
        forecasts = group.counter("forecasts");
        early = group.counter("earlyForecasts");
        duplicates = group.counter("duplicateRecords");
        late = group.counter("lateRecords");
        Gauge<Double> lag = () -> since(watermark);
        group.gauge("watermarkLagSeconds", lag);
    }

    /** A service's forecaster took a record, or time went on. */
    void took(ServiceForecaster forecaster, long newDuplicates, long newLate, long watermarkMillis) {
        if (watermarkMillis > Long.MIN_VALUE) {
            watermark = Instant.ofEpochMilli(watermarkMillis);
        }
        duplicates.inc(newDuplicates);
        late.inc(newLate);
        of(forecaster.service()).ifPresent(service -> {
            service.duplicates.inc(newDuplicates);
            service.late.inc(newLate);
        });
    }

    void issued(DemandForecast forecast) {
        forecasts.inc();
        if (forecast.issuedAt().toEpochMilli() % forecast.step().toMillis() != 0) {
            early.inc();
        }
        of(forecast.service()).ifPresent(service -> service.last = Optional.of(forecast));
    }

    private Optional<OfService> of(ServiceId service) {
        OfService known = services.get(service);
        if (known == null && services.size() < mostServices) {
            known = new OfService(group.addGroup("service", service.value()));
            services.put(service, known);
        }
        return Optional.ofNullable(known);
    }

    /** Seconds on this machine's clock; NaN where there is no such time yet. */
    private double since(Instant time) {
        return time.equals(Instant.MIN)
                ? Double.NaN
                : Duration.between(time, clock.now()).toMillis() / 1000.0;
    }

    /** What is shown of one service. */
    private final class OfService {
        final Counter duplicates;
        final Counter late;
        volatile Optional<DemandForecast> last = Optional.empty();

        OfService(MetricGroup own) {
            duplicates = own.counter("duplicates");
            late = own.counter("late");
            Gauge<Double> lag = () -> since(last.map(DemandForecast::issuedAt).orElse(Instant.MIN));
            own.gauge("forecastLagSeconds", lag);
            Gauge<Double> error =
                    () -> last.flatMap(DemandForecast::recentError).orElse(Double.NaN);
            own.gauge("recentError", error);
            Gauge<Double> coverage =
                    () -> last.flatMap(DemandForecast::recentCoverage90).orElse(Double.NaN);
            own.gauge("recentCoverage", coverage);
        }
    }
}
