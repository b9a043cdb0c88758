package io.lendstream.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The time and the peak resident memory of {@code ./lendstream replay}. Time counts from the start of the process to
 * its end, on one core if {@code taskset} exists; memory is as Linux counts it, read every 20 ms.
 */
final class ReplayTime implements Bench {
    /** The default number of runs of each replay. */
    static final int RUNS = 3;

    private static final Path PROCESSES = Path.of("/proc");
    private static final int POLL_MILLIS = 20;
    private static final double MOST_MEBIBYTES = 1024;

    /**
     * A replay.
     *
     * @param goal seconds
     */
    private record Case(String name, double goal, List<String> arguments) {}

    /** The cost of one run: seconds, and KiB if known. */
    private record Taken(double seconds, OptionalLong peak) {}

    private final int runs;
    private final Path data = PublicData.with("replay", "deepboot", "traces/philly/philly.csv.gz");
    private final List<String> pinned = pinned();
    private final Map<String, Double> metrics = new LinkedHashMap<>();
    private final Map<String, Double> goals = new LinkedHashMap<>();
    private final Map<String, Double> ratio = new LinkedHashMap<>();

    private ReplayTime(int runs) {
        this.runs = runs;
    }

    /** Reads {@code [RUNS]}; empty if the arguments are different. */
    static Optional<ReplayTime> parse(List<String> arguments) {
        if (arguments.isEmpty()) {
            return Optional.of(new ReplayTime(RUNS));
        }
        return arguments.size() == 1 && arguments.get(0).matches("[1-9]\\d{0,2}")
                ? Optional.of(new ReplayTime(Integer.parseInt(arguments.get(0))))
                : Optional.empty();
    }

    @Override
    public BenchReport measure() {
        try {
            Path directory = Files.createTempDirectory("lendstream-bench-");
            try {
                run(List.of("./lendstream", "--version"), directory); // builds missing modules
                System.out.printf(
                        "Processes from start to end, %d of each, %s; ! misses its goal.%n",
                        runs,
                        pinned.isEmpty()
                                ? "on all cores, without taskset"
                                : "on one core: " + String.join(" ", pinned));
                System.out.printf("%-36s %8s %8s %6s %9s %9s%n", "", "best", "median", "goal", "peak", "goal");
                for (Case each : cases()) {
                    measure(each, directory);
                }
            } finally {
                delete(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BenchReport(metrics, goals, ratio, StatedBounds.above(metrics, goals));
    }

    private List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        Map<String, Double> workloads = new LinkedHashMap<>();
        workloads.put("small", 2.0);
        workloads.put("middle", 3.0);
        workloads.forEach((workload, goal) -> {
            cases.add(deepBoot(
                    workload, goal, "published-timing-deepboot", "--published-timing", "--policy", "deepboot"));
            cases.add(deepBoot(workload, goal, "deepboot", "--policy", "deepboot"));
            cases.add(deepBoot(workload, goal, "lendstream", "--policy", "lendstream"));
        });
        String philly = data.resolve("traces/philly/philly.csv.gz").toString();
        List<String> arguments =
                List.of("--workload", philly, "--policy", "tiresias", "--nodes", "75", "--gpus-per-node", "8");
        List<String> published = new ArrayList<>(arguments);
        published.add("--published-timing");
        cases.add(new Case("philly-published-timing-tiresias", 10, published));
        cases.add(new Case("philly-tiresias", 10, arguments));
        return cases;
    }

    private Case deepBoot(String workload, double goal, String name, String... options) {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of(
                "--workload",
                        data.resolve("deepboot/workload")
                                .resolve(workload + ".csv")
                                .toString(),
                "--profiles", data.resolve("deepboot/traces").toString()));
        return new Case(workload + "-" + name, goal, arguments);
    }

    private void measure(Case one, Path directory) throws IOException {
        List<String> command = new ArrayList<>(pinned);
        command.addAll(List.of("./lendstream", "replay", "--anchors", "off", "--plots", "off"));
        command.addAll(List.of("--out", directory.resolve(one.name).toString()));
        command.addAll(one.arguments);
        List<Taken> taken = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            taken.add(run(command, directory));
        }
        double[] seconds = taken.stream().mapToDouble(Taken::seconds).sorted().toArray();
        double median = (seconds[(runs - 1) / 2] + seconds[runs / 2]) / 2;
        OptionalLong peak =
                taken.stream().flatMapToLong(run -> run.peak.stream()).max();
        metrics.put(one.name + "_best_s", seconds[0]);
        took(one.name + "_median_s", median, one.goal);
        peak.ifPresent(kibibytes -> took(one.name + "_peak_mib", kibibytes / 1024.0, MOST_MEBIBYTES));
        System.out.printf(
                "%-36s %6.2f s %6.2f s%s %4.0f s %9s %5.0f MiB%n",
                one.name,
                seconds[0],
                median,
                median > one.goal ? "!" : " ",
                one.goal,
                peak.isEmpty()
                        ? "unknown"
                        : "%.0f MiB%s"
                                .formatted(
                                        peak.getAsLong() / 1024.0,
                                        peak.getAsLong() > 1024 * MOST_MEBIBYTES ? "!" : " "),
                MOST_MEBIBYTES);
    }

    private void took(String name, double figure, double goal) {
        metrics.put(name, figure);
        goals.put(name, goal);
        ratio.put(name, figure / goal);
    }

    private static Taken run(List<String> command, Path directory) throws IOException {
        Path log = directory.resolve("log");
        long begun = System.nanoTime();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        OptionalLong peak = OptionalLong.empty();
        try {
            do {
                OptionalLong now = peakKibibytes(process.pid());
                peak = now.isPresent()
                        ? now
                        : peak; // it only grows, from where taskset and the shell have become the JVM
            } while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + String.join(" ", command), e);
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        if (process.exitValue() != 0) {
            throw new IllegalStateException("%s ended with %d:%n%s"
                    .formatted(String.join(" ", command), process.exitValue(), Files.readString(log)));
        }
        return new Taken(seconds, peak);
    }

    /** The peak resident memory of a process in KiB; empty if Linux does not report it. */
    private static OptionalLong peakKibibytes(long process) {
        return field(PROCESSES.resolve(Long.toString(process)), "VmHWM").stream()
                .mapToLong(value -> Long.parseLong(value.replace(" kB", "")))
                .findFirst();
    }

    /** The command that pins a process to the last core; empty without taskset. */
    private static List<String> pinned() {
        List<String> cores = field(PROCESSES.resolve("self"), "Cpus_allowed_list");
        boolean there = Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "taskset")));
        return there && !cores.isEmpty()
                ? List.of("taskset", "-c", cores.get(0).replaceFirst(".*[,-]", ""))
                : List.of();
    }

    private static List<String> field(Path process, String name) {
        try (Stream<String> lines = Files.lines(process.resolve("status"))) {
            return lines.filter(line -> line.startsWith(name + ":"))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
