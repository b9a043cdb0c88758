package io.lendstream.launcher;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.replay.Outages;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplayProgress;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.replay.UnfinishedReplayException;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.report.RunWarning;
import io.lendstream.simulator.report.RunWarnings;
import io.lendstream.simulator.report.Text;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.InferenceNeed;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Replays of one workload with several policies, on a cluster of one size. */
final class ReplayExperiment {
    static final String DOMAIN = "replay";
    /** The most events of a run whose references are replayed by default; a day on 64 GPUs has a sixth of it. */
    private static final int QUICK_EVENTS = 500_000;
    /** The share of a run that must be done before the time left is estimated. */
    private static final double ESTIMATED_FROM = 0.02;

    private final Workload played;
    private final PlayOptions play;
    private final Conditions conditions;
    private final long seed;
    private final Lines lines;

    /**
     * A policy to replay with.
     *
     * @param lends whether with lending
     * @param onAllGpus whether training has all GPUs, though the options leave it fewer
     */
    record Run(String policy, boolean lends, boolean onAllGpus) {
        static final Run BASELINE = new Run(ReplaySettings.NO_LENDING, false);
        /** Gives the same as the baseline where there is nothing to lend. */
        static final Run WITHOUT_EFFECT = new Run("deepboot", true);

        static final Run ORACLE = new Run("clairvoyant", true);

        /** A run with the GPUs of the options. */
        Run(String policy, boolean lends) {
            this(policy, lends, false);
        }

        /** Such as {@code deepboot, lending on}. */
        String title() {
            return "%s, lending %s%s".formatted(policy, lends ? "on" : "off", onAllGpus ? ", all GPUs" : "");
        }

        boolean isBaseline() {
            return equals(BASELINE) || equals(new Run("deepboot", false));
        }
    }

    /**
     * A run that was played.
     *
     * @param verdict the verdict on its history, if it was checked
     */
    record Played(Run run, RunOutcome outcome, ReportedRun facts, long events, Optional<Verdict> verdict) {
        boolean isContent() {
            return verdict.map(Verdict::isContent).orElse(true);
        }
    }

    /**
     * The conditions of all runs.
     *
     * @param inPlace whether jobs change GPUs without a restart
     * @param abilities what the simulated actuator can do
     * @param check whether histories are checked
     */
    record Conditions(boolean inPlace, Abilities abilities, Outages outages, boolean check) {}

    /**
     * The receivers of lines about an experiment.
     *
     * @param progress lines about a run that is being played
     * @param finished a line a run
     * @param notes lines that must not be lost
     */
    record Lines(Consumer<String> progress, Consumer<String> finished, Consumer<String> notes) {}

    /** An experiment with one workload. */
    ReplayExperiment(Workload played, PlayOptions play, Conditions conditions, long seed, Lines lines) {
        this.played = played;
        this.play = play;
        this.conditions = conditions;
        this.seed = seed;
        this.lines = lines;
    }

    /** Whether runs were short enough for two more that were not asked for. */
    boolean isQuick(List<Played> runs) {
        long events = runs.stream().mapToLong(Played::events).max().orElse(0);
        if (events > QUICK_EVENTS) {
            lines.notes.accept(
                    "the no-lending baseline and the oracle are left out: a run has %s events, more than %s; --references on adds them"
                            .formatted(Text.number(events), Text.number((long) QUICK_EVENTS)));
        }
        return events <= QUICK_EVENTS;
    }

    /** The no-lending baseline and the oracle; nothing if one of them cannot be played to its end. */
    List<Played> references(List<Played> asked) {
        boolean onAllGpus = !layout().equals(layoutOfBaseline());
        Optional<Played> baseline = onAllGpus
                ? Optional.empty()
                : among(asked, Run::isBaseline)
                        .or(() -> lends() ? Optional.empty() : among(asked, Run.WITHOUT_EFFECT::equals));
        Optional<Played> oracle = among(asked, Run.ORACLE::equals);
        int training = trainingGpus(layoutOfBaseline());
        if (played.leastGpus() > training) {
            lines.notes.accept(
                    "there is no baseline to compare with: a job needs %s, and training has %d without lending"
                            .formatted(Text.plural(played.leastGpus(), "GPU"), training));
            return List.of();
        }
        if (baseline.isEmpty() || oracle.isEmpty()) {
            lines.progress.accept(
                    baseline.isEmpty()
                            ? "for comparison the no-lending baseline and the oracle (clairvoyant); --references off leaves them out:"
                            : "for comparison the oracle (clairvoyant); --references off leaves it out:");
        }
        try {
            return List.of(
                    baseline.orElseGet(() ->
                            replay(new Run(Run.BASELINE.policy, Run.BASELINE.lends, onAllGpus), layoutOfBaseline())),
                    oracle.orElseGet(() -> replay(Run.ORACLE)));
        } catch (UserError e) {
            lines.notes.accept("there is nothing to compare with: " + e.getMessage());
            return List.of();
        }
    }

    /** The baseline and the oracle as what runs are measured by; nothing where they were not played. */
    Optional<References> measure(List<Played> compared) {
        return compared.isEmpty()
                ? Optional.empty()
                : Optional.of(new References(
                        compared.get(0).facts(),
                        compared.get(1).facts(),
                        lends(),
                        layout().gpusOfKinds(layout().nodes()).size() > 1));
    }

    /** Whether there are GPUs to lend: without inference services, all may be training's. */
    private boolean lends() {
        SimulatedNodes.Layout layout = layout();
        return layout.trainingNodes() < layout.nodes();
    }

    private static Optional<Played> among(List<Played> runs, Predicate<Run> wanted) {
        return runs.stream().filter(each -> wanted.test(each.run())).findFirst();
    }

