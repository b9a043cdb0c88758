package io.lendstream.launcher;

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
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Replays of one workload with several policies, on a cluster of one size. */
final class ReplayExperiment {
    static final String DOMAIN = "replay";
    /** A day on 64 GPUs is a sixth of it. */
    private static final int QUICK_EVENTS = 500_000;

    private final Workload played;
    private final PlayOptions play;
    private final boolean inPlace;
    private final Outages outages;
    private final boolean check;
    private final Consumer<String> say;

    /**
     * A policy to replay with.
     *
     * @param lends whether with lending
     */
    record Run(String policy, boolean lends) {
        static final Run FLOOR = new Run(ReplaySettings.NO_LENDING, false);
        static final Run CEILING = new Run("clairvoyant", true);

        /** Such as {@code deepboot, lending on}. */
        String title() {
            return "%s, lending %s".formatted(policy, lends ? "on" : "off");
        }

        boolean isFloor() {
            return equals(FLOOR) || equals(new Run("deepboot", false));
        }
    }

    /**
     * A run that was played.
     *
     * @param verdict on its history, where it was checked
     */
    record Played(Run run, RunOutcome outcome, ReportedRun facts, long events, Optional<Verdict> verdict) {}

    /**
     * An experiment.
     *
     * @param inPlace whether jobs change GPUs without a restart
     * @param check whether histories are checked
     * @param say takes lines about its progress
     */
    ReplayExperiment(
            Workload played, PlayOptions play, boolean inPlace, Outages outages, boolean check, Consumer<String> say) {
        this.played = played;
        this.play = play;
        this.inPlace = inPlace;
        this.outages = outages;
        this.check = check;
        this.say = say;
    }

    /** Whether runs were short enough for two more that nobody asked for. */
    boolean isQuick(List<Played> runs) {
        long events = runs.stream().mapToLong(Played::events).max().orElse(0);
        if (events > QUICK_EVENTS) {
            say.accept("floor and ceiling are left out: a run takes in %d events, more than %d; --anchors on adds them"
                    .formatted(events, QUICK_EVENTS));
        }
        return events <= QUICK_EVENTS;
    }

    /** The floor and the ceiling; nothing where one of them would come to no end. */
    List<Played> anchors(List<Played> asked) {
        Optional<Played> floor = among(asked, Run::isFloor);
        Optional<Played> ceiling = among(asked, Run.CEILING::equals);
        int training = play.trainingNodes() * play.gpusPerNode();
        if (played.leastGpus() > training) {
            say.accept("there is no floor to compare with: a job needs %d GPUs, and training has %d without lending"
                    .formatted(played.leastGpus(), training));
            return List.of();
        }
        if (floor.isEmpty() || ceiling.isEmpty()) {
            say.accept("and for comparison the floor and the ceiling; --anchors off leaves them out:");
        }
        try {
            return List.of(floor.orElseGet(() -> replay(Run.FLOOR)), ceiling.orElseGet(() -> replay(Run.CEILING)));
        } catch (IllegalStateException e) {
            say.accept("there is nothing to compare with: " + e.getMessage());
            return List.of();
        }
    }

    private static Optional<Played> among(List<Played> runs, Predicate<Run> wanted) {
        return runs.stream().filter(each -> wanted.test(each.run())).findFirst();
    }

    /** Replays the workload with a policy. */
    Played replay(Run run) {
        boolean nobodyToBorrowFrom = run.lends && played.loads().isEmpty();
        SimulatedNodes.Layout layout = nobodyToBorrowFrom ? play.layoutForTraining(DOMAIN) : play.layout(DOMAIN);
        checkFits(run, layout);
        ReplaySettings settings = ReplaySettings.of(run.policy, run.lends, inPlace, layout)
                .withOutages(outages)
                .withoutLog();
        Optional<HistoryChecker> checker = check ? Optional.of(new HistoryChecker(layout.domain())) : Optional.empty();
        Replayed replayed = Replay.run(
                played,
                settings,
                progress -> say.accept(line(run, progress)),
                event -> checker.ifPresent(judge -> judge.take(event)));
        say.accept(line(replayed.outcome()));
        Optional<Verdict> verdict =
                checker.map(judge -> judge.verdict(replayed.outcome().decisions(), replayed.leases()));
        verdict.ifPresent(judged -> judged.violations().forEach(violation -> say.accept("  " + violation)));
        ReportedRun facts = verdict.map(replayed.facts()::withVerdict).orElse(replayed.facts());
        return new Played(run, replayed.outcome(), facts, replayed.events(), verdict);
    }

    /** Whether every job can run at all, by the GPUs that training can have at most. */
    private void checkFits(Run run, SimulatedNodes.Layout layout) {
        int most = (run.lends ? layout.nodes() : layout.trainingNodes()) * layout.gpusPerNode();
        for (TrainingTask task : played.tasks()) {
            if (task.job().scaling().minGpus() > most) {
                throw UserError.badUsage(
                        "job %s needs %d GPUs, but training has %d at most with lending %s; give it more nodes."
                                .formatted(
                                        task.job().job(),
                                        task.job().scaling().minGpus(),
                                        most,
                                        run.lends ? "on" : "off"));
            }
        }
    }

    /** What a run came to, in a line. */
    static String line(RunOutcome outcome) {
        Summary summary = Summary.of(outcome);
        return "%s: %d jobs, average JCT %s, %.1f GPU-h lent, %d decisions, %.1f s"
                .formatted(
                        outcome.run().title(),
                        summary.jobs().completed(),
                        summary.jct(Distribution::mean).map("%.0f s"::formatted).orElse("unknown"),
                        summary.lending().gpuHours(),
                        outcome.decisions().size(),
                        outcome.wallSeconds());
    }

    private static String line(Run run, ReplayProgress progress) {
        return "%s: %.0f %% after %d s, at %s"
                .formatted(run.title(), 100 * progress.share(), progress.wall().toSeconds(), progress.now());
    }
}
