package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MetricsDocsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern MADE = Pattern.compile("(counter|gauge|timer|Timer\\.builder)\\(\\s*\"([a-zA-Z.]+)\"");
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

    /** By the names that they are scraped by; Flink's by their own. */
    private static Set<String> made() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .flatMap(MetricsDocsTest::sources)
                    .flatMap(source -> MADE.matcher(source).results().map(MetricsDocsTest::scraped))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static String scraped(MatchResult made) {
        String name = made.group(2).replace('.', '_');
        return switch (made.group(1)) {
            case "counter" -> name.startsWith("lendstream_") ? name + "_total" : name;
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
