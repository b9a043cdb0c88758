package io.lendstream.agent.exposition;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Parses metrics from text.
 *
 * <p>Invalid text is refused with its line, except for three harmless errors of common servers. A family's {@code
 * HELP} or {@code TYPE} may be repeated without a difference, its samples may be apart, and Prometheus' format may
 * use a type of OpenMetrics. Exemplars are read and ignored.
 *
 * @see <a href="https://prometheus.io/docs/instrumenting/exposition_formats/">Prometheus exposition formats</a>
 * @see <a href="https://prometheus.io/docs/specs/om/open_metrics_spec/">OpenMetrics 1.0</a>
 */
public final class Exposition {
    private static final String END = "# EOF";

    private Exposition() {}

    /**
     * Parses a text of either format: one that ends in {@code # EOF} is OpenMetrics.
     *
     * @throws ExpositionException if the text is invalid
     */
    public static List<Family> parse(String text) {
        return parse(text, text.stripTrailing().endsWith(END) ? Format.OPEN_METRICS : Format.TEXT);
    }

    /**
     * Parses from a reader, which is read to its end and left open.
     *
     * @throws UncheckedIOException if it cannot be read
     */
    public static List<Family> parse(Reader reader) {
        try {
            var text = new StringBuilder();
            char[] chunk = new char[8192];
            for (int length = reader.read(chunk); length >= 0; length = reader.read(chunk)) {
                text.append(chunk, 0, length);
            }
            return parse(text.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Parses a text of a known format, such as from a response's Content-Type.
     *
     * @throws ExpositionException if the text is invalid, including truncated OpenMetrics
     */
    public static List<Family> parse(String text, Format format) {
        Families families = new Families();
        try (BufferedReader lines = new BufferedReader(new StringReader(text))) {
            int number = 0;
            boolean ended = false;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (ended && !line.isBlank()) {
                    throw new ExpositionException(number, line, "nothing may follow # EOF");
                }
                ended |= format == Format.OPEN_METRICS && line.equals(END);
                if (!ended) {
                    read(new Line(number, line, format), families);
                }
            }
            if (format == Format.OPEN_METRICS && !ended) {
                throw new ExpositionException(number + 1, "", "OpenMetrics must end in # EOF; the text was cut off");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a string does not fail
        }
        return families.all();
    }

    private static void read(Line line, Families families) {
        line.skipSpace();
        if (line.atEnd()) {
            return;
        }
        if (line.take('#')) {
            describe(line, families);
            return;
        }
        families.add(line, sample(line));
    }

    private static void describe(Line line, Families families) {
        line.skipSpace();
        switch (line.word()) {
            case "HELP" -> families.help(line, line.familyName(), line.text());
            case "TYPE" -> {
                String name = line.familyName();
                String word = line.rest();
                families.type(
                        line,
                        name,
                        MetricType.of(word).orElseThrow(() -> line.wrong("'%s' is not a metric type".formatted(word))));
            }
            case "UNIT" -> {
                if (line.format() == Format.OPEN_METRICS) {
                    families.unit(line, line.familyName(), line.rest());
                }
            }
            default -> {} // a comment
        }
    }

    private static MetricSample sample(Line line) {
        String name = line.metricName();
        line.skipSpace();
        Map<String, String> labels = line.labels();
        line.skipSpace();
        double value = line.number();
        line.skipSpace();
        var time = line.atEnd() || line.peek() == '#' ? Optional.<Instant>empty() : Optional.of(line.time());
        line.skipSpace();
        if (line.format() == Format.OPEN_METRICS && line.take('#')) {
            line.exemplar();
        }
        line.skipSpace();
        if (!line.atEnd()) {
            throw line.wrong("'%s' must not follow the value".formatted(line.rest()));
        }
        return new MetricSample(name, labels, value, time);
    }

    /** Families in the order of their first appearance. */
    private static final class Families {
        private final Map<String, Draft> drafts = new LinkedHashMap<>();

        private static final class Draft {
            private Optional<MetricType> type = Optional.empty();
            private Optional<String> help = Optional.empty();
            private Optional<String> unit = Optional.empty();
            private final List<MetricSample> samples = new ArrayList<>();
        }

        void help(Line line, String name, String text) {
            Draft draft = draft(name);
            draft.help = Optional.of(once(line, "HELP", name, draft.help, text));
        }

        void unit(Line line, String name, String text) {
            Draft draft = draft(name);
            draft.unit = Optional.of(once(line, "UNIT", name, draft.unit, text));
        }

        void type(Line line, String name, MetricType type) {
            Draft draft = draft(name);
            if (draft.type.isEmpty() && !draft.samples.isEmpty()) {
                throw line.wrong("TYPE of %s must come before its samples".formatted(name));
            }
            draft.type = Optional.of(once(line, "TYPE", name, draft.type, type));
        }

        private static <T> T once(Line line, String what, String name, Optional<T> before, T now) {
            if (before.isPresent() && !before.get().equals(now)) {
                throw line.wrong("%s of %s occurs twice with a difference".formatted(what, name));
            }
            return now;
        }

        void add(Line line, MetricSample sample) {
            Draft draft = draft(family(sample.name()));
            MetricType type = draft.type.orElse(MetricType.UNKNOWN);
            boolean isBucket = type == MetricType.HISTOGRAM && sample.name().endsWith("_bucket");
            if (isBucket && sample.label("le").isEmpty()) {
                throw line.wrong("a bucket of a histogram must have a label le");
            }
            draft.samples.add(sample);
        }

        /** The family of a sample: a name may end in {@code _sum} without belonging to a summary. */
        private String family(String sample) {
            if (drafts.containsKey(sample)) {
                return sample;
            }
            int cut = sample.lastIndexOf('_');
            if (cut > 0) {
                Draft draft = drafts.get(sample.substring(0, cut));
                if (draft != null && draft.type.orElse(MetricType.UNKNOWN).has(sample.substring(cut))) {
                    return sample.substring(0, cut);
                }
            }
            return sample;
        }

        private Draft draft(String name) {
            return drafts.computeIfAbsent(name, added -> new Draft());
        }

        List<Family> all() {
            var families = new ArrayList<Family>(drafts.size());
            drafts.forEach((name, draft) -> families.add(new Family(
                    name,
                    draft.type.orElse(MetricType.UNKNOWN),
                    draft.help.orElse(""),
                    draft.unit.orElse(""),
                    draft.samples)));
            return families;
        }
    }
}
