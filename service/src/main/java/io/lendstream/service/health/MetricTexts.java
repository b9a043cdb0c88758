package io.lendstream.service.health;

import io.lendstream.service.text.BuiltInProperties;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Collections;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Gives each metric of Lendstream its help text, from {@code metrics.properties}. Other metrics keep theirs; Kafka's
 * clients have none for the latency of single brokers.
 */
public final class MetricTexts implements MeterFilter {
    private static final Pattern BROKER_LATENCY = Pattern.compile("kafka\\..*node\\.request\\.latency\\.(avg|max)");

    private final SortedMap<String, String> byName;

    private MetricTexts(SortedMap<String, String> byName) {
        this.byName = Collections.unmodifiableSortedMap(byName);
    }

    /** The texts of all services. */
    public static MetricTexts ours() {
        Properties properties = BuiltInProperties.beside(MetricTexts.class, "metrics.properties");
        var texts = new TreeMap<String, String>();
        for (String name : properties.stringPropertyNames()) {
            texts.put(name, properties.getProperty(name).strip());
        }
        return new MetricTexts(texts);
    }

    /** By Micrometer's names, such as {@code lendstream.gpus.held}. */
    public SortedMap<String, String> all() {
        return byName;
    }

    @Override
    public Meter.Id map(Meter.Id id) {
        return Optional.ofNullable(byName.get(id.getName()))
                .or(() -> ofKafka(id.getName()))
                .map(text -> new Meter.Id(
                        id.getName(), Tags.of(id.getTagsAsIterable()), id.getBaseUnit(), text, id.getType()))
                .orElse(id);
    }

    private static Optional<String> ofKafka(String name) {
        Matcher latency = BROKER_LATENCY.matcher(name);
        if (!latency.matches()) {
            return Optional.empty();
        }
        return Optional.of("%s latency of a client's requests to the broker of the label node_id, in milliseconds."
                .formatted(latency.group(1).equals("avg") ? "Average" : "Largest"));
    }
}
