package io.lendstream.launcher;

import io.lendstream.launcher.ReplayExperiment.Lines;
import io.lendstream.launcher.ReplayExperiment.Played;
import io.lendstream.launcher.ReplayExperiment.Run;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.report.RunWarning;
import io.lendstream.simulator.report.RunWarnings;
import io.lendstream.simulator.report.SeedFacts;
import io.lendstream.simulator.report.SeedFigures;
import io.lendstream.simulator.report.SeedRow;
import io.lendstream.simulator.report.SeedWarning;
import io.lendstream.simulator.report.Text;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Replays of a workload over several seeds, some at a time. Only figures are kept, except for the first seed that does
 * not fail.
 */
final class SeedExperiment {
    private static final Duration PROGRESS_EVERY = Duration.ofSeconds(2);

    private final String workload;
    private final PlayOptions play;
    private final ReplayExperiment.Conditions conditions;
    private final List<Run> asked;
    private final boolean referenced;
    private final Consumer<String> say;
    private final long began = System.nanoTime();
    private final Set<String> noted = ConcurrentHashMap.newKeySet();
    private Optional<Details> details = Optional.empty();
    private int runsInAll;
    private int runsDone;
    private long spokeAt = began;

    /**
     * The runs of one seed, the baseline first and the oracle last.
     *
     * @param summaries objects of {@code summary.json}
     */
    private record OfSeed(
            Map<Run, SeedFigures> figures,
            List<Map<String, @Nullable Object>> summaries,
            Optional<Run> baseline,
            boolean content,
            List<SeedWarning> warnings) {}

    /**
     * Everything about the runs of one seed.
     *
     * @param rank place of the seed among all seeds
     * @param asked the runs that were asked for
     * @param measure the baseline and the oracle; nothing where they were not played
     * @param baseline a description of the baseline
     * @param trainingNodes training's nodes, for a report
     */
    record Details(
            long seed,
            int rank,
            List<Played> asked,
            Optional<References> measure,
            String baseline,
            RunFacts.Parameter trainingNodes) {}

    /**
     * The results of all seeds.
     *
     * @param first the first seed that did not fail
     * @param figures the figures of each run by its name, a seed each
     * @param warnings those of all seeds, the same warning once
     * @param content whether every promise was kept, as far as histories were checked
     */
    record Result(
            Details first,
            SeedFacts facts,
            Map<String, List<SeedFigures>> figures,
            List<Map<String, @Nullable Object>> summaries,
            List<RunWarning> warnings,
            boolean content) {}

    /**
     * An experiment.
     *
     * @param referenced whether the baseline and the oracle are played for each seed
     * @param say receives lines about its progress
     */
    SeedExperiment(
            String workload,
            PlayOptions play,
            ReplayExperiment.Conditions conditions,
            List<Run> asked,
            boolean referenced,
            Consumer<String> say) {
        this.workload = workload;
        this.play = play;
        this.conditions = conditions;
        this.asked = List.copyOf(asked);
        this.referenced = referenced;
        this.say = say;
    }

    /** Replays all runs with each seed. */
    Result replay(List<Long> seeds) {
        runsInAll = seeds.size() * runsPerSeed();
        int threads = Math.max(1, Math.min(seeds.size(), Runtime.getRuntime().availableProcessors()));
        say.accept("%s: %s, %d at a time"
                .formatted(Text.plural(runsInAll, "run"), Text.plural(seeds.size(), "seed"), threads));
        return result(SeedRuns.play(seeds, threads, seed -> ofSeed(seed, seeds.indexOf(seed))));
    }

    private int runsPerSeed() {
        int missing = referenced
                ? (asked.stream().anyMatch(Run::isBaseline) ? 0 : 1) + (asked.contains(Run.ORACLE) ? 0 : 1)
                : 0;
        return asked.size() + missing;
    }

    private OfSeed ofSeed(long seed, int rank) {
        AtomicInteger done = new AtomicInteger();
        try {
            return ofSeed(seed, rank, done);
        } finally {
            seedDone(done.get());
        }
    }

    private OfSeed ofSeed(long seed, int rank, AtomicInteger done) {
        Workload played = play.load(workload, ReplayExperiment.DOMAIN, seed);
        var lines = new Lines(
                line -> tell(),
                line -> {
                    done.incrementAndGet();
                    runDone();
                },
                line -> note(seed, line));
        var experiment = new ReplayExperiment(played, play, conditions, seed, lines);
        List<Played> runs = asked.stream().map(experiment::replay).toList();
        List<Played> compared = referenced ? experiment.references(runs) : List.of();
        Optional<References> references = experiment.measure(compared);
        List<RunWarning> general = experiment.warnings(runs, references);
        Map<Run, SeedFigures> figures = new LinkedHashMap<>();
        List<Map<String, @Nullable Object>> summaries = new ArrayList<>();
        for (Played run : ordered(runs, compared)) {
            figures.put(run.run(), figures(seed, run.facts(), references));
            Map<String, @Nullable Object> fields = ResultFiles.fields(run.outcome(), references, general);
            fields.put("role", role(run, compared));
            summaries.add(fields);
        }
        keep(new Details(seed, rank, runs, references, experiment.baseline(), experiment.trainingNodes()));
        return new OfSeed(
                figures,
                summaries,
                compared.stream().map(Played::run).findFirst(),
                ordered(runs, compared).stream().allMatch(Played::isContent),
                warnings(seed, general, runs, compared));
    }

