package io.lendstream.benchmarks.soak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./dev soak}. Ends with one line of JSON; exits with 1 if a figure grows above its bound, or if the demo
 * fails.
 */
@Command(name = "soak")
public final class SoakMain implements Callable<Integer> {
    private static final Duration BETWEEN_SAMPLES = Duration.ofSeconds(30);
    /** Virtual seconds per second: an hour in 15 s, so that an hour of soaking plays ten days. */
    private static final int SPEED = 240;

    private static final int NODES = 16;
    private static final int GPUS_PER_NODE = 8;
    private static final int PEAK_PER_SERVICE = 60;
    private static final int LEAST_LOANS = 1000;

    @Option(names = "--hours", paramLabel = "H")
    private double hours = 2;

    @Option(names = "--least-loans", paramLabel = "N")
    private int leastLoans = LEAST_LOANS;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new SoakMain()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!(hours >= 0.05 && hours <= 168)) {
            System.err.printf("--hours is %s, but must be from 0.05 to 168.%n", hours);
            return CommandLine.ExitCode.USAGE;
        }
        Path directory = Files.createDirectories(Path.of("target/soak").toAbsolutePath());
        long seconds = Math.round(hours * 3600);
        String workload = LongWorkload.write(directory, (int) (seconds * SPEED / 3600) + 2, PEAK_PER_SERVICE);
        Path data = directory.resolve("data-" + ProcessHandle.current().pid());
        Path out = directory.resolve("out");
        var command = new ProcessBuilder(
                        "./lendstream",
                        "demo",
                        "--workload",
                        workload,
                        "--list-jobs",
                        "elastic",
                        "--nodes",
                        String.valueOf(NODES),
                        "--gpus-per-node",
                        String.valueOf(GPUS_PER_NODE),
                        "--speed",
                        String.valueOf(SPEED),
                        "--seconds",
                        String.valueOf(seconds),
                        "--headless",
                        "--data-dir",
                        data.toString(),
                        "--out",
                        out.toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("demo.log").toFile());
        // Only the demo's own process: at its end it checks and replays the whole run in memory.
        command.environment().put("LENDSTREAM_JAVA_OPTS", "-Xmx%dm".formatted(heapMegabytes(hours)));
        Process demo = command.start();
        var samples = new Samples();
        int status = watch(demo, data, seconds, samples);
        return judge(samples, status, loans(out), directory);
    }

    /**
     * A guess at the heap that the demo needs after this many hours at {@link #SPEED}: it keeps every decision of
     * four runs.
     */
    private static int heapMegabytes(double hours) {
        return (int) Math.min(8192, 512 + 1536 * hours);
    }

    /** Samples until the play is over: what the demo does at its end, it does once. */
    private static int watch(Process demo, Path data, long seconds, Samples into) throws InterruptedException {
        long began = System.nanoTime();
        try {
            while (!demo.waitFor(BETWEEN_SAMPLES.toMillis(), TimeUnit.MILLISECONDS)) {
                double minute = (System.nanoTime() - began) / 60e9;
                Map<String, Long> processes = ProcessSampler.below(demo.toHandle());
                if (minute * 60 < seconds && processes.containsKey("load")) {
                    processes.forEach((name, pid) -> ProcessSampler.sample(name, pid, minute, into));
                    ProcessSampler.sampleFiles(data, minute, into);
                }
            }
            return demo.exitValue();
        } finally {
            demo.destroy();
        }
    }

    private static int loans(Path out) throws IOException {
        Path decisions = out.resolve("decisions.jsonl");
        if (!Files.isRegularFile(decisions)) {
            return 0;
        }
        int loans = 0;
        var json = new ObjectMapper();
        for (String line : Files.readAllLines(decisions)) {
            JsonNode decision = json.readTree(line);
            loans += decision.path("kind").asText().equals("lend")
                    ? decision.path("gpus").size()
                    : 0;
        }
        return loans;
    }

    private int judge(Samples samples, int status, int loans, Path directory) throws IOException {
        List<String> misses = new ArrayList<>(samples.misses());
        if (status != 0) {
            misses.add("the demo ended with %d; see %s".formatted(status, directory.resolve("demo.log")));
        }
        if (loans < leastLoans) {
            misses.add("%d GPUs were lent, but at least %d must be for this to be a test of lending"
                    .formatted(loans, leastLoans));
        }
        var metrics = new LinkedHashMap<String, Object>();
        metrics.put("hours", hours);
        metrics.put("loans", loans);
        metrics.putAll(samples.metrics());
        var bounds = new LinkedHashMap<String, Object>();
        for (SoakMetric figure : SoakMetric.values()) {
            if (Double.isFinite(figure.mostPerMinute())) {
                bounds.put(figure.text() + "PerMinute", figure.mostPerMinute());
            }
        }
        var line = new LinkedHashMap<String, Object>();
        line.put("name", "soak");
        line.put("metrics", metrics);
        line.put("reference", bounds);
        line.put("misses", misses);
        line.put(
                "machine",
                "%d cores, Java %s".formatted(Runtime.getRuntime().availableProcessors(), Runtime.version()));
        System.out.println(new ObjectMapper().writeValueAsString(line));
        misses.forEach(System.err::println);
        return misses.isEmpty() ? 0 : 1;
    }
}
