package io.lendstream.forecaster;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * Exports the embedded Flink job's metrics among the process's own. {@code lateRecords} of a task becomes {@code
 * lendstream_forecaster_late_records_total} with the task's number, and so on. Flink's other reporters keep working.
 */
public final class ProcessReporter implements MetricReporter {
    private static final String PREFIX = "lendstream.forecaster.";
    private static final String NAME = "process";
    private static final String TO = "registry";
    private static final Map<String, MeterRegistry> REGISTRIES = new ConcurrentHashMap<>();
    /** Metric scopes: tasks, services and the job as a whole. */
    private static final Set<String> SHOWN = Set.of(
            "forecasts",
            "earlyForecasts",
            "duplicateRecords",
            "lateRecords",
            "poisonRecords",
            "poisonDeclarations",
            "watermarkLagSeconds",
            "duplicates",
            "late",
            "forecastLagSeconds",
            "recentError",
            "recentCoverage",
            "recentCoverage99",
            "forecastGpus",
            "numRestarts",
            "numberOfCompletedCheckpoints",
            "numberOfFailedCheckpoints");

    private final Map<Metric, Meter> shown = new ConcurrentHashMap<>();
    private Optional<String> id = Optional.empty();

    /** The name by which Flink finds the reporter. */
    public static final class Factory implements MetricReporterFactory {
        @Override
        public MetricReporter createMetricReporter(Properties properties) {
            return new ProcessReporter();
        }
    }

    /** Makes a Flink that is started with these options report to a registry until it ends. */
    static void configure(Configuration options, MeterRegistry registry) {
        String id = UUID.randomUUID().toString();
        REGISTRIES.put(id, registry);
        options.setString("metrics.reporter." + NAME + ".factory.class", Factory.class.getName());
        options.setString("metrics.reporter." + NAME + "." + TO, id);
    }

    @Override
    public void open(MetricConfig config) {
        id = Optional.ofNullable(config.getString(TO, null));
    }

    @Override
    public void close() {
        shown.values().forEach(this::remove);
        shown.clear();
        id.ifPresent(REGISTRIES::remove);
    }

    @Override
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        if (SHOWN.contains(name)) {
            registry()
                    .ifPresent(registry -> meter(registry, metric, nameOf(name), tags(group))
                            .ifPresent(meter -> shown.put(metric, meter)));
        }
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        Optional.ofNullable(shown.remove(metric)).ifPresent(this::remove);
    }

    private void remove(Meter meter) {
        registry().ifPresent(registry -> registry.remove(meter));
    }

    private Optional<MeterRegistry> registry() {
        return id.map(REGISTRIES::get);
    }

    private static Optional<Meter> meter(MeterRegistry registry, Metric metric, String name, Tags tags) {
        if (metric instanceof Counter counter) {
            return Optional.of(FunctionCounter.builder(name, counter, Counter::getCount)
                    .tags(tags)
                    .register(registry));
        }
        if (metric instanceof org.apache.flink.metrics.Gauge<?> gauge) {
            return Optional.of(Gauge.builder(name, gauge, ProcessReporter::value)
                    .tags(tags)
                    .register(registry));
        }
        return Optional.empty();
    }

    private static double value(org.apache.flink.metrics.Gauge<?> gauge) {
        return gauge.getValue() instanceof Number number ? number.doubleValue() : Double.NaN;
    }

    /** Converts to words separated by points, as the registry expects names. */
    private static String nameOf(String name) {
        return PREFIX + name.replaceAll("([A-Z])", ".$1").toLowerCase(Locale.ROOT);
    }

    private static Tags tags(MetricGroup group) {
        Map<String, String> variables = group.getAllVariables();
        Tags tags = Tags.empty();
        if (variables.containsKey("<subtask_index>")) {
            tags = tags.and("task", variables.get("<subtask_index>"));
        }
        if (variables.containsKey("<service>")) {
            // every metric of the process has the label service, which says that it is a forecaster's
            tags = tags.and("inference.service", variables.get("<service>"));
        }
        return tags;
    }
}