    /** Keeps the details of a seed unless those of an earlier one are known. */
    private synchronized void keep(Details ofSeed) {
        if (details.filter(kept -> kept.rank < ofSeed.rank).isEmpty()) {
            details = Optional.of(ofSeed);
        }
    }

    private synchronized Details kept() {
        return details.orElseThrow();
    }

    /** The warnings of a seed: about all its runs, about each run that was asked for, and about the baseline. */
    private static List<SeedWarning> warnings(
            long seed, List<RunWarning> general, List<Played> runs, List<Played> compared) {
        List<SeedWarning> warnings = new ArrayList<>();
        general.forEach(warning -> warnings.add(new SeedWarning(seed, "", warning)));
        Map<String, ReportedRun> judged = new LinkedHashMap<>();
        Stream.concat(runs.stream(), compared.stream().limit(1))
                .forEach(run -> judged.put(run.run().title(), run.facts()));
        judged.forEach((title, run) ->
                RunWarnings.slo(run).ifPresent(warning -> warnings.add(new SeedWarning(seed, title, warning))));
        return warnings;
    }

    /** The figures of a run, measured against the references of the same seed where these were played. */
    private static SeedFigures figures(long seed, ReportedRun run, Optional<References> references) {
        return SeedFigures.of(
                seed,
                run,
                references.flatMap(each -> each.gain(run.training())),
                references.flatMap(each -> each.shareOfPossibleGain(run.training())));
    }

    private static String role(Played run, List<Played> compared) {
        return switch (compared.stream().map(Played::run).toList().indexOf(run.run())) {
            case 0 -> "baseline";
            case 1 -> "oracle";
            default -> "run";
        };
    }

    /** The baseline, the runs that are no references, and the oracle. */
    private static List<Played> ordered(List<Played> runs, List<Played> compared) {
        List<Played> all = new ArrayList<>(compared.stream().limit(1).toList());
        List<Run> references = compared.stream().map(Played::run).toList();
        runs.stream().filter(run -> !references.contains(run.run())).forEach(all::add);
        compared.stream().skip(1).forEach(all::add);
        return all;
    }

    private Result result(SeedRuns<OfSeed> runs) {
        List<OfSeed> results = List.copyOf(runs.done().values());
        Optional<Run> baseline =
                results.stream().flatMap(each -> each.baseline.stream()).findFirst();
        Map<Run, List<SeedFigures>> byRun = new LinkedHashMap<>();
        results.forEach(each -> each.figures.forEach((run, figures) ->
                byRun.computeIfAbsent(run, any -> new ArrayList<>()).add(figures)));
        List<SeedRow> rows = new ArrayList<>();
        Map<String, List<SeedFigures>> byName = new LinkedHashMap<>();
        byRun.forEach((run, figures) -> {
            boolean isBaseline = baseline.filter(run::equals).isPresent();
            boolean isOracle = baseline.isPresent() && run.equals(Run.ORACLE);
            Optional<References> measure = kept().measure;
            String role = isBaseline
                    ? measure.map(References::ofBaseline).orElse("")
                    : isOracle ? measure.map(References::ofOracle).orElse("") : "";
            rows.add(SeedRow.of(role + run.title(), figures, isBaseline, isOracle));
            byName.put(run.title(), figures);
        });
        return new Result(
                kept(),
                new SeedFacts(List.copyOf(runs.done().keySet()), runs.failures(), isOneInput(results), rows),
                byName,
                results.stream().flatMap(each -> each.summaries.stream()).toList(),
                SeedWarning.grouped(
                        results.stream().flatMap(each -> each.warnings.stream()).toList(), results.size()),
                results.stream().allMatch(OfSeed::content));
    }

    /** Whether all seeds have equal figures, so that nothing was drawn by the seed. */
    private static boolean isOneInput(List<OfSeed> results) {
        return results.size() > 1
                && results.stream()
                                .map(each -> timeless(each.summaries))
                                .distinct()
                                .count()
                        == 1;
    }

    private static List<Map<String, @Nullable Object>> timeless(List<Map<String, @Nullable Object>> summaries) {
        return summaries.stream()
                .map(fields -> {
                    Map<String, @Nullable Object> copy = new HashMap<>(fields);
                    copy.remove("seed");
                    copy.remove("wallSeconds");
                    return copy;
                })
                .toList();
    }

    private void note(long seed, String line) {
        if (noted.add(line)) {
            say.accept("seed %d: %s".formatted(seed, line));
        }
    }

    /** Counts the runs of a seed as they were: some may have failed, or were not needed. */
    private synchronized void seedDone(int runs) {
        runsInAll += runs - runsPerSeed();
    }

    private synchronized void runDone() {
        runsDone++;
        tell();
    }

    /** Says now and then how many runs are done. */
    private synchronized void tell() {
        long now = System.nanoTime();
        if (now - spokeAt > PROGRESS_EVERY.toNanos() && runsDone < runsInAll) {
            spokeAt = now;
            Duration wall = Duration.ofNanos(now - began);
            say.accept("%d of %d runs after %d s%s"
                    .formatted(
                            runsDone,
                            runsInAll,
                            wall.toSeconds(),
                            ReplayExperiment.left((double) runsDone / runsInAll, wall)));
        }
    }
}
