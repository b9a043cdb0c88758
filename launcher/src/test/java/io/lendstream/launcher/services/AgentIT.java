package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.RequestRate;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent of a real node, with a recording for its GPUs and a server that plays vLLM, while all that it needs comes and goes. */
@Tag("alone")
class AgentIT {
    private static final long REQUESTS_A_READING = 10;
    private static final Duration PERIOD = Duration.ofMillis(100);
    /** How long broker and registry are away in the end; ten minutes, in which the producer gives up what it holds, in ./dev faults. */
    private static final Duration OUTAGE = Duration.ofSeconds(Long.getLong("agent.outage-seconds", 6));

    @TempDir
    Path directory;

    private final AtomicLong answered = new AtomicLong();
    private Deployment deployment;
    private HttpServer vllm;
    private int logs;

    @BeforeEach
    void start() throws IOException {
        deployment = new Deployment(2);
        vllm = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        vllm.createContext("/metrics", exchange -> {
            byte[] text = """
                    # TYPE vllm:num_requests_running gauge
                    vllm:num_requests_running{model_name="chat",engine="0"} 1.0
                    # TYPE vllm:request_success_total counter
                    vllm:request_success_total{model_name="chat",engine="0",finished_reason="stop"} %d.0
                    """.formatted(answered.addAndGet(REQUESTS_A_READING)).getBytes(UTF_8);
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        vllm.start();
    }

    @AfterEach
    void stop() {
        vllm.stop(0);
        deployment.close();
    }

    @Test
    void nothingIsLostWhileBrokerRegistryAndAgentGoDownAndDuplicatesAreKnownAsSuch() throws Exception {
        Path recording = recording();
        Deployment.Running first = agent(recording);
        // With a window of rates, so that those of both agents are there in the end.
        await().atMost(Deployment.PATIENCE)
                .until(() -> !deployment.read(TopicCatalogue.GPU_TELEMETRY).isEmpty()
                        && !deployment.read(TopicCatalogue.REQUEST_RATES).isEmpty());

        signal("STOP", "BrokerMain");
        Thread.sleep(3_000);
        signal("CONT", "BrokerMain");
        Thread.sleep(2_000);
        signal("STOP", "BrokerMain");
        signal("STOP", "quarkus.http.port");
        Thread.sleep(1_500);
        long said = lastSequence(first);
        first.process().destroyForcibly().waitFor();
        Deployment.Running second = agent(recording);
        Thread.sleep(OUTAGE.toMillis());
        long looks = OUTAGE.plusSeconds(2).toMillis() / PERIOD.toMillis();
        // Not all looks of that time: the first of them go by while the agent starts.
        await().atMost(Deployment.PATIENCE)
                .until(() -> second.health().isPresent() && lastSequence(second) > looks * 7 / 10);
        long toldInOutage = lastSequence(second);
        signal("CONT", "quarkus.http.port");
        signal("CONT", "BrokerMain");
        second.ready();
        awaitDrained(second);
        await().atMost(Deployment.PATIENCE)
                .until(() -> deployment.read(TopicCatalogue.REQUEST_RATES).stream()
                                .map(RequestRate::bootId)
                                .distinct()
                                .count()
                        == 2);
        long asked = System.nanoTime();
        second.process().destroy();
        assertThat(second.exit()).as(second.printed()).isZero();
        Duration ending = Duration.ofNanos(System.nanoTime() - asked);

        Map<String, List<GpuTelemetry>> boots = deployment.read(TopicCatalogue.GPU_TELEMETRY).stream()
                .collect(groupingBy(GpuTelemetry::bootId, LinkedHashMap::new, java.util.stream.Collectors.toList()));
        assertThat(boots).hasSize(2);
        boots.forEach((boot, samples) -> assertThat(inOrderOfFirst(samples, GpuTelemetry::sequence))
                .as("samples of boot %s", boot)
                .isEqualTo(upTo(
                        samples.stream().mapToLong(GpuTelemetry::sequence).max().orElse(0))));
        List<Long> lasts = boots.values().stream()
                .map(samples ->
                        samples.stream().mapToLong(GpuTelemetry::sequence).max().orElse(0))
                .toList();
        assertThat(lasts.get(0))
                .as("what the first had said when it was killed")
                .isGreaterThanOrEqualTo(said);
        assertThat(lasts.get(1))
                .as("what the second had said before the broker was back")
                .isGreaterThanOrEqualTo(toldInOutage);
        assertThat(ending).isLessThan(Duration.ofSeconds(6));
        rates(2);
        System.out.printf("samples %s, said before kill -9 %d, ended in %d ms%n", lasts, said, ending.toMillis());
    }

    /** Waits until what the later of two agents had told of is there, however long ago: behind it nothing waits any more. */
    private void awaitDrained(Deployment.Running agent) {
        long told = lastSequence(agent);
        await().atMost(Deployment.PATIENCE).until(() -> {
            List<GpuTelemetry> samples = deployment.read(TopicCatalogue.GPU_TELEMETRY);
            GpuTelemetry last = samples.get(samples.size() - 1);
            return !last.bootId().equals(samples.get(0).bootId()) && last.sequence() >= told;
        });
    }

    /** Windows of each boot follow one another, and each has what its readings add: a reading that failed counts with the next. */
    private void rates(int boots) {
        Map<String, List<RequestRate>> rates =
                deployment.read(TopicCatalogue.REQUEST_RATES).stream().collect(groupingBy(RequestRate::bootId));
        assertThat(rates).hasSize(boots);
        rates.values().forEach(of -> {
            assertThat(of)
                    .allSatisfy(window -> assertThat(window.requests().arrivals())
                            .isPositive()
                            .matches(arrivals -> arrivals % REQUESTS_A_READING == 0, "whole readings"));
            List<RequestRate> windows = List.copyOf(of.stream()
                    .collect(toMap(RequestRate::sequence, Function.identity(), (one, repeat) -> one, TreeMap::new))
                    .values());
            for (int i = 1; i < windows.size(); i++) {
                assertThat(windows.get(i).windowStart())
                        .isEqualTo(windows.get(i - 1).windowEnd());
            }
            List<Long> sequences = inOrderOfFirst(of, RequestRate::sequence);
            assertThat(sequences).isEqualTo(upTo(sequences.size()));
        });
    }

    /** What a consumer sees that drops what it has seen. */
    private static <T> List<Long> inOrderOfFirst(List<T> records, Function<T, Long> sequence) {
        return records.stream().map(sequence).distinct().toList();
    }

    private static List<Long> upTo(long last) {
        return LongStream.rangeClosed(1, last).boxed().toList();
    }

    @Test
    void whileTheBrokerIsAwayTheOldestGoBeyondTheBoundAndAStopIsHeededAtOnce() throws Exception {
        String bound = "agent.spool-bytes=256KiB";
        Path recording = recording();
        Deployment.Running first = agent(recording, "agent.period=5ms", bound);
        await().atMost(Deployment.PATIENCE)
                .until(() -> !deployment.read(TopicCatalogue.GPU_TELEMETRY).isEmpty());
        signal("STOP", "BrokerMain");
        // More than one batch: that which waits in the socket of the broker arrives, although the spool has dropped it.
        await().atMost(Deployment.PATIENCE).until(() -> metric(first, "lendstream_spool_lost_total") >= 600);

        long asked = System.nanoTime();
        first.process().destroy();
        assertThat(first.exit()).as(first.printed()).isZero();
        Duration ending = Duration.ofNanos(System.nanoTime() - asked);
        signal("CONT", "BrokerMain");
        Deployment.Running second = agent(recording, bound);
        second.ready();
        awaitDrained(second);

        List<GpuTelemetry> told = deployment.read(TopicCatalogue.GPU_TELEMETRY);
        String boot = told.get(0).bootId();
        List<Long> sequences = inOrderOfFirst(
                told.stream().filter(sample -> sample.bootId().equals(boot)).toList(), GpuTelemetry::sequence);
        long last = sequences.get(sequences.size() - 1);
        assertThat(sequences).as("in order, what was kept").isSorted().startsWith(1L);
        assertThat(last - sequences.size()).as("samples that went").isBetween(1L, last - 50);
        assertThat(LongStream.rangeClosed(last - 50, last).boxed().toList())
                .as("the newest are there")
                .isSubsetOf(sequences);
        assertThat(ending).isLessThan(Duration.ofSeconds(6));
        System.out.printf(
                "%d of %d samples went beyond the bound, ended in %d ms without a broker%n",
                last - sequences.size(), last, ending.toMillis());
    }

    @Test
    void twoAgentsOfOneNodeAreNamedByTheDoctor() throws Exception {
        Path recording = recording();
        for (String place : List.of("one", "other")) {
            agent(recording, "agent.inventory-every=1s", "agent.spool-dir=" + directory.resolve(place))
                    .ready();
        }

        await().atMost(Deployment.PATIENCE)
                .untilAsserted(() -> assertThat(deployment.command("doctor").out())
                        .contains("FAIL nodes: several agents report n1 at once"));
        List<String> boots = deployment.read(TopicCatalogue.NODES).stream()
                .map(Node::bootId)
                .distinct()
                .toList();
        assertThat(boots).hasSize(2);
        deployment.read(TopicCatalogue.NODES).stream()
                .collect(groupingBy(Node::bootId))
                .values()
                .forEach(of -> {
                    List<Long> sequences = inOrderOfFirst(of, Node::sequence);
                    assertThat(sequences).isEqualTo(upTo(sequences.size()));
                });
    }

    private static double metric(Deployment.Running agent, String name) {
        return Deployment.text(agent.health().orElseThrow().resolve("/metrics"))
                .lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Test
    void anAgentThatFindsNeitherDriverNorBrokerStartsAndSaysSo() throws Exception {
        Deployment.Running agent = start(
                "--bootstrap-server",
                "127.0.0.1:1",
                "--registry",
                "http://127.0.0.1:1",
                "--set",
                "connect-timeout=1s",
                "--set",
                "agent.nvml-libraries=/none/libnvidia-ml.so.1");
        await().atMost(Deployment.PATIENCE).until(() -> agent.health().isPresent());
        await().atMost(Deployment.PATIENCE).until(() -> agent.printed().contains("is UNAVAILABLE"));

        assertThat(Deployment.status(agent.health().orElseThrow().resolve("/health/live")))
                .isEqualTo(200);
        assertThat(Deployment.status(agent.health().orElseThrow().resolve("/health/ready")))
                .isEqualTo(503);
        assertThat(agent.process().isAlive()).isTrue();
    }

    @Test
    void onceIsEnoughToPublishASampleOfEverything() throws Exception {
        Deployment.Running agent = deployment.start(
                ServiceKind.AGENT,
                directory.resolve("once.log"),
                deployment.with(
                        "--once",
                        "--backend",
                        "recorded",
                        "--set",
                        "agent.recording=" + recording(),
                        "--set",
                        "agent.node=n1"));

        assertThat(agent.exit()).as(agent.printed()).isZero();
        assertThat(deployment.read(TopicCatalogue.NODES))
                .extracting((Node node) -> node.nodeId().value())
                .containsExactly("n1");
        assertThat(deployment.read(TopicCatalogue.GPU_TELEMETRY)).hasSize(1);
    }

    /** @param more settings, which go before the others */
    private Deployment.Running agent(Path recording, String... more) {
        List<String> arguments = deployment.with(
                "--backend",
                "recorded",
                "--set",
                "agent.recording=" + recording,
                "--set",
                "agent.node=n1",
                "--set",
                "agent.period=" + PERIOD.toMillis() + "ms",
                "--set",
                "agent.rate-period=5s",
                "--set",
                "agent.rate-endpoints=vllm@http://127.0.0.1:%d/metrics"
                        .formatted(vllm.getAddress().getPort()),
                "--set",
                "agent.spool-dir=" + directory.resolve("spool"));
        for (String setting : more) {
            arguments.addAll(List.of("--set", setting));
        }
        return start(arguments.toArray(String[]::new));
    }

    private Deployment.Running start(String... arguments) {
        var all = new ArrayList<>(List.of("--set", "health.port=0"));
        all.addAll(Arrays.asList(arguments));
        logs++;
        return deployment.start(ServiceKind.AGENT, directory.resolve("agent-%d.log".formatted(logs)), all);
    }

    /** The looks at GPUs that it has told of: as many as there are samples. */
    private static long lastSequence(Deployment.Running agent) {
        String metrics = Deployment.text(agent.health().orElseThrow().resolve("/metrics"));
        return metrics.lines()
                .filter(line -> line.startsWith("lendstream_gpu_looks_total{") && line.contains("status=\"ready\""))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** What the simulated backend prints of a node is a recording. */
    private Path recording() throws Exception {
        Deployment.Running simulated = deployment.start(
                ServiceKind.AGENT,
                directory.resolve("recording.log"),
                List.of(
                        "--backend",
                        "simulated",
                        "--once",
                        "--json",
                        "--dry-run",
                        "--nodes",
                        "1",
                        "--training-nodes",
                        "0"));
        assertThat(simulated.exit()).as(simulated.printed()).isZero();
        return Files.write(
                directory.resolve("recording.jsonl"),
                simulated.printed().lines().filter(line -> line.startsWith("{")).toList());
    }

    /** The one process of the stack with this word on its command line, which only the system shows in full. */
    private static void signal(String signal, String word) throws Exception {
        List<ProcessHandle> found = ProcessHandle.current()
                .descendants()
                .filter(process -> commandLine(process).contains(word))
                .toList();
        assertThat(found).as("processes with %s", word).hasSize(1);
        assertThat(new ProcessBuilder(
                                "kill",
                                "-" + signal,
                                String.valueOf(found.get(0).pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", String.valueOf(process.pid()), "cmdline"), UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
