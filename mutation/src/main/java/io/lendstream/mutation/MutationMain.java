package io.lendstream.mutation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** {@code ./dev mutation}: seeds bugs in core's packages, and measures the share that core's tests detect. */
public final class MutationMain {
    private static final double LEAST = 0.85;
    private static final String CORE = "io.lendstream.core.";
    private static final List<String> PACKAGES = List.of("history", "demand", "actuation", "scheduler");

    private MutationMain() {}

    /**
     * Exits with status 1 if the tests detect less than 85 % of a package's mutants, or if not all ran in time.
     *
     * @param args output directory, seed, mutants per package (all of history), the maximum of hours, and packages;
     *     none for all four
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path out = Path.of(args[0]);
        long seed = Long.parseLong(args[1]);
        int sample = Integer.parseInt(args[2]);
        Instant end = Instant.now().plusMillis(Math.round(Double.parseDouble(args[3]) * 3_600_000));
        List<String> packages = args.length > 4 ? List.of(args).subList(4, args.length) : PACKAGES;
        Map<String, MutationScore> scores = new LinkedHashMap<>();
        boolean isGood = true;
        for (String name : packages) {
            Path reports = out.resolve(name);
            int size = name.equals("history") ? 0 : sample;
            boolean isFinished = run(name, reports, seed, size, Duration.between(Instant.now(), end));
            Path table = reports.resolve("mutations.csv");
            MutationScore score = isFinished && Files.exists(table) ? MutationScore.of(Files.readAllLines(table)) : MutationScore.NONE;
            scores.put(name, score);
            isGood &= score.share() >= LEAST;
            System.err.println(text(name, score, isFinished));
        }
        System.out.println(json(scores));
        System.exit(isGood ? 0 : 1);
    }

    private static String text(String name, MutationScore score, boolean isFinished) {
        return isFinished
                ? String.format(
                        Locale.ROOT,
                        "core.%s: %d of %d killed, %d of them by running out of time, %.1f %% (95 %%: %.1f to %.1f %%); at least %.0f %% are wanted",
                        name,
                        score.killed(),
                        score.total(),
                        score.timedOut(),
                        100 * score.share(),
                        100 * score.low(),
                        100 * score.high(),
                        100 * LEAST)
                : "core.%s: not finished in the time that was left; give more with --hours, or a smaller --sample"
                        .formatted(name);
    }

    private static String json(Map<String, MutationScore> scores) {
        List<String> metrics = new ArrayList<>();
        scores.forEach((name, score) -> metrics.add(String.format(
                Locale.ROOT,
                "\"%1$s_mutants\":%2$d,\"%1$s_killed\":%3$d,\"%1$s_timed_out\":%4$d,\"%1$s_share\":%5$.4f,\"%1$s_low\":%6$.4f,\"%1$s_high\":%7$.4f",
                name,
                score.total(),
                score.killed(),
                score.timedOut(),
                score.share(),
                score.low(),
                score.high())));
        return "{" + String.join(",", metrics) + "}";
    }

    /** Runs PIT in a process of its own; returns whether it finished in time. */
    private static boolean run(String name, Path reports, long seed, int size, Duration left)
            throws IOException, InterruptedException {
        List<String> tests =
                PACKAGES.stream().map(tested -> CORE + tested + ".*Test").toList();
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-D" + SeededSample.SEED + "=" + seed,
                        "-D" + SeededSample.SIZE + "=" + size,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.pitest.mutationtest.commandline.MutationCoverageReport",
                        "--targetClasses=" + CORE + name + ".*",
                        "--excludedClasses=*Test,*Test$*",
                        "--targetTests=" + String.join(",", tests),
                        "--excludedTestClasses=*ChurnTest,*ChurnTest$*",
                        "--mutableCodePaths=" + System.getProperty("lendstream.mutation.classes"),
                        "--sourceDirs=core/src/main/java",
                        "--reportDir=" + reports,
                        "--outputFormats=CSV,HTML",
                        "--jvmArgs=-Xmx1g,-Dseeds.count=20,-Dhistories=20",
                        "--threads=" + Runtime.getRuntime().availableProcessors())
                .redirectErrorStream(true)
                .redirectOutput(
                        Files.createDirectories(reports).resolve("pit.log").toFile())
                .start();
        if (process.waitFor(Math.max(1, left.toSeconds()), TimeUnit.SECONDS)) {
            return process.exitValue() == 0;
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        return false;
    }
}