    /** A description of the baseline. */
    String baseline() {
        SimulatedNodes.Layout layout = layoutOfBaseline();
        int training = trainingGpus(layout);
        String gpus = Text.plural(training, "GPU");
        if (!lends()) {
            return "deepboot on the same %s; no inference in this workload, so nothing can be lent".formatted(gpus);
        }
        return played.loads().isEmpty()
                ? "no lending: same %s, no inference in this workload".formatted(gpus)
                : "no lending: training on its own %s, inference on the other %s"
                        .formatted(gpus, Text.number((long) layout.gpusOf(layout.nodes()) - training));
    }

    private static int trainingGpus(SimulatedNodes.Layout layout) {
        return layout.gpusOf(layout.trainingNodes());
    }

    /** Training's nodes, which depend on the workload, for a report. */
    RunFacts.Parameter trainingNodes() {
        return new RunFacts.Parameter("training nodes", String.valueOf(layout().trainingNodes()));
    }

    /** The warning that is known before anything is played. */
    Optional<RunWarning> overload() {
        SimulatedNodes.Layout layout = play.layout(DOMAIN, seed);
        int gpus = layout.gpusOf(layout.nodes()) - trainingGpus(layout);
        return played.loads().isEmpty() ? Optional.empty() : RunWarnings.overload(InferenceNeed.of(played, gpus));
    }

    /** Warnings that hold for all runs. */
    List<RunWarning> warnings(List<Played> runs, Optional<References> references) {
        List<RunWarning> warnings = new ArrayList<>();
        overload().ifPresent(warnings::add);
        references
                .flatMap(each ->
                        RunWarnings.neverFull(runs.stream().map(Played::facts).toList(), each))
                .ifPresent(warnings::add);
        return warnings;
    }

    /** Replays the workload with a policy. */
    Played replay(Run run) {
        return replay(run, layout());
    }

    /** Without inference services, training has all nodes, unless the options leave it fewer. */
    private SimulatedNodes.Layout layout() {
        return played.loads().isEmpty() ? play.layoutForTraining(DOMAIN, seed) : play.layout(DOMAIN, seed);
    }

    /** The baseline has all GPUs that policies may use, where no services need any. */
    private SimulatedNodes.Layout layoutOfBaseline() {
        return played.loads().isEmpty() ? play.layoutOfTraining(DOMAIN, seed) : play.layout(DOMAIN, seed);
    }

    private Played replay(Run run, SimulatedNodes.Layout layout) {
        new WorkloadFit(played, layout, run.lends).check();
        ReplaySettings settings = ReplaySettings.of(run.policy, run.lends, conditions.inPlace, layout)
                .withAbilities(conditions.abilities)
                .withOutages(conditions.outages)
                .withoutLog();
        Optional<HistoryChecker> checker =
                conditions.check ? Optional.of(new HistoryChecker(layout.domain())) : Optional.empty();
        Replayed replayed = replayed(run, settings, checker);
        lines.finished.accept(line(run.title(), replayed.outcome()));
        Optional<Verdict> verdict =
                checker.map(judge -> judge.verdict(replayed.outcome().decisions(), replayed.leases()));
        verdict.ifPresent(judged -> say(run, judged));
        ReportedRun named = replayed.facts().withName(run.title());
        ReportedRun facts = verdict.map(named::withVerdict).orElse(named);
        return new Played(run, replayed.outcome(), facts, replayed.events(), verdict);
    }

    private Replayed replayed(Run run, ReplaySettings settings, Optional<HistoryChecker> checker) {
        try {
            return Replay.run(
                    played,
                    settings,
                    progress -> lines.progress.accept(line(run, progress)),
                    event -> checker.ifPresent(judge -> judge.take(event)));
        } catch (UnfinishedReplayException e) {
            throw UserError.failed(String.valueOf(e.getMessage()));
        }
    }

    private void say(Run run, Verdict verdict) {
        lines.notes.accept("%s: checked %s and %s (%s lends, %s reclaims, %s releases): %s"
                .formatted(
                        run.title(),
                        Text.plural(verdict.events(), "event"),
                        Text.plural(verdict.decisions(), "decision"),
                        Text.number((long) verdict.lends()),
                        Text.number((long) verdict.reclaims()),
                        Text.number((long) verdict.releases()),
                        verdict.isContent()
                                ? "every promise was kept"
                                : Text.plural(verdict.violations().size(), "violation")));
        verdict.violations().forEach(violation -> lines.notes.accept("  " + violation));
    }

    /** The result of a run in a line. */
    static String line(String title, RunOutcome outcome) {
        Summary summary = Summary.of(outcome);
        return "%s: %s, average JCT %s, %s GPU-h lent, %s, %.1f s of wall time"
                .formatted(
                        title,
                        Text.plural(summary.jobs().completed(), "job"),
                        summary.jct(Distribution::mean).map(Text::duration).orElse("unknown"),
                        Text.number(summary.lending().gpuHours()),
                        Text.plural(outcome.decisions().size(), "decision"),
                        outcome.wallSeconds());
    }

    private static String line(Run run, ReplayProgress progress) {
        return "%s: %.0f %% after %d s%s, at virtual %s"
                .formatted(
                        run.title(),
                        100 * progress.share(),
                        progress.wall().toSeconds(),
                        left(progress.share(), progress.wall()),
                        Text.second(progress.now()));
    }

    /** An estimate of the time left, from the share that is done: {@code , about 40 s left}. */
    static String left(double share, Duration wall) {
        return share < ESTIMATED_FROM
                ? ""
                : ", about %s left".formatted(Text.duration(Math.ceil(wall.toMillis() / 1000.0 * (1 - share) / share)));
    }
}
