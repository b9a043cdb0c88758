package io.lendstream.service.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A developer exports variables for scripts, tests and benchmarks, and starts services with them. */
class DeveloperVariablesTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern IN_SCRIPT = Pattern.compile("\\$\\{?(LENDSTREAM_[A-Z_]+)");
    private static final Pattern IN_JAVA =
            Pattern.compile("getenv\\((?:\\)\\.getOrDefault\\()?\\s*\"(LENDSTREAM_[A-Z_]+)\"[,)]");

    @Test
    void variablesOfScriptsTestsAndBenchmarksDoNotStopAService() throws IOException {
        TreeSet<String> variables = new TreeSet<>(read(IN_SCRIPT, ROOT.resolve("dev")));
        variables.addAll(read(IN_SCRIPT, ROOT.resolve("lendstream")));
        for (Path source : sources()) {
            variables.addAll(read(IN_JAVA, source));
        }

        assertThat(variables).contains("LENDSTREAM_DATA", "LENDSTREAM_PYTHON_TORCH", "LENDSTREAM_NO_BUILD");
        Map<String, String> environment =
                variables.stream().collect(Collectors.toMap(variable -> variable, variable -> "any"));
        assertThat(Settings.of(List.of(), SettingsFile.NONE, environment, List.of())
                        .given())
                .isEmpty();
    }

    private static List<String> read(Pattern variable, Path file) throws IOException {
        return variable.matcher(Files.readString(file))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            List<Path> folders = modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList();
            TreeSet<Path> sources = new TreeSet<>();
            for (Path folder : folders) {
                try (Stream<Path> files = Files.walk(folder)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                }
            }
            return List.copyOf(sources);
        }
    }
}
