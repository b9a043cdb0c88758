package io.lendstream.benchmarks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Runs a benchmark in two work trees in turn, and compares the medians of its times. Both trees are built. The order of
 * the two alternates from pair to pair, so that a machine that slows down favours neither.
 */
final class PairedRuns implements Bench {
    /** The default number of pairs. */
    static final int PAIRS = 7;

    /** The greatest ratio of a median time in this tree to that in the other one. */
    static final double MOST = 1.05;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern TIME = Pattern.compile(".*[_ ](us|ms|s|seconds)");

    private final Path base;
    private final int pairs;
    private final String only;
    private final List<String> bench;

    private PairedRuns(Path base, int pairs, String only, List<String> bench) {
        this.base = base;
        this.pairs = pairs;
        this.only = only;
        this.bench = List.copyOf(bench);
    }

    /** Reads {@code [--pairs N] [--only WORD] DIRECTORY NAME [OPTIONS]}; empty if the arguments are different. */
    static Optional<PairedRuns> parse(List<String> arguments) {
        int pairs = PAIRS;
        String only = "";
        int at = 0;
        while (at + 1 < arguments.size() && arguments.get(at).startsWith("--")) {
            String value = arguments.get(at + 1);
            if (arguments.get(at).equals("--only")) {
                only = value;
            } else if (arguments.get(at).equals("--pairs") && value.matches("[1-9]\\d?")) {
                pairs = Integer.parseInt(value);
            } else {
                return Optional.empty();
            }
            at += 2;
        }
        List<String> bench = arguments.subList(Math.min(at + 1, arguments.size()), arguments.size());
        return bench.isEmpty() || bench.get(0).equals("pairs")
                ? Optional.empty()
                : Optional.of(new PairedRuns(Path.of(arguments.get(at)), pairs, only, bench));
    }

    @Override
    public BenchReport measure() {
        Path here = Path.of("").toAbsolutePath();
        Map<String, List<Double>> before = new LinkedHashMap<>();
        Map<String, List<Double>> after = new LinkedHashMap<>();
        for (int pair = 1; pair <= pairs; pair++) {
            System.out.printf("pair %d of %d%n", pair, pairs);
            if (pair % 2 == 1) {
                run(base, before);
                run(here, after);
            } else {
                run(here, after);
                run(base, before);
            }
        }
        return compared(before, after, only);
    }

    /**
     * The medians of this tree, of the other one, and their ratios.
     *
     * @param only a word that the names of the compared times have; empty for all times
     */
    static BenchReport compared(Map<String, List<Double>> before, Map<String, List<Double>> after, String only) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        Map<String, Double> reference = new LinkedHashMap<>();
        Map<String, Double> ratio = new LinkedHashMap<>();
        List<String> misses = new ArrayList<>();
        System.out.printf("%-48s %10s %10s %6s%n", "", "base", "here", "ratio");
        after.forEach((name, values) -> {
            List<Double> others = before.getOrDefault(name, List.of());
            if (others.isEmpty() || !TIME.matcher(name).matches() || !name.contains(only)) {
                return;
            }
            double was = Quantiles.of(others, 0.5);
            double is = Quantiles.of(values, 0.5);
            metrics.put(name, is);
            reference.put(name, was);
            ratio.put(name, is / was);
            System.out.printf("%-48s %10.3f %10.3f %6.3f%n", name, was, is, is / was);
            if (!(is / was <= MOST)) {
                misses.add("the ratio of %s is %.3f, but must be at most %.2f".formatted(name, is / was, MOST));
            }
        });
        if (metrics.isEmpty()) {
            misses.add("no time was compared; the benchmark needs a time that both trees measure"
                    + (only.isEmpty() ? "" : ", with '%s' in its name".formatted(only)));
        }
        return new BenchReport(metrics, reference, ratio, misses);
    }

    private void run(Path tree, Map<String, List<Double>> figures) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                "benchmarks/target/classes:benchmarks/target/lib/*",
                BenchMain.class.getName()));
        command.addAll(bench);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(tree.toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            metrics(output)
                    .orElseThrow(() -> new IllegalStateException(
                            "%s in %s printed no figures: %s".formatted(String.join(" ", bench), tree, output.strip())))
                    .forEach((name, value) -> figures.computeIfAbsent(name, any -> new ArrayList<>())
                            .add(value));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The figures in the last line of a benchmark's output; empty if that line is not a report. */
    static Optional<Map<String, Double>> metrics(String output) {
        List<String> lines = output.strip().lines().toList();
        try {
            JsonNode report = JSON.readTree(lines.isEmpty() ? "" : lines.get(lines.size() - 1));
            if (!report.path("metrics").isObject()) {
                return Optional.empty();
            }
            Map<String, Double> metrics = new LinkedHashMap<>();
            report.path("metrics")
                    .properties()
                    .forEach(figure ->
                            metrics.put(figure.getKey(), figure.getValue().asDouble()));
            return Optional.of(metrics);
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }
}
