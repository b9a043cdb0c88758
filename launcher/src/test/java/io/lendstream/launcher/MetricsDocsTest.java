package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.health.MetricTexts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MetricsDocsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern MADE =
            Pattern.compile("(counter|gauge|timer|Timer\\.builder)\\(\\s*\"([a-zA-Z0-9.]+)\"");
    private static final Pattern SHOWN = Pattern.compile("SHOWN = Set\\.of\\(([^)]*)\\)");
    private static final Pattern QUOTED = Pattern.compile("\"([a-zA-Z0-9]+)\"");
    private static final Pattern NAMED = Pattern.compile("lendstream(?:_[a-z]+)+");

    @Test
    void thePageNamesEveryMetricOfTheServices() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/metrics.md"));

        assertThat(made())
                .hasSizeGreaterThan(10)
                .allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
    }

    @Test
    void thePageNamesNoOther() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/metrics.md"));

        Set<String> named =
                NAMED.matcher(page).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));

        assertThat(made()).containsAll(named);
    }

    @Test
    void everyMetricHasAHelpTextAndEveryTextAMetric() throws IOException {
        Set<String> registered = found(source ->
                Stream.concat(MADE.matcher(source).results().map(made -> registered(made.group(2))), ofFlink(source)));

        assertThat(registered).contains("lendstream.gpus.held", "lendstream.forecaster.num.restarts");
        assertThat(MetricTexts.ours().all().keySet()).containsExactlyElementsOf(registered);
    }

    @Test
    void thePageNamesEveryMetricWithAHelpText() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/metrics.md"));

        for (String name : MetricTexts.ours().all().keySet()) {
            String scraped = name.replace('.', '_');
            String flink = camelCase(name.replace("lendstream.forecaster.", ""));
            assertThat(page).as(name).containsPattern("`(" + scraped + "(_total|_seconds)?|" + flink + ")[`{]");
        }
    }

    /** Metrics of Flink's own and of the job that the forecaster's process exports, by the names of its registry. */
    private static Stream<String> ofFlink(String source) {
        return SHOWN.matcher(source)
                .results()
                .flatMap(shown -> QUOTED.matcher(shown.group(1)).results())
                .map(name -> registered(name.group(1)));
    }

    /** The name in the registry of the process: of the forecaster's job with a prefix. */
    private static String registered(String made) {
        return made.startsWith("lendstream.")
                ? made
                : "lendstream.forecaster." + made.replaceAll("([A-Z])", ".$1").toLowerCase(Locale.ROOT);
    }

    private static String camelCase(String name) {
        return Pattern.compile("\\.(.)")
                .matcher(name)
                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    }

    /** By the names that they are scraped by. */
    private static Set<String> made() throws IOException {
        return found(source -> MADE.matcher(source).results().flatMap(MetricsDocsTest::names));
    }

    private static Set<String> found(Function<String, Stream<String>> names) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .flatMap(MetricsDocsTest::sources)
                    .flatMap(names)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** Those of the forecaster's job have two: Flink's, and one among those of its process. */
    private static Stream<String> names(MatchResult made) {
        String name = made.group(2);
        if (name.startsWith("lendstream.")) {
            return Stream.of(scraped(made));
        }
        String words = name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
        return Stream.of(name, "lendstream_forecaster_" + words + (made.group(1).equals("counter") ? "_total" : ""));
    }

    private static String scraped(MatchResult made) {
        String name = made.group(2).replace('.', '_');
        return switch (made.group(1)) {
            case "counter" -> name + "_total";
            case "gauge" -> name;
            default -> name + "_seconds";
        };
    }

    private static Stream<String> sources(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).map(MetricsDocsTest::read).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
