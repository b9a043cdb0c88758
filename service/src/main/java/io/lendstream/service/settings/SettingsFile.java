package io.lendstream.service.settings;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The names and values of a settings file. It has Java properties, or flat YAML if its name ends in {@code .yaml} or
 * {@code .yml}.
 *
 * @param name the file's name in messages
 */
public record SettingsFile(String name, Map<String, String> values) {
    public static final SettingsFile NONE = new SettingsFile("no file", Map.of());

    public SettingsFile {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    public static SettingsFile read(Path path) {
        try {
            String text = Files.readString(path, StandardCharsets.UTF_8);
            String lower = path.toString().toLowerCase(Locale.ROOT);
            return new SettingsFile(
                    path.toString(),
                    lower.endsWith(".yaml") || lower.endsWith(".yml") ? yaml(path, text) : properties(path, text));
        } catch (NoSuchFileException e) {
            throw new SettingsException(
                    "--config names %s, which does not exist. Give the path of a file.".formatted(path), e);
        } catch (IOException e) {
            throw new SettingsException(
                    "--config names %s, which cannot be read as text: %s".formatted(path, e.getMessage()), e);
        }
    }

    private static Map<String, String> properties(Path path, String text) throws IOException {
        var properties = new Properties();
        try {
            properties.load(new StringReader(text));
        } catch (IllegalArgumentException e) {
            throw new SettingsException("%s is not a properties file: %s".formatted(path, e.getMessage()), e);
        }
        var values = new TreeMap<String, String>();
        properties
                .stringPropertyNames()
                .forEach(name -> values.put(name, properties.getProperty(name).strip()));
        return values;
    }

    private static Map<String, String> yaml(Path path, String text) {
        var values = new LinkedHashMap<String, String>();
        int number = 0;
        for (String line : text.split("\\R", -1)) {
            number++;
            String trimmed = line.strip();
            if (trimmed.isEmpty() || trimmed.startsWith("#") || trimmed.equals("---")) {
                continue;
            }
            int colon = trimmed.indexOf(':');
            boolean nested = !line.equals(line.stripLeading()) || trimmed.startsWith("-");
            boolean pair = colon > 0 && (colon == trimmed.length() - 1 || trimmed.charAt(colon + 1) == ' ');
            if (nested || !pair) {
                throw new SettingsException(
                        "%s, line %d, is '%s', but must be 'name: value' without indentation. Write nested names with dots, such as health.port: 9404."
                                .formatted(path, number, trimmed));
            }
            String name = trimmed.substring(0, colon).strip();
            if (values.put(unquoted(name), value(trimmed.substring(colon + 1).strip())) != null) {
                throw new SettingsException(
                        "%s, line %d, sets %s a second time. Leave one of them out.".formatted(path, number, name));
            }
        }
        return values;
    }

    private static String value(String text) {
        if (text.startsWith("\"") || text.startsWith("'")) {
            int end = text.indexOf(text.charAt(0), 1);
            return end < 0 ? text : text.substring(1, end);
        }
        int comment = text.startsWith("#") ? 0 : text.indexOf(" #");
        return (comment < 0 ? text : text.substring(0, comment)).strip();
    }

    private static String unquoted(String name) {
        return name.length() > 1 && (name.startsWith("\"") || name.startsWith("'"))
                ? name.substring(1, name.length() - 1)
                : name;
    }
}
