package io.lendstream.forecaster;

import static io.lendstream.core.forecast.service.Rates.DOMAIN;
import static io.lendstream.core.forecast.service.Rates.MIDNIGHT;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.service.ServiceForecaster;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.metrics.groups.AbstractMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.junit.jupiter.api.Test;

class ForecastMetricsTest {
    private final Map<String, Counter> counters = new TreeMap<>();
    private final Map<String, Gauge<?>> gauges = new TreeMap<>();
    private final ForecastMetrics metrics =
            new ForecastMetrics(new Noting(""), () -> MIDNIGHT.plusSeconds(90), 1, Duration.ofDays(14));

    @Test
    void showsHowAServiceFares() {
        metrics.took(forecaster("chat"), 2, 1, MIDNIGHT.plusSeconds(50).toEpochMilli());
        metrics.issued(forecast("chat", 60));

        assertThat(gauges.get("watermarkLagSeconds").getValue()).isEqualTo(40.0);
        assertThat(counters.get("chat.duplicates").getCount()).isEqualTo(2);
        assertThat(counters.get("chat.late").getCount()).isEqualTo(1);
        assertThat(gauges.get("chat.forecastLagSeconds").getValue()).isEqualTo(30.0);
        assertThat(gauges.get("chat.recentError").getValue()).isEqualTo(0.25);
        assertThat(gauges.get("chat.recentCoverage").getValue()).isEqualTo(Double.NaN);
        assertThat(gauges.get("chat.recentCoverage99").getValue()).isEqualTo(0.9921875);
        assertThat(gauges.get("chat.forecastGpus").getValue()).isEqualTo(5.0);
    }

    @Test
    void countsEveryServiceAndShowsOnlySoManyByThemselves() {
        metrics.took(forecaster("chat"), 1, 1, Long.MIN_VALUE);
        metrics.took(forecaster("search"), 1, 1, Long.MIN_VALUE);
        metrics.issued(forecast("search", 60));
        metrics.issued(forecast("search", 75));

        assertThat(counters.get("lateRecords").getCount()).isEqualTo(2);
        assertThat(counters.get("duplicateRecords").getCount()).isEqualTo(2);
        assertThat(counters.get("forecasts").getCount()).isEqualTo(2);
        assertThat(counters.get("earlyForecasts").getCount()).isEqualTo(1);
        assertThat(counters).containsKey("chat.late").doesNotContainKey("search.late");
        assertThat(gauges.get("watermarkLagSeconds").getValue()).isEqualTo(Double.NaN);
    }

    @Test
    void aServiceThatIsGoneLeavesItsPlaceToAnother() {
        var group = UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup();
        Instant[] now = {MIDNIGHT};
        var one = new ForecastMetrics(group, () -> now[0], 1, Duration.ofDays(14));
        one.took(forecaster("chat"), 0, 0, Long.MIN_VALUE);
        var chat = (AbstractMetricGroup<?>) group.addGroup("service", "chat");
        now[0] = MIDNIGHT.plus(Duration.ofDays(13));
        one.took(forecaster("search"), 0, 0, Long.MIN_VALUE);
        assertThat(chat.isClosed()).as("chat may come back").isFalse();

        now[0] = MIDNIGHT.plus(Duration.ofDays(15));
        one.took(forecaster("search"), 0, 0, Long.MIN_VALUE);

        assertThat(chat.isClosed()).isTrue();
    }

    private static ServiceForecaster forecaster(String service) {
        return new ServiceForecaster(ForecastSettings.DEFAULT, new ServiceId(service), DOMAIN);
    }

    private static DemandForecast forecast(String service, int seconds) {
        return new DemandForecast(
                new ServiceId(service),
                DOMAIN,
                MIDNIGHT.plusSeconds(seconds),
                Duration.ofMinutes(1),
                "ewma",
                List.of(new HorizonQuantiles(
                        Duration.ofMinutes(1),
                        1,
                        2,
                        3,
                        4,
                        Optional.of(new GpuQuantiles(2, 3, 4, 5)),
                        Optional.of(new RecentCoverage(0.875, 0.9921875, 128)))),
                Optional.of(0.25),
                Optional.empty());
    }

    /** Notes what is registered, under the service's name. */
    private final class Noting extends UnregisteredMetricsGroup {
        private final String prefix;

        Noting(String prefix) {
            this.prefix = prefix;
        }

        @Override
        public Counter counter(String name) {
            Counter counter = new SimpleCounter();
            counters.put(prefix + name, counter);
            return counter;
        }

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            gauges.put(prefix + name, gauge);
            return gauge;
        }

        @Override
        public MetricGroup addGroup(String key, String value) {
            return new Noting(value + ".");
        }
    }
}
