package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.lendstream.agent.kubernetes.PlayedApi;
import io.lendstream.service.ServiceCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentCommandTest {
    @TempDir
    Path directory;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return ServiceCommand.execute(
                new AgentCommand(new PrintStream(printed, true, StandardCharsets.UTF_8)), arguments);
    }

    @Test
    void aDryRunPrintsInventoryAndASampleOfEveryNodeWithoutABroker() {
        int exit = run(
                "--backend",
                "simulated",
                "--once",
                "--json",
                "--dry-run",
                "--nodes",
                "2",
                "--gpus-per-node",
                "3",
                "--training-nodes",
                "1");

        assertThat(exit).isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .hasSize(4)
                .anyMatch(line -> line.contains("\"pool\": \"TRAINING\""))
                .anyMatch(line -> line.contains("\"utilizationQuality\": \"MEASURED\""));
    }

    @Test
    void aDryRunForPeopleIsALineAGpu() {
        assertThat(run(
                        "--backend",
                        "simulated",
                        "--dry-run",
                        "--nodes",
                        "2",
                        "--gpus-per-node",
                        "3",
                        "--training-nodes",
                        "1"))
                .isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .hasSize(1 + 6)
                .anyMatch(line ->
                        line.matches("node-01 +inference +2 +GPU-\\S+ +NVIDIA \\S+ +0% +\\d+MiB +\\d+W +\\d+C"));
    }

    @Test
    void aBackendThatIsNotThereIsWrongUse() {
        assertThat(run("--backend", "rocm", "--dry-run")).isEqualTo(2);
    }

    @Test
    void nodesAreSimulatedOnlyOnRequest() {
        assertThat(run("--nodes", "2", "--dry-run")).isEqualTo(2);
    }

    @Test
    void withoutADriverTheNodeIsUnavailableAndTheRunHasFailed() {
        PrintStream before = System.err;
        var said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        int exit;
        try {
            exit = run(
                    "--once",
                    "--json",
                    "--dry-run",
                    "--backend",
                    "nvml",
                    "--set",
                    "agent.node=n1",
                    "--set",
                    "agent.nvml-libraries=/none/libnvidia-ml.so.1");
        } finally {
            System.setErr(before);
        }

        assertThat(exit).isEqualTo(1);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains(
                        "agent.backend is nvml, but no GPU was read: ", "libnvidia-ml.so.1", "use --backend simulated");
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .hasSize(1)
                .allMatch(line -> line.contains("\"n1\"") && line.contains("\"status\": \"UNAVAILABLE\""))
                .allMatch(
                        line -> line.matches(
                                ".*, \"why\": \".*libnvidia-ml.*\", \"labels\": \\{}, \"cpuMillis\": .*, \"memoryBytes\": .*}"));
    }

    @Test
    void anEndpointIsReadTwiceAndItsRateToldWithoutABroker() throws IOException {
        HttpServer server = counting("chat", new AtomicInteger());
        try {
            int exit = run(
                    "--once",
                    "--json",
                    "--dry-run",
                    "--set",
                    "agent.nvml-libraries=/none/libnvidia-ml.so.1",
                    "--set",
                    "agent.rate-endpoints=triton@http://127.0.0.1:"
                            + server.getAddress().getPort() + "/metrics");

            assertThat(exit).isZero();
            assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                    .anyMatch(line -> line.contains("\"service\": \"chat\"") && line.contains("\"arrivals\": 51"));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void podsOfThisNodeAreReadAsTheirAnnotationsSay() throws IOException {
        HttpServer server = counting("chat", new AtomicInteger());
        try (var api = new PlayedApi()) {
            String port = String.valueOf(server.getAddress().getPort());
            api.put(
                    "pods",
                    PlayedApi.pod(
                            "n1",
                            "u1",
                            "chat-0",
                            Map.of(
                                    "lendstream.io/scrape-preset", "triton",
                                    "lendstream.io/scrape-service", "assistant",
                                    "lendstream.io/scrape-port", port),
                            "2026-01-01T12:00:00Z"));
            api.put(
                    "pods",
                    PlayedApi.pod(
                            "n2",
                            "u2",
                            "chat-1",
                            Map.of("lendstream.io/scrape-preset", "triton", "lendstream.io/scrape-port", port),
                            "2026-01-01T12:00:00Z"));

            int exit = run(
                    "--once",
                    "--json",
                    "--dry-run",
                    "--set",
                    "agent.node=n1",
                    "--set",
                    "agent.nvml-libraries=/none/libnvidia-ml.so.1",
                    "--set",
                    "agent.kubernetes=true",
                    "--set",
                    "agent.kubernetes-url=" + api.url());

            assertThat(exit).isZero();
            assertThat(printed.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains("\"arrivals\"")))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains(
                                    "\"service\": \"assistant\"",
                                    "\"source\": \"n1/ml/chat-0:%s\"".formatted(port),
                                    "\"arrivals\": 51"));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void whereNoApiServerIsKnownItCannotBeAsked() {
        assertThat(run("--dry-run", "--set", "agent.kubernetes=true", "--set", "agent.kubernetes-url=10.96.0.1"))
                .isEqualTo(2);
    }

    @Test
    void anEndpointOfAnotherNodeIsNotRead() throws IOException {
        var elsewhere = new AtomicInteger();
        HttpServer mine = counting("chat", new AtomicInteger());
        HttpServer other = counting("code", elsewhere);
        try {
            int exit = run(
                    "--once",
                    "--json",
                    "--dry-run",
                    "--set",
                    "agent.node=localhost",
                    "--set",
                    "agent.nvml-libraries=/none/libnvidia-ml.so.1",
                    "--set",
                    "agent.rate-endpoints=triton@http://{node}:%d/metrics;node=localhost, triton@http://127.0.0.1:%d/metrics;node=n2"
                            .formatted(
                                    mine.getAddress().getPort(),
                                    other.getAddress().getPort()));

            assertThat(exit).isZero();
            assertThat(printed.toString(StandardCharsets.UTF_8))
                    .contains("\"service\": \"chat\"")
                    .doesNotContain("\"service\": \"code\"");
            assertThat(elsewhere).hasValue(0);
        } finally {
            mine.stop(0);
            other.stop(0);
        }
    }

    /** A Triton that serves 51 requests between two readings. */
    private static HttpServer counting(String model, AtomicInteger served) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            byte[] text = """
                    # TYPE nv_inference_request_success counter
                    nv_inference_request_success{model="%s",version="1"} %d
                    """.formatted(model, served.addAndGet(51)).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        server.start();
        return server;
    }

    @Test
    void anEndpointOfAnUnknownPresetIsWrongUse() {
        assertThat(run("--dry-run", "--set", "agent.rate-endpoints=tritn@http://localhost:1/metrics"))
                .isEqualTo(2);
        assertThat(run("--dry-run", "--set", "agent.rate-endpoints=http://localhost:1/metrics"))
                .isEqualTo(2);
    }

    @Test
    void slurmsJobsAreNotToldWhereProcessesAreNot() {
        assertThat(run("--dry-run", "--backend", "dcgm", "--set", "agent.slurm=true"))
                .isEqualTo(2);
    }

    @Test
    void aMissingKubeletIsReportedAndTheSampleTaken() {
        int exit = run(
                "--once",
                "--dry-run",
                "--backend",
                "recorded",
                "--set",
                "agent.recording=" + recorded(),
                "--set",
                "agent.pod-resources=" + directory.resolve("kubelet.sock"));

        assertThat(exit).isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .anyMatch(line -> line.contains(" GPU-") && !line.contains("none"))
                .anyMatch(line -> line.startsWith("the kubelet does not return the pods of GPUs: ")
                        && line.endsWith(
                                "kubelet.sock does not exist, or this user may not access it (agent.pod-resources)"));
    }

    /** What the simulated backend prints of a node. */
    private Path recorded() {
        assertThat(run(
                        "--backend",
                        "simulated",
                        "--once",
                        "--json",
                        "--dry-run",
                        "--nodes",
                        "1",
                        "--training-nodes",
                        "0"))
                .isZero();
        try {
            return Files.write(directory.resolve("recording.jsonl"), printed.toByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            printed.reset();
        }
    }

    @Test
    void realGpusDoNotKeepVirtualTime() {
        assertThat(run("--dry-run", "--set", "time=virtual")).isEqualTo(2);
    }

    @Test
    void halfOfTheNodesAreTrainingsByDefault() {
        assertThat(run("--backend", "simulated", "--dry-run", "--nodes", "1", "--gpus-per-node", "1"))
                .isZero();
        assertThat(run("--backend", "simulated", "--dry-run", "--nodes", "3", "--gpus-per-node", "1"))
                .isZero();

        assertThat(printed.toString(StandardCharsets.UTF_8).lines().map(line -> line.split(" +", 3)[1]))
                .containsExactly("POOL", "inference", "POOL", "training", "inference", "inference");
    }

    @Test
    void moreTrainingNodesThanNodesIsWrongUse() {
        assertThat(run("--backend", "simulated", "--dry-run", "--nodes", "2", "--training-nodes", "3"))
                .isEqualTo(2);
    }

    @Test
    void simulatedNodesReadNoRates() {
        String endpoints = "agent.rate-endpoints=vllm@http://127.0.0.1:18000/metrics";
        PrintStream before = System.err;
        var said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            assertThat(run("--backend", "simulated", "--dry-run", "--set", endpoints))
                    .isEqualTo(2);
        } finally {
            System.setErr(before);
        }

        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("no effect with agent.backend=simulated", "vllm@http://127.0.0.1:18000/metrics");
    }

    @Test
    void anUnknownSettingIsWrongUse() {
        assertThat(run("--dry-run", "--set", "agent.perid=5s")).isEqualTo(2);
    }

    @Test
    void whatOnceSeesIsPrintedThoughThereIsNoBroker() throws IOException {
        PrintStream before = System.err;
        var said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        int exit;
        try {
            exit = run(
                    "--once",
                    "--json",
                    "--bootstrap-server",
                    "127.0.0.1:1",
                    "--set",
                    "connect-timeout=1s",
                    "--set",
                    "agent.nvml-libraries=/none/libnvidia-ml.so.1");
        } finally {
            System.setErr(before);
        }

        assertThat(exit).isEqualTo(1);
        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .singleElement()
                .satisfies(line -> assertThat(line).contains("\"status\": \"UNAVAILABLE\"", "\"why\": "));
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains(
                        "1 records (nodes) were printed, but not published: kafka.bootstrap.servers is 127.0.0.1:1",
                        "use --dry-run");
    }

    @Test
    void whatOnceSimulatesIsPrintedThoughThereIsNoBroker() {
        int exit = run(
                "--backend",
                "simulated",
                "--once",
                "--nodes",
                "2",
                "--gpus-per-node",
                "3",
                "--bootstrap-server",
                "127.0.0.1:1",
                "--set",
                "connect-timeout=1s");

        assertThat(exit).as("nothing was published").isEqualTo(1);
        assertThat(printed.toString(StandardCharsets.UTF_8).lines()).hasSize(1 + 6);
    }

    @Test
    void aRecordingMayHaveTheReasonsThatArePrinted() throws IOException {
        run("--once", "--json", "--dry-run", "--set", "agent.nvml-libraries=/none/libnvidia-ml.so.1");
        Path recording = Files.write(directory.resolve("recording.jsonl"), printed.toByteArray());
        printed.reset();

        int exit =
                run("--once", "--json", "--dry-run", "--backend", "recorded", "--set", "agent.recording=" + recording);

        assertThat(exit).isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("\"why\": ", "libnvidia-ml");
    }

    @Test
    void aMissingBrokerIsAFailureAndNotAHang() {
        assertThat(run(
                        "--backend",
                        "simulated",
                        "--bootstrap-server",
                        "127.0.0.1:1",
                        "--set",
                        "connect-timeout=1s",
                        "--set",
                        "wait-for-broker=0s"))
                .isEqualTo(1);
    }
}
