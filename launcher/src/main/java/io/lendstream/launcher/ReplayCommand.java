package io.lendstream.launcher;

import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.launcher.ReplayExperiment.Conditions;
import io.lendstream.launcher.ReplayExperiment.Lines;
import io.lendstream.launcher.ReplayExperiment.Played;
import io.lendstream.launcher.ReplayExperiment.Run;
import io.lendstream.launcher.cli.Bounds;
import io.lendstream.launcher.cli.Marks;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.settings.Units;
import io.lendstream.simulator.replay.Outages;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.report.PngPlots;
import io.lendstream.simulator.report.Remarks;
import io.lendstream.simulator.report.Report;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.report.RunWarning;
import io.lendstream.simulator.report.RunWarnings;
import io.lendstream.simulator.report.SeedFacts;
import io.lendstream.simulator.report.SeedFailure;
import io.lendstream.simulator.report.SeedTable;
import io.lendstream.simulator.report.Standings;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.results.RunFactsOf;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Replays a workload in virtual time, without a broker. */
@Command(
        name = "replay",
        description = {
            "Replay a workload in virtual time, without a broker, by the same code that decides in production.",
            "Several policies, and lending on and off, are compared on the same input, with one seed or with several."
        },
        customSynopsis = "lendstream replay --workload W[,W...] --out DIR [OPTIONS]",
        footer = {
            "Example: lendstream replay --workload day --policy deepboot,tiresias \\",
            "             --seeds 5 --out out/replay"
        })
