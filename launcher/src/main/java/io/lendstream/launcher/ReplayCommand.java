package io.lendstream.launcher;

import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.settings.Units;
import io.lendstream.service.text.Printable;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.published.PublishedReplay;
import io.lendstream.simulator.published.PublishedSettings;
import io.lendstream.simulator.published.PublishedWorkload;
import io.lendstream.simulator.replay.Outages;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplayProgress;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.report.PngPlots;
import io.lendstream.simulator.report.Report;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.Anchors;
import io.lendstream.simulator.report.Standings;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.results.RunFactsOf;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.TrainingTask;
import io.lendstream.simulator.workload.Workload;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A workload in virtual time, without a broker. */
@Command(
        name = "replay",
        description = {
            "Replay a workload in virtual time, without a broker, by the same code that decides in production.",
            "Several policies, and lending on and off, are compared on the same input."
        },
        customSynopsis = "lendstream replay --workload W[,W...] --out DIR [OPTIONS]",
        footer = {
            "Example: lendstream replay --workload day --policy deepboot,lendstream \\",
            "             --lending both --out out/replay"
        })
final class ReplayCommand implements Callable<Integer> {
    private static final String DOMAIN = "replay";
    /** A day on 64 GPUs is a sixth of it. */
    private static final int QUICK_EVENTS = 500_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--workload",
            paramLabel = "W[,W...]",
            required = true,
            description = "Presets by name ('lendstream presets' lists them), or files in a published format.")
    private String workload = "";

    @Option(
            names = "--policy",
            paramLabel = "P",
            split = ",",
            defaultValue = "deepboot",
            description = {
                "Policies with their settings, name:key=value; 'lendstream policies' lists them.",
                "Default: ${DEFAULT-VALUE}."
            })
    private List<String> policies = List.of();

    @Option(
            names = "--lending",
            paramLabel = "on|off|both",
            defaultValue = "on",
            description = "Whether training may use inference's idle GPUs. Default: ${DEFAULT-VALUE}.")
    private String lending = "on";

    @Option(
            names = "--anchors",
            paramLabel = "on|off",
            description = {
                "Whether the same input is replayed for comparison without lending (the floor) and with a clairvoyant lender "
                        + "(the ceiling), where these were not asked for.",
                "Default: on, but off with --published-timing and where a run takes in more than 500,000 events."
            })
    private Optional<String> anchors = Optional.empty();

    @Option(
            names = "--plots",
            paramLabel = "on|off",
            description = {
                "Whether the report's plots are written as PNG files, too.",
                "Default: on, but off with --published-timing."
            })
    private Optional<String> plots = Optional.empty();

    @Mixin
    private PlayOptions play = new PlayOptions();

    @Option(
            names = "--afe",
            paramLabel = "on|off",
            defaultValue = "on",
            description = "Whether jobs change GPUs in place instead of restarting. Default: ${DEFAULT-VALUE}.")
    private String afe = "on";

    @Option(
            names = "--published-timing",
            paramLabel = "deepboot|pollux",
            arity = "0..1",
            fallbackValue = "deepboot",
            description =
                    "Event by event as the simulator of the DeepBoot or the Pollux paper, with its flaws, to compare with published figures. For their workload files, and for lists of rigid jobs; a seed moves the start of online fits by a billionth a step.")
    private Optional<String> publishedTiming = Optional.empty();

    @Option(
            names = "--node-mtbf",
            paramLabel = "T",
            description = "Mean time that a node works until it is lost, such as 200h. Default: none is lost.")
    private Optional<String> nodeMtbf = Optional.empty();

    @Option(
            names = "--node-repair",
            paramLabel = "T",
            defaultValue = "1h",
            description = "From a node's loss until it is back. Default: ${DEFAULT-VALUE}.")
    private String nodeRepair = "1h";

    @Option(
            names = "--check",
            description = "Also make every decision a second time from the log, and check what all of them promise.")
    private boolean check;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Where results are written.")
    private Path out = Path.of("");

    private Optional<PngPlots> painter = Optional.empty();

    @Override
    public Integer call() {
        play.check(100_000);
        boolean inPlace = isOn("--afe", afe);
        Optional<Boolean> anchored = anchors.map(value -> isOn("--anchors", value));
        Outages outages = outages();
        List<Run> runs = runs();
        painter = plots.map(value -> isOn("--plots", value)).orElse(publishedTiming.isEmpty())
                ? Optional.of(new PngPlots())
                : Optional.empty();
        if (publishedTiming.isPresent()) {
            if (nodeMtbf.isPresent()) {
                throw UserError.badUsage(
                        "--node-mtbf must be left out with --published-timing: no node is lost there.");
            }
            if (check) {
                throw UserError.badUsage(
                        "--check must be left out with --published-timing: no decisions are made there that could be checked.");
            }
            if (anchored.orElse(false)) {
                throw UserError.badUsage(
                        "--anchors is 'on', but --published-timing has none; name the policies to compare in --policy.");
            }
            Bounds.checkOut(out);
            return replayPublished(runs, timing(publishedTiming.get()), inPlace) ? 0 : UserError.FAILED;
        }
        Workload played = play.load(workload, DOMAIN);
        Bounds.checkOut(out);
        List<Judged> asked =
                runs.stream().map(run -> replay(played, run, inPlace, outages)).toList();
        List<Judged> compared =
                anchored.orElseGet(() -> isQuick(asked)) ? anchors(played, asked, inPlace, outages) : List.of();
        write(
                asked.stream().map(Judged::outcome).toList(),
                asked.stream().map(Judged::facts).toList(),
                compared.isEmpty()
                        ? Optional.empty()
                        : Optional.of(new Anchors(
                                compared.get(0).facts(), compared.get(1).facts())));
        boolean content = Stream.concat(asked.stream(), compared.stream())
                .flatMap(judged -> judged.verdict().stream())
                .allMatch(Verdict::isContent);
        return content ? 0 : UserError.FAILED;
    }

    /**
     * A policy to replay with.
     *
     * @param lends whether with lending
     */
    private record Run(String policy, boolean lends) {
        static final Run FLOOR = new Run(ReplaySettings.NO_LENDING, false);
        static final Run CEILING = new Run("clairvoyant", true);

        boolean isFloor() {
            return equals(FLOOR) || equals(new Run("deepboot", false));
        }
    }

    /**
     * A run that was played.
     *
     * @param verdict on its history, where it was checked
     */
    private record Judged(Run run, RunOutcome outcome, ReportedRun facts, long events, Optional<Verdict> verdict) {}

    private List<Run> runs() {
        List<Boolean> modes = modes();
        policies.forEach(ReplayCommand::check);
        List<Run> runs = new ArrayList<>();
        for (String policy : policies) {
            List<Boolean> asked = policy.equals(ReplaySettings.NO_LENDING) ? List.of(false) : modes;
            asked.forEach(lends -> runs.add(new Run(policy, lends)));
        }
        return runs;
    }

    /** Whether runs were short enough for two more that nobody asked for. */
    private boolean isQuick(List<Judged> runs) {
        long events = runs.stream().mapToLong(Judged::events).max().orElse(0);
        if (events > QUICK_EVENTS) {
            say("floor and ceiling are left out: a run takes in %d events, more than %d; --anchors on adds them"
                    .formatted(events, QUICK_EVENTS));
        }
        return events <= QUICK_EVENTS;
    }

    /** The floor and the ceiling; nothing where one of them would come to no end. */
    private List<Judged> anchors(Workload played, List<Judged> asked, boolean inPlace, Outages outages) {
        Optional<Judged> floor = among(asked, Run::isFloor);
        Optional<Judged> ceiling = among(asked, Run.CEILING::equals);
        int training = play.trainingNodes() * play.gpusPerNode();
        if (played.leastGpus() > training) {
            say("there is no floor to compare with: a job needs %d GPUs, and training has %d without lending"
                    .formatted(played.leastGpus(), training));
            return List.of();
        }
        if (floor.isEmpty() || ceiling.isEmpty()) {
            say("and for comparison the floor and the ceiling; --anchors off leaves them out:");
        }
        try {
            return List.of(
                    floor.orElseGet(() -> replay(played, Run.FLOOR, inPlace, outages)),
                    ceiling.orElseGet(() -> replay(played, Run.CEILING, inPlace, outages)));
        } catch (IllegalStateException e) {
            say("there is nothing to compare with: " + e.getMessage());
            return List.of();
        }
    }

    private static Optional<Judged> among(List<Judged> runs, Predicate<Run> wanted) {
        return runs.stream().filter(judged -> wanted.test(judged.run())).findFirst();
    }

    private Judged replay(Workload played, Run run, boolean inPlace, Outages outages) {
        boolean nobodyToBorrowFrom = run.lends && played.loads().isEmpty();
        SimulatedNodes.Layout layout = nobodyToBorrowFrom ? play.layoutForTraining(DOMAIN) : play.layout(DOMAIN);
        checkFits(played, run, layout);
        ReplaySettings settings = ReplaySettings.of(run.policy, run.lends, inPlace, layout)
                .withOutages(outages)
                .withoutLog();
        Optional<HistoryChecker> checker = check ? Optional.of(new HistoryChecker(layout.domain())) : Optional.empty();
        String name = "%s, lending %s".formatted(run.policy, run.lends ? "on" : "off");
        Replayed replayed = Replay.run(
                played,
                settings,
                progress -> say(name, progress),
                event -> checker.ifPresent(judge -> judge.take(event)));
        say(replayed.outcome());
        Optional<Verdict> verdict =
                checker.map(judge -> judge.verdict(replayed.outcome().decisions(), replayed.leases()));
        verdict.ifPresent(judged -> judged.violations().forEach(violation -> say("  " + violation)));
        ReportedRun facts = verdict.map(replayed.facts()::withVerdict).orElse(replayed.facts());
        return new Judged(run, replayed.outcome(), facts, replayed.events(), verdict);
    }

    /** Whether every job can run at all, by the GPUs that training can have at most. */
    private static void checkFits(Workload played, Run run, SimulatedNodes.Layout layout) {
        int most = (run.lends ? layout.nodes() : layout.trainingNodes()) * layout.gpusPerNode();
        for (TrainingTask task : played.tasks()) {
            if (task.job().minGpus() > most) {
                throw UserError.badUsage(
                        "job %s needs %d GPUs, but training has %d at most with lending %s; give it more nodes."
                                .formatted(task.job().job(), task.job().minGpus(), most, run.lends ? "on" : "off"));
            }
        }
    }

    /** Whether all came to an end. */
    private boolean replayPublished(List<Run> runs, PublishedSettings.Timing timing, boolean inPlace) {
        Path file = Path.of(workload);
        boolean published = Files.isRegularFile(file) && PublishedWorkload.knows(file);
        Function<PublishedReplay, RunOutcome> replay = published ? published(file) : list();
        List<RunOutcome> outcomes = new ArrayList<>();
        boolean failed = false;
        for (Run run : runs) {
            boolean bare = run.policy.equals(ReplaySettings.NO_LENDING);
            try {
                PublishedSettings settings = PublishedSettings.of(
                                bare ? "deepboot" : run.policy, play.nodes(), play.gpusPerNode())
                        .withTiming(timing)
                        .withAfe(inPlace);
                RunOutcome outcome =
                        replay.apply(new PublishedReplay(run.policy, run.lends, play.trainingNodes(), settings)
                                .withSeed(play.seed()));
                say(outcome);
                outcomes.add(outcome);
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage(String.valueOf(e.getMessage()));
            } catch (IllegalStateException e) {
                say("%s, lending %s, fails: %s".formatted(run.policy, run.lends ? "on" : "off", e.getMessage()));
                failed = true;
            }
        }
        if (outcomes.isEmpty()) {
            throw UserError.failed("no policy came to an end");
        }
        write(outcomes, outcomes.stream().map(RunFactsOf::figures).toList(), Optional.empty());
        return !failed;
    }

    private Function<PublishedReplay, RunOutcome> published(Path file) {
        Path traces = play.profiles()
                .orElseThrow(
                        () -> UserError.badUsage(
                                "--profiles is missing; with --published-timing it must be the directory of the published traces."));
        PublishedWorkload rows = PublishedWorkload.read(file);
        return replay -> replay.run(rows, traces);
    }

    private Function<PublishedReplay, RunOutcome> list() {
        Workload list = play.load(workload, DOMAIN);
        if (!list.loads().isEmpty()
                || list.tasks().stream().anyMatch(task -> task.job().elastic())) {
            throw UserError.badUsage(
                    "--workload is '%s', but with --published-timing must be one file in the format of the DeepBoot or Pollux simulator (name,time,application,num_replicas,batch_size), or a list of rigid jobs."
                            .formatted(workload));
        }
        return replay -> replay.run(list);
    }

    private static PublishedSettings.Timing timing(String name) {
        return switch (name) {
            case "deepboot" -> PublishedSettings.Timing.DEEPBOOT;
            case "pollux" -> PublishedSettings.Timing.POLLUX;
            default ->
                throw UserError.badUsage("--published-timing is '%s', but must be deepboot or pollux.".formatted(name));
        };
    }

    private Outages outages() {
        if (nodeMtbf.isEmpty()) {
            return Outages.NONE;
        }
        try {
            return Outages.byChance(time("--node-mtbf", nodeMtbf.get()), time("--node-repair", nodeRepair));
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
    }

    private static Duration time(String option, String text) {
        return Units.duration(text)
                .filter(length -> !length.isZero())
                .orElseThrow(() -> UserError.badUsage(
                        "%s is '%s', but must be a length of time such as 90m or 200h.".formatted(option, text)));
    }

    private static void check(String policy) {
        if (policy.equals(ReplaySettings.NO_LENDING)) {
            return;
        }
        try {
            Policies.parse(policy);
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(
                    "%s; %s is deepboot with lending off.".formatted(e.getMessage(), ReplaySettings.NO_LENDING));
        }
    }

    private void say(RunOutcome outcome) {
        Summary summary = Summary.of(outcome);
        say("%s: %d jobs, average JCT %s, %.1f GPU-h lent, %d decisions, %.1f s"
                .formatted(
                        outcome.run().title(),
                        summary.completedJobs(),
                        summary.jct(Distribution::mean).map("%.0f s"::formatted).orElse("unknown"),
                        summary.gpuHoursLent(),
                        outcome.decisions().size(),
                        outcome.wallSeconds()));
    }

    private void say(String name, ReplayProgress progress) {
        say("%s: %.0f %% after %d s, at %s"
                .formatted(name, 100 * progress.share(), progress.wall().toSeconds(), progress.now()));
    }

    private void write(List<RunOutcome> outcomes, List<ReportedRun> runs, Optional<Anchors> measure) {
        new ResultFiles(out).write(outcomes, measure);
        RunFacts facts = new RunFacts(
                "Lendstream replay: " + workload,
                List.of(
                        new RunFacts.Parameter("workload", workload),
                        new RunFacts.Parameter("nodes", String.valueOf(play.nodes())),
                        new RunFacts.Parameter("GPUs per node", String.valueOf(play.gpusPerNode())),
                        new RunFacts.Parameter("AFE", afe),
                        new RunFacts.Parameter("seed", String.valueOf(play.seed())),
                        new RunFacts.Parameter("jobs of lists", play.listJobs())),
                runs,
                measure);
        Report.write(facts, out, painter).ifPresent(this::say);
        if (measure.isPresent()) {
            say("");
            Standings.lines(facts).forEach(this::say);
            say("");
        }
        say("results in " + out);
    }

    private void say(String line) {
        PrintWriter writer = spec.commandLine().getOut();
        writer.println(Printable.line(line));
        writer.flush();
    }

    private static boolean isOn(String option, String value) {
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw UserError.badUsage("%s is '%s', but must be on or off.".formatted(option, value));
        };
    }

    private List<Boolean> modes() {
        return switch (lending) {
            case "on" -> List.of(true);
            case "off" -> List.of(false);
            case "both" -> List.of(true, false);
            default -> throw UserError.badUsage("--lending is '%s', but must be on, off or both.".formatted(lending));
        };
    }
}
