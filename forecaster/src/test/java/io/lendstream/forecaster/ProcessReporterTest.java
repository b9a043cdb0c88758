package io.lendstream.forecaster;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;

class ProcessReporterTest {
    private static final MetricGroup TASK = group(Map.of("<subtask_index>", "3"));
    private static final MetricGroup CHAT = group(Map.of("<subtask_index>", "3", "<service>", "chat"));

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void showsWhatTheJobCountsByItsTaskAndService() {
        ProcessReporter reporter = reporter();
        SimpleCounter late = new SimpleCounter();
        Gauge<Double> error = () -> 0.25;
        reporter.notifyOfAddedMetric(late, "lateRecords", TASK);
        reporter.notifyOfAddedMetric(error, "recentError", CHAT);
        late.inc(7);

        assertThat(registry.get("lendstream.forecaster.late.records")
                        .tag("task", "3")
                        .functionCounter()
                        .count())
                .isEqualTo(7);
        assertThat(registry.get("lendstream.forecaster.recent.error")
                        .tags("task", "3", "inference.service", "chat")
                        .gauge()
                        .value())
                .isEqualTo(0.25);
    }

    @Test
    void leavesOutWhatIsFlinksAndWhatIsGone() {
        ProcessReporter reporter = reporter();
        SimpleCounter late = new SimpleCounter();
        reporter.notifyOfAddedMetric(new SimpleCounter(), "numRecordsIn", TASK);
        reporter.notifyOfAddedMetric(late, "lateRecords", TASK);
        reporter.notifyOfRemovedMetric(late, "lateRecords", TASK);

        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void takesEverythingBackWhenFlinkEnds() {
        ProcessReporter reporter = reporter();
        reporter.notifyOfAddedMetric(new SimpleCounter(), "lateRecords", TASK);
        assertThat(registry.getMeters()).extracting(Meter::getId).hasSize(1);

        reporter.close();

        assertThat(registry.getMeters()).isEmpty();
    }

    private ProcessReporter reporter() {
        Configuration options = new Configuration();
        ProcessReporter.configure(options, registry);
        MetricConfig config = new MetricConfig();
        String given = "metrics.reporter.process.";
        options.toMap().forEach((key, value) -> config.setProperty(key.substring(given.length()), value));
        var reporter = new ProcessReporter.Factory().createMetricReporter(config);
        reporter.open(config);
        return (ProcessReporter) reporter;
    }

    private static MetricGroup group(Map<String, String> variables) {
        return new UnregisteredMetricsGroup() {
            @Override
            public Map<String, String> getAllVariables() {
                return variables;
            }
        };
    }
}
