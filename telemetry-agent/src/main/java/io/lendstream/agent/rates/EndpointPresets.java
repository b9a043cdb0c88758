package io.lendstream.agent.rates;

import io.lendstream.service.text.BuiltInProperties;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;

/** Presets by name: built-in ones, and those of a site's own file, which take precedence. */
public final class EndpointPresets {
    private final SortedMap<String, Preset> byName;

    private EndpointPresets(SortedMap<String, Preset> byName) {
        this.byName = Collections.unmodifiableSortedMap(byName);
    }

    /** The built-in presets. */
    public static EndpointPresets ours() {
        return new EndpointPresets(of(BuiltInProperties.beside(EndpointPresets.class, "presets.properties")));
    }

    /**
     * These presets and those of a file in the same format.
     *
     * @throws IllegalArgumentException if the file cannot be read or is invalid; the message has the way out
     */
    public EndpointPresets and(Path file) {
        try (Reader in = Files.newBufferedReader(file)) {
            var all = new TreeMap<>(byName);
            var properties = new Properties();
            properties.load(in);
            all.putAll(of(properties));
            return new EndpointPresets(all);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "agent.rate-presets is %s, which cannot be read: %s. Give the path of a properties file."
                            .formatted(file, e),
                    e);
        }
    }

    private static SortedMap<String, Preset> of(Properties properties) {
        var settings = new TreeMap<String, Map<String, String>>();
        for (String key : properties.stringPropertyNames()) {
            int dot = key.indexOf('.');
            if (dot < 1) {
                throw new IllegalArgumentException(
                        "'%s' of the rate presets must be a preset's name, a dot and a property, such as ours.arrivals."
                                .formatted(key));
            }
            settings.computeIfAbsent(key.substring(0, dot), name -> new TreeMap<>())
                    .put(key.substring(dot + 1), properties.getProperty(key).strip());
        }
        var presets = new TreeMap<String, Preset>();
        settings.forEach((name, of) -> presets.put(name, Preset.of(name, of)));
        return presets;
    }

    /** By name. */
    public SortedMap<String, Preset> all() {
        return byName;
    }

    /**
     * A preset.
     *
     * @throws IllegalArgumentException if there is none with this name
     */
    public Preset named(String name) {
        Preset preset = byName.get(name);
        if (preset == null) {
            throw new IllegalArgumentException(
                    "there is no rate preset '%s'; presets are %s. Use one of them, or add your own with agent.rate-presets."
                            .formatted(name, String.join(", ", byName.keySet())));
        }
        return preset;
    }
}
