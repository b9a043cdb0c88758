package io.lendstream.benchmarks;

import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Ports;
import io.lendstream.stack.Readiness;
import io.lendstream.stack.RunningChild;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;

/**
 * The cost of an agent on its node: processor time, memory and the time of a reading. The node is the largest
 * scripted machine (eight H100 with seven instances each) of the NVML double of the agent's tests. Measured at one
 * and at ten readings per second, and at one with ten pods whose requests the agent counts.
 */
final class AgentCost {
    private static final Path DOUBLE = Path.of("telemetry-agent/src/test/native/build.sh");
    private static final int GPUS = 8;
    private static final int INSTANCES = 7;
    private static final int PODS = 10;
    private static final Duration WARM_UP = Duration.ofSeconds(30);
    private static final Duration MEASURED = Duration.ofMinutes(1);

    private AgentCost() {}

    static BenchReport measure() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        measure("hz_1", 1, List.of(), 0.02, metrics, reference, ratio);
        measure("hz_10", 10, List.of(), 0.05, metrics, reference, ratio);
        try (var node = new PlayedNode(PODS)) {
            List<String> discovery = List.of(
                    "--set", "agent.kubernetes=true",
                    "--set", "agent.kubernetes-url=" + node.url(),
                    "--set", "agent.node=" + PlayedNode.NAME);
            measure("hz_1_with_pods", 1, discovery, 0.02, metrics, reference, ratio);
        }
        return new BenchReport(metrics, reference, ratio, StatedBounds.above(metrics, reference));
    }

    private static void prepare(Stack stack) {
        TopicCatalogue topics = TopicCatalogue.standard();
        KafkaSettings kafka = KafkaSettings.of(
                "bench",
                Settings.of(
                        CommonKeys.ALL,
                        "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                        "schema.registry.url=" + stack.confluentUrl()));
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, topics).create(1, (short) 1);
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), topics).register();
    }

    private static void measure(
            String name,
            int perSecond,
            List<String> more,
            double bound,
            Map<String, Double> metrics,
            Map<String, Double> reference,
            Map<String, Double> ratio) {
        try (Stack stack = Stack.start(StackSettings.defaults(), Installation.find(), line -> {})) {
            prepare(stack);
            Path driver = driver(stack.dataDirectory().resolve("nvml"));
            System.out.printf("%s: ", name);
            measure(name, start(stack, driver, perSecond, more), perSecond, bound, metrics, reference, ratio);
        }
    }

    private record Agent(long pid, URI health) {}

    private static Agent start(Stack stack, Path driver, int perSecond, List<String> more) {
        int port = Ports.free();
        URI health = URI.create("http://127.0.0.1:" + port);
        List<String> arguments = new ArrayList<>(List.of(
                "--bootstrap-server",
                stack.bootstrapServers(),
                "--registry",
                stack.confluentUrl().toString(),
                "--backend",
                "nvml",
                "--set",
                "agent.nvml-libraries=" + driver,
                "--set",
                "agent.period=" + 1000 / perSecond + "ms",
                "--set",
                "health.port=" + port));
        arguments.addAll(more);
        RunningChild agent = stack.start(
                ServiceKind.AGENT.child(stack.installation()).withArguments(arguments.toArray(String[]::new)));
        stack.awaitReady(agent, Readiness.http(health.resolve("/health/ready")), Duration.ofSeconds(60));
        return new Agent(agent.pid(), health);
    }

    private static void measure(
            String name,
            Agent agent,
            int perSecond,
            double bound,
            Map<String, Double> metrics,
            Map<String, Double> reference,
            Map<String, Double> ratio) {
        System.out.printf(
                "agent at %d a second: %d s of warm-up, %d s measured%n",
                perSecond, WARM_UP.toSeconds(), MEASURED.toSeconds());
        sleep(WARM_UP);
        double before = processorSeconds(agent.pid);
        double looksBefore = meter(agent.health, "lendstream_gpu_look_seconds_count", "");
        sleep(MEASURED);
        double share = (processorSeconds(agent.pid) - before) / MEASURED.toSeconds();
        double looks =
                (meter(agent.health, "lendstream_gpu_look_seconds_count", "") - looksBefore) / MEASURED.toSeconds();
        double resident = RunningChild.residentBytes(agent.pid).orElseThrow() / 1e6;
        double p99 = 1000 * meter(agent.health, "lendstream_gpu_look_seconds", "quantile=\"0.99\"");
        if (name.endsWith("pods") && meter(agent.health, "lendstream_rate_pods", "") != PODS) {
            throw new IllegalStateException("the agent does not count the requests of all %d pods".formatted(PODS));
        }
        metrics.put(name + "_core_share", share);
        metrics.put(name + "_resident_megabytes", resident);
        metrics.put(name + "_look_p99_ms", p99);
        metrics.put(name + "_looks_per_second", looks);
        reference.put(name + "_core_share", bound);
        reference.put(name + "_resident_megabytes", 150.0);
        reference.put(name + "_look_p99_ms", 20.0);
        ratio.put(name + "_core_share", share / bound);
        ratio.put(name + "_resident_megabytes", resident / 150);
        ratio.put(name + "_look_p99_ms", p99 / 20);
        say(looks, share, bound, resident, p99);
    }

    private static void say(double looks, double share, double bound, double resident, double p99) {
        System.out.printf(
                Locale.ROOT,
                "%d GPUs of %d instances, %.2f looks a second: %.2f %% of a core (at most %.0f), %.0f MB (150), look p99 %.1f ms (20)%n",
                GPUS,
                INSTANCES,
                looks,
                100 * share,
                100 * bound,
                resident,
                p99);
    }

    private static double processorSeconds(long pid) {
        return ProcessHandle.of(pid)
                .flatMap(process -> process.info().totalCpuDuration())
                .map(used -> used.toMillis() / 1000.0)
                .orElseThrow(() -> new IllegalStateException("the agent ended"));
    }

    /** The first meter of the agent with this name and label. */
    private static double meter(URI health, String name, String label) {
        try {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(health.resolve("/metrics")).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body()
                    .lines()
                    .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                    .filter(line -> line.contains(label))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("the agent shows no meter " + name + " " + label));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Compiles the double with its script of the machine. */
    private static Path driver(Path directory) {
        try {
            Files.createDirectories(directory);
            Process compiler = new ProcessBuilder(
                            "sh",
                            DOUBLE.toString(),
                            directory
                                    .resolve("libnvidia-ml.so.1")
                                    .toAbsolutePath()
                                    .toString(),
                            "new")
                    .redirectErrorStream(true)
                    .start();
            String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (compiler.waitFor() != 0) {
                throw new IllegalStateException("%s fails, which needs a C compiler (cc): %s".formatted(DOUBLE, said));
            }
            Files.writeString(directory.resolve("machine"), machine());
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException("the double of NVML cannot be built", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The script of the double, in the format of its {@code machine.c}. */
    private static String machine() {
        MigGpu kind = MigGpu.named("H100-SXM5").orElseThrow();
        MigProfile smallest = kind.profile("1g.10gb").orElseThrow();
        List<String> lines = new ArrayList<>(List.of("driver 570.124.06"));
        for (int gpu = 0; gpu < GPUS; gpu++) {
            lines.addAll(gpu(gpu, smallest));
        }
        return String.join("\n", lines) + "\n";
    }

    private static List<String> gpu(int gpu, MigProfile profile) {
        List<String> lines = new ArrayList<>();
        lines.add("gpu GPU-%d".formatted(gpu));
        lines.add(" name NVIDIA H100 80GB HBM3");
        lines.add(" pci 00000000:%02X:00.0".formatted(7 + 8 * gpu));
        lines.add(" capability 9 0");
        lines.add(" memory %d %d %d".formatted(80L << 30, 600L << 20, 2048L << 20));
        lines.addAll(List.of(
                " power 143250",
                " energy 9876543210",
                " temperature 41",
                " memoryTemperature 47",
                " clocks 1410 1593",
                " reasons 0x4",
                " ecc 3 0",
                " mig 1 1"));
        lines.add(" profile 0 %d 1 7 %d %d 1 1g.10gb %s"
                .formatted(
                        profile.id(),
                        profile.sms().orElse(0),
                        Math.round(profile.memoryGib().orElse(0) * 1024),
                        profile.starts().stream().map(String::valueOf).collect(Collectors.joining(" "))));
        for (int i = 0; i < INSTANCES; i++) {
            lines.add(" instance %d 0 %d %d %d MIG-%d-%d %d %d %d %d 0 1"
                    .formatted(
                            7 + i,
                            profile.id(),
                            i,
                            profile.memorySlices(),
                            gpu,
                            i,
                            10L << 30,
                            37L << 20,
                            10 * i,
                            8 * i));
        }
        return lines;
    }
}
