package io.lendstream.forecaster;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.groups.AbstractMetricGroup;

/**
 * The metrics of a task in Flink's reporters. They are totals, and metrics of a limited number of services, because
 * every reporter carries each of them.
 */
final class ForecastMetrics {
    /** How often a task with more services than it shows looks for a silent one to replace. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMinutes(1);

    private final MetricGroup group;
    private final RateReader.Clock clock;
    private final int mostServices;
    private final Duration forgetAfter;
    private final Counter forecasts;
    private final Counter early;
    private final Counter duplicates;
    private final Counter late;
    private final Map<ServiceId, OfService> services = new HashMap<>();
    private volatile Instant watermark = Instant.MIN;
    private Instant lookedAt = Instant.EPOCH;

    /** @param forgetAfter silence after which a service gives its place to another */
    ForecastMetrics(MetricGroup group, RateReader.Clock clock, int mostServices, Duration forgetAfter) {
        this.group = group;
        this.clock = clock;
        this.mostServices = mostServices;
        this.forgetAfter = forgetAfter;
        forecasts = group.counter("forecasts");
        early = group.counter("earlyForecasts");
        duplicates = group.counter("duplicateRecords");
        late = group.counter("lateRecords");
        Gauge<Double> lag = () -> since(watermark);
        group.gauge("watermarkLagSeconds", lag);
    }

    /** Updates the metrics after a service's forecaster took a record or time advanced. */
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
        Instant now = clock.now();
        OfService known = services.get(service);
        if (known == null) {
            if (services.size() >= mostServices) {
                freePlaces(now);
            }
            if (services.size() >= mostServices) {
                return Optional.empty();
            }
            known = new OfService(group.addGroup("service", service.value()));
            services.put(service, known);
        }
        known.heardAt = now;
        return Optional.of(known);
    }

    private void freePlaces(Instant now) {
        if (now.isBefore(lookedAt.plus(BETWEEN_LOOKS))) {
            return;
        }
        lookedAt = now;
        services.values().removeIf(service -> {
            boolean gone = service.heardAt.plus(forgetAfter).isBefore(now);
            if (gone) {
                service.close();
            }
            return gone;
        });
    }

    /** The most GPUs in a forecast, for p99 over all horizons. */
    private static Optional<Double> gpus(DemandForecast forecast) {
        return forecast.horizons().stream()
                .flatMap(at -> at.gpus().stream())
                .map(gpus -> (double) gpus.p99())
                .max(Comparator.naturalOrder());
    }

    /** Seconds on this machine's clock; NaN if there is no such time yet. */
    private double since(Instant time) {
        return time.equals(Instant.MIN)
                ? Double.NaN
                : Duration.between(time, clock.now()).toMillis() / 1000.0;
    }

    /** The metrics of one service. */
    private final class OfService {
        private final MetricGroup own;
        private Instant heardAt = Instant.MIN;
        final Counter duplicates;
        final Counter late;
        volatile Optional<DemandForecast> last = Optional.empty();

        OfService(MetricGroup own) {
            this.own = own;
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
            Gauge<Double> coverage99 =
                    () -> last.flatMap(forecast -> forecast.horizons().get(0).recent())
                            .map(RecentCoverage::p99)
                            .orElse(Double.NaN);
            own.gauge("recentCoverage99", coverage99);
            Gauge<Double> gpus = () -> last.flatMap(ForecastMetrics::gpus).orElse(Double.NaN);
            own.gauge("forecastGpus", gpus);
        }

        /** Removes the service's metrics from the reporters. */
        void close() {
            if (own instanceof AbstractMetricGroup<?> group) {
                group.close();
            }
        }
    }
}
