package io.lendstream.launcher;

import io.lendstream.core.history.Verdict;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.launcher.ReplayExperiment.Played;
import io.lendstream.launcher.ReplayExperiment.Run;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.CommandOutput;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.settings.Units;
import io.lendstream.simulator.published.PublishedSettings;
import io.lendstream.simulator.replay.Outages;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.report.PngPlots;
import io.lendstream.simulator.report.Report;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.Anchors;
import io.lendstream.simulator.report.Standings;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.results.RunFactsOf;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
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

    private final CommandOutput output =
            new CommandOutput(() -> spec.commandLine().getOut());
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
        return publishedTiming.isPresent()
                ? replayPublished(runs, publishedTiming.get(), inPlace, anchored)
                : replay(runs, inPlace, anchored, outages);
    }

    private int replay(List<Run> runs, boolean inPlace, Optional<Boolean> anchored, Outages outages) {
        Workload played = play.load(workload, ReplayExperiment.DOMAIN);
        Bounds.checkOut(out);
        var experiment = new ReplayExperiment(played, play, inPlace, outages, check, this::say);
        List<Played> asked = runs.stream().map(experiment::replay).toList();
        List<Played> compared =
                anchored.orElseGet(() -> experiment.isQuick(asked)) ? experiment.anchors(asked) : List.of();
        write(
                asked.stream().map(Played::outcome).toList(),
                asked.stream().map(Played::facts).toList(),
                compared.isEmpty()
                        ? Optional.empty()
                        : Optional.of(new Anchors(
                                compared.get(0).facts(), compared.get(1).facts())));
        boolean content = Stream.concat(asked.stream(), compared.stream())
                .flatMap(run -> run.verdict().stream())
                .allMatch(Verdict::isContent);
        return content ? 0 : UserError.FAILED;
    }

    private int replayPublished(List<Run> runs, String timing, boolean inPlace, Optional<Boolean> anchored) {
        if (nodeMtbf.isPresent()) {
            throw UserError.badUsage("--node-mtbf must be left out with --published-timing: no node is lost there.");
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
        var experiment = new PublishedExperiment(workload, play, timing(timing), inPlace, this::say);
        List<RunOutcome> outcomes = experiment.replay(runs);
        write(outcomes, outcomes.stream().map(RunFactsOf::figures).toList(), Optional.empty());
        return outcomes.size() == runs.size() ? 0 : UserError.FAILED;
    }

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
        output.say(line);
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
