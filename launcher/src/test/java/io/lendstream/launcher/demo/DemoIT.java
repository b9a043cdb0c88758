package io.lendstream.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.stack.Ports;
import io.lendstream.stack.StackSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("alone")
class DemoIT {
    private static final List<Topic<?>> WATCHED =
            List.of(TopicCatalogue.DECISIONS, TopicCatalogue.ACTUATION_REPORTS, TopicCatalogue.LEASES);
    /** The first reclaim comes in the seventh minute of the day, which takes a second where a day takes three minutes. */
    private static final Duration PLAY = Duration.ofSeconds(40);

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final List<Decision> decisions = new ArrayList<>();
    private final List<ActuationReport> reports = new ArrayList<>();
    private final List<Lease> leases = new ArrayList<>();
    private volatile boolean over;

    @Test
    @Timeout(value = 8, unit = TimeUnit.MINUTES)
    void lendsAndTakesBackThroughRealTopicsAndKeepsEveryPromise() throws Exception {
        Path out = directory.resolve("out");
        Path data = directory.resolve("data");
        StackSettings stack = StackSettings.defaults()
                .withDataDirectory(data)
                .keepingData(true)
                .withBrokerPort(Ports.free())
                .withRegistryPort(Ports.free());
        var options = new DemoOptions(
                PLAY,
                OptionalDouble.empty(),
                "day",
                Scene.of(new DomainId(Demo.DOMAIN), 1, 8, 8),
                new SimulatedNodes.Layout(new DomainId(Demo.DOMAIN), 4, 4, 2, 1),
                "deepboot",
                0,
                true,
                out,
                false,
                stack);
        Thread onlooker = new Thread(() -> watch(stack), "test-onlooker");
        onlooker.start();

        boolean content;
        try {
            content = new Demo(options, new PrintStream(printed, true, StandardCharsets.UTF_8)).run();
        } finally {
            over = true;
            onlooker.join();
        }

        String text = printed.toString(StandardCharsets.UTF_8);
        assertThat(content).as(text).isTrue();
        assertThat(text).contains("every promise was kept");
        assertThat(out).isDirectoryContaining("glob:**/report.html").isDirectoryContaining("glob:**/summary.json");
        List<String> lines = Files.readAllLines(out.resolve("decisions.jsonl"));
        assertThat(lines).anyMatch(line -> line.contains("\"kind\":\"lend\""));
        assertThat(lines).anyMatch(line -> line.contains("\"kind\":\"reclaim\""));
        List<Decision> reclaims = decisions.stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .toList();
        assertThat(reclaims).as("decided, of %d decisions", decisions.size()).isNotEmpty();
        assertThat(reclaims)
                .as(
                        "released, applied, and serving afterwards, of %d reports, %d leases",
                        reports.size(), leases.size())
                .anyMatch(this::ledToServing);
        assertThat(stackTraces(data.resolve("logs"))).isEmpty();
    }

    /** Reads along from the moment that there are topics; the registry forgets its schemas when the demo ends. */
    private void watch(StackSettings stack) {
        while (!over && !printed.toString(StandardCharsets.UTF_8).contains("playing ")) {
            pause();
        }
        Topics topics = new Topics(
                "127.0.0.1:" + stack.broker().port(),
                "http://127.0.0.1:%d/apis/ccompat/v7".formatted(stack.registryPort()),
                TopicCatalogue.standard());
        try (RecordReader reader = topics.reader(WATCHED, this::take)) {
            while (!over && !printed.toString(StandardCharsets.UTF_8).contains("replaying the same input")) {
                reader.poll(Duration.ofMillis(200));
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void take(Object record) {
        if (record instanceof Decision decision) {
            decisions.add(decision);
        } else if (record instanceof ActuationReport report) {
            reports.add(report);
        } else if (record instanceof Lease lease) {
            leases.add(lease);
        }
    }

    /** Whether its actuator reported it applied, and GPUs released that a service had afterwards. */
    private boolean ledToServing(Decision reclaim) {
        List<ActuationReport> own = reports.stream()
                .filter(report -> report.decision().equals(reclaim.id()))
                .toList();
        return own.stream().anyMatch(report -> report.outcome() == Outcome.APPLIED)
                && own.stream()
                        .filter(report -> report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED)
                        .anyMatch(report -> leases.stream()
                                .filter(lease -> report.gpus().contains(lease.gpuId()))
                                .anyMatch(lease -> lease.owner() instanceof Owner.Serving
                                        && lease.since().isAfter(report.at())));
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
