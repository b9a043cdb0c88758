package io.lendstream.agent.http;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A text in Prometheus' format 0.0.4: families in the order of their first sample. Unknown values are left out. */
final class Page {
    private final Map<String, StringBuilder> families = new LinkedHashMap<>();

    /**
     * Adds a sample.
     *
     * @param type gauge or counter
     */
    void add(String name, String type, String help, Map<String, String> labels, Optional<? extends Number> value) {
        value.ifPresent(number -> {
            StringBuilder family = families.computeIfAbsent(
                    name, any -> new StringBuilder("# HELP %s %s\n# TYPE %s %s\n".formatted(name, help, name, type)));
            family.append(name).append('{');
            String comma = "";
            for (Map.Entry<String, String> label : labels.entrySet()) {
                family.append(comma)
                        .append(label.getKey())
                        .append("=\"")
                        .append(escaped(label.getValue()))
                        .append('"');
                comma = ",";
            }
            family.append("} ").append(plain(number)).append('\n');
        });
    }

    @Override
    public String toString() {
        return String.join("", families.values());
    }

    private static String plain(Number number) {
        double value = number.doubleValue();
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? String.valueOf((long) value)
                : String.valueOf(value);
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
