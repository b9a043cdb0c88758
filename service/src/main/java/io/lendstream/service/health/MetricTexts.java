package io.lendstream.service.health;

import io.lendstream.service.text.BuiltInProperties;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Collections;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;

/** Gives each metric of Lendstream its help text, from {@code metrics.properties}. Other metrics keep theirs. */
public final class MetricTexts implements MeterFilter {
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
        String text = byName.get(id.getName());
        return text == null
                ? id
                : new Meter.Id(id.getName(), Tags.of(id.getTagsAsIterable()), id.getBaseUnit(), text, id.getType());
    }
}
