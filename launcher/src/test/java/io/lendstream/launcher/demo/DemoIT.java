package io.lendstream.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.stack.StackSettings;
import io.lendstream.simulator.workload.Scene;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("alone")
class DemoIT {
    @TempDir
    private Path directory;

    @Test
    void lendsAndTakesBackThroughRealTopicsAndKeepsEveryPromise() throws IOException {
        Path out = directory.resolve("out");
        Path data = directory.resolve("data");
        var printed = new ByteArrayOutputStream();
        var options = new DemoOptions(
                Duration.ofSeconds(40),
                OptionalDouble.empty(),
                "day",
                Scene.of(new DomainId(Demo.DOMAIN), 1, 8, 8),
                new SimulatedNodes.Layout(new DomainId(Demo.DOMAIN), 4, 4, 2, 1),
                "deepboot",
                0,
                true,
                out,
                false,
                StackSettings.defaults().withDataDirectory(data).keepingData(true));

        boolean content = new Demo(options, new PrintStream(printed, true, StandardCharsets.UTF_8)).run();

        String text = printed.toString(StandardCharsets.UTF_8);
        assertThat(content).as(text).isTrue();
        assertThat(text).contains("every promise was kept");
        assertThat(out).isDirectoryContaining("glob:**/report.html").isDirectoryContaining("glob:**/summary.json");
        assertThat(Files.readAllLines(out.resolve("decisions.jsonl")))
                .anyMatch(line -> line.contains("\"kind\":\"lend\""));
        assertThat(stackTraces(data.resolve("logs"))).isEmpty();
    }

    private static List<String> stackTraces(Path logs) throws IOException {
        try (Stream<Path> files = Files.list(logs)) {
            return files.flatMap(DemoIT::lines)
                    .filter(line -> line.startsWith("\tat "))
                    .toList();
        }
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