final class ReplayCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Option(
            names = "--workload",
            paramLabel = "W[,W...]",
            required = true,
            description = {
                "Presets by name ('lendstream presets' lists them), and files: lists of jobs, services or queues, lists in "
                        + "published formats, or a YAML file with all of them.",
                "The header tells formats apart. The section 'cluster' of a YAML file sets the nodes, unless options do."
            })
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
            description = "Whether training may use idle inference GPUs. Default: ${DEFAULT-VALUE}.")
    private String lending = "on";

    @Option(
            names = {"--anchors", "--references"},
            paramLabel = "on|off",
            description = {
                "Whether the same input is also replayed without lending (the no-lending baseline) and with an oracle "
                        + "(clairvoyant), for comparison.",
                "Default: on, but off with --published-timing, and without --seeds if a run has more than 500,000 events."
            })
    private Optional<String> references = Optional.empty();

    @Option(
            names = "--seeds",
            paramLabel = "N|LIST",
            description = {
                "Replay with several seeds, and report means with 95 %% intervals: a number N for the seeds 1 to N, a list "
                        + "such as 1,4,9, or a range such as 3-12. Excludes --seed.",
                "Detailed files and charts are of the first seed that does not fail."
            })
    private Optional<String> seeds = Optional.empty();

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

    @Mixin
    private KindOptions kinds = new KindOptions();

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
                    "Reproduce the published simulator of DeepBoot or Pollux, flaws included, to compare with published figures. Needs their workload files, or a list of rigid jobs. --seed perturbs the starting points of online fits by 1e-9.")
    private Optional<String> publishedTiming = Optional.empty();

    @Option(
            names = "--node-mtbf",
            paramLabel = "T",
            description = "Mean time between failures of a node, such as 200h. Default: no node fails.")
    private Optional<String> nodeMtbf = Optional.empty();

    @Option(
            names = "--node-repair",
            paramLabel = "T",
            defaultValue = "1h",
            description = "Time from the failure of a node until it is back. Default: ${DEFAULT-VALUE}.")
    private String nodeRepair = "1h";

    @Option(
            names = "--check",
            description = "Also replay every decision from the log, check the promises, and print the verdict.")
    private boolean check;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Where results are written.")
    private Path out = Path.of("");

    private Optional<PngPlots> painter = Optional.empty();

    @Override
    public Integer call() {
        kinds.apply(play, workload);
        play.checkForReplay(100_000, publishedTiming.isPresent());
        boolean inPlace = isOn("--afe", afe);
        Optional<Boolean> referenced = references.map(value -> isOn("--references", value));
        Optional<List<Long>> several = severalSeeds();
        Outages outages = outages();
        List<Run> runs = runs();
        painter = plots.map(value -> isOn("--plots", value)).orElse(publishedTiming.isEmpty())
                ? Optional.of(new PngPlots())
                : Optional.empty();
        if (publishedTiming.isPresent()) {
            return replayPublished(runs, publishedTiming.get(), inPlace, referenced);
        }
        policies.stream()
                .distinct()
                .flatMap(policy -> RunWarnings.policy(policy).stream())
                .forEach(this::warn);
        var conditions = new Conditions(inPlace, kinds.abilities(), outages, check);
        return several.isPresent()
                ? replaySeeds(runs, conditions, referenced, several.get())
                : replay(runs, conditions, referenced);
    }

    private Optional<List<Long>> severalSeeds() {
        if (seeds.isPresent() && spec.commandLine().getParseResult().hasMatchedOption("--seed")) {
            throw UserError.badUsage("--seed and --seeds exclude each other; leave one of them out.");
        }
        if (seeds.isPresent() && publishedTiming.isPresent()) {
            throw UserError.badUsage(
                    "--seeds must be left out with --published-timing, whose input is not drawn by a seed; use --seed.");
        }
        return seeds.map(SeedList::parse);
    }

    private int replay(List<Run> runs, Conditions conditions, Optional<Boolean> referenced) {
        Workload played = play.load(workload, ReplayExperiment.DOMAIN);
        Bounds.checkOut(out);
        var lines = new Lines(this::say, this::say, this::say);
        var experiment = new ReplayExperiment(played, play, conditions, play.seed(), lines);
        experiment.overload().ifPresent(this::warn);
        List<Played> asked = runs.stream().map(experiment::replay).toList();
        List<Played> compared =
                referenced.orElseGet(() -> experiment.isQuick(asked)) ? experiment.references(asked) : List.of();
        Optional<References> measure = experiment.measure(compared);
        List<RunWarning> warnings = experiment.warnings(asked, measure);
        new ResultFiles(out).write(asked.stream().map(Played::outcome).toList(), measure, warnings);
        List<ReportedRun> facts = asked.stream().map(Played::facts).toList();
        report(
                List.of(new RunFacts.Parameter("seed", String.valueOf(play.seed())), experiment.trainingNodes()),
                facts,
                measure,
                remarks(
                        withSlo(warnings, facts, measure),
                        measure.map(any -> experiment.baseline()),
                        Optional.empty()));
        return Stream.concat(asked.stream(), compared.stream()).allMatch(Played::isContent) ? 0 : UserError.FAILED;
    }

    private int replaySeeds(
            List<Run> runs, Conditions conditions, Optional<Boolean> referenced, List<Long> severalSeeds) {
        Bounds.checkOut(out);
        var experiment = new SeedExperiment(workload, play, conditions, runs, referenced.orElse(true), this::say);
        SeedExperiment.Result result = experiment.replay(severalSeeds);
        SeedExperiment.Details first = result.first();
        new ResultFiles(out)
                .write(
                        first.asked().stream().map(Played::outcome).toList(),
                        result.summaries(),
                        Optional.of(result.figures()));
        Optional<References> measure = first.measure();
        List<ReportedRun> facts = first.asked().stream().map(Played::facts).toList();
        report(
                List.of(
                        new RunFacts.Parameter("seeds", seeds.orElse("")),
                        new RunFacts.Parameter("single runs", "seed " + first.seed()),
                        first.trainingNodes()),
                facts,
                measure,
                remarks(result.warnings(), measure.map(any -> first.baseline()), Optional.of(result.facts())));
        List<SeedFailure> failures = result.facts().failures();
        failures.forEach(failure -> print(spec.commandLine().getErr(), failure.line()));
        return result.content() && failures.isEmpty() ? 0 : UserError.FAILED;
    }

    /** Warnings that hold for all runs, and those of single runs. */
    private static List<RunWarning> withSlo(
            List<RunWarning> general, List<ReportedRun> runs, Optional<References> measure) {
        List<RunWarning> warnings = new ArrayList<>(general);
        Stream.concat(runs.stream(), measure.stream().map(References::baseline))
                .distinct()
                .flatMap(run -> RunWarnings.slo(run).stream())
                .forEach(warnings::add);
        return warnings;
    }

    /** All warnings, those of policies included. */
    private Remarks remarks(List<RunWarning> ofRuns, Optional<String> baseline, Optional<SeedFacts> severalSeeds) {
        List<RunWarning> warnings = new ArrayList<>(ofRuns);
        policies.stream()
                .distinct()
                .flatMap(policy -> RunWarnings.policy(policy).stream())
                .forEach(warnings::add);
        return new Remarks(warnings, baseline, severalSeeds);
    }

    private int replayPublished(List<Run> runs, String timing, boolean inPlace, Optional<Boolean> referenced) {
        if (nodeMtbf.isPresent()) {
            throw UserError.badUsage("--node-mtbf must be left out with --published-timing: no node fails there.");
        }
        if (check) {
            throw UserError.badUsage("--check must be left out with --published-timing: no decisions are made there.");
        }
        if (referenced.orElse(false)) {
            throw UserError.badUsage(
                    "--references is 'on', but --published-timing has none; name the policies to compare in --policy.");
        }
        Bounds.checkOut(out);
        var experiment =
                new PublishedExperiment(workload, play, PublishedExperiment.timing(timing), inPlace, this::say);
        List<RunOutcome> outcomes = experiment.replay(runs);
        new ResultFiles(out).write(outcomes);
        report(
                List.of(
                        new RunFacts.Parameter("seed", String.valueOf(play.seed())),
                        new RunFacts.Parameter("training nodes", String.valueOf(play.trainingNodes()))),
                outcomes.stream().map(RunFactsOf::figures).toList(),
                Optional.empty(),
                Remarks.NONE);
        return outcomes.size() == runs.size() ? 0 : UserError.FAILED;
    }

    private List<Run> runs() {
        List<Boolean> modes = modes();
        policies.forEach(ReplayCommand::check);
        List<Run> runs = new ArrayList<>();
        for (String policy : new LinkedHashSet<>(policies)) {
            List<Boolean> asked = policy.equals(ReplaySettings.NO_LENDING) ? List.of(false) : modes;
            asked.forEach(lends -> runs.add(new Run(policy, lends)));
        }
        return runs;
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

    private void report(
            List<RunFacts.Parameter> own, List<ReportedRun> runs, Optional<References> measure, Remarks remarks) {
        List<RunFacts.Parameter> parameters = play.parameters(Workloads.title(workload), afe);
        parameters.addAll(
                4, Stream.concat(kinds.parameters().stream(), own.stream()).toList());
        RunFacts facts =
                new RunFacts("Lendstream replay: " + Workloads.title(workload), parameters, runs, measure, remarks);
        Report.write(facts, out, painter).ifPresent(this::say);
        if (publishedTiming.isEmpty()) {
            say("");
            remarks.seeds().flatMap(SeedTable::heading).ifPresent(this::say);
            Standings.lines(facts).forEach(this::say);
            remarks.seeds().ifPresent(seedFacts -> {
                say("");
                SeedTable.lines(seedFacts).forEach(this::say);
            });
            say("");
        }
        remarks.warnings().forEach(this::warn);
        say("results in " + out);
    }

    private void warn(RunWarning warning) {
        say(warning.line());
    }

    private void say(String line) {
        print(spec.commandLine().getOut(), line);
    }

    private static void print(PrintWriter writer, String line) {
        writer.println(Marks.line(line));
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
