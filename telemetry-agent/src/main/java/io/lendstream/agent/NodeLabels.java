package io.lendstream.agent;

import io.lendstream.core.event.Limits;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the labels of a node from settings and a file. */
final class NodeLabels {
    /** As the downward API of Kubernetes writes labels, or without quotes. */
    private static final Pattern LINE = Pattern.compile("([^=]+?)\\s*=\\s*\"?([^\"]*)\"?");

    private NodeLabels() {}

    /** The labels of {@code agent.labels} and, for other keys, those of {@code agent.labels-file}. */
    static NodeFacts of(Settings settings) {
        Map<String, String> labels = new TreeMap<>();
        settings.get(AgentKeys.LABELS_FILE).ifPresent(file -> labels.putAll(read(file)));
        labels.putAll(settings.get(AgentKeys.LABELS).labels());
        return new NodeFacts(labels);
    }

    /** The labels of a file with {@code KEY=VALUE} or {@code KEY="VALUE"} on each line. */
    private static Map<String, String> read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new SettingsException(
                    "%s is %s, which cannot be read (%s). Create it, or leave the setting out."
                            .formatted(
                                    AgentKeys.LABELS_FILE.name(),
                                    file,
                                    e.getClass().getSimpleName()),
                    e);
        }
        Map<String, String> labels = new TreeMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            Matcher label = LINE.matcher(line);
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            boolean isLabel =
                    label.matches() && isName(label.group(1)) && (label.group(2).isEmpty() || isName(label.group(2)));
            if (!isLabel || labels.containsKey(label.group(1))) {
                throw new SettingsException(
                        "%s is %s, whose line %d is '%s'. Write KEY=VALUE or KEY=\"VALUE\" on each line, each key once."
                                .formatted(AgentKeys.LABELS_FILE.name(), file, i + 1, line));
            }
            labels.put(label.group(1), label.group(2));
        }
        labels.values().removeIf(String::isEmpty);
        return labels;
    }

    /** The labels of a text {@code KEY=VALUE,KEY=VALUE}; empty if it is not of that form, or has a key twice. */
    static Optional<NodeFacts> parse(String text) {
        Map<String, String> labels = new TreeMap<>();
        for (String part : text.split(",", -1)) {
            String label = part.strip();
            int equals = label.indexOf('=');
            if (label.isEmpty()) {
                continue;
            }
            if (equals < 1 || !isName(label.substring(0, equals)) || !isName(label.substring(equals + 1))) {
                return Optional.empty();
            }
            if (labels.put(label.substring(0, equals), label.substring(equals + 1)) != null) {
                return Optional.empty();
            }
        }
        return Optional.of(new NodeFacts(labels));
    }

    private static boolean isName(String text) {
        try {
            return !Limits.name("label", text).isEmpty();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
