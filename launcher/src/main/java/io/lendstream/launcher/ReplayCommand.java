package io.lendstream.launcher;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.lending.Policies;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.service.settings.Units;
import io.lendstream.simulator.published.PublishedReplay;
import io.lendstream.simulator.published.PublishedSettings;
import io.lendstream.simulator.published.PublishedWorkload;
import io.lendstream.simulator.replay.Outages;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplayProgress;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.report.HtmlReport;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.results.RunFactsOf;
import io.lendstream.simulator.results.RunOutcome;
import io.lendstream.simulator.results.Summary;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
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

    @Option(names = "--nodes", paramLabel = "N", defaultValue = "16", description = "Nodes. Default: ${DEFAULT-VALUE}.")
    private int nodes;

    @Option(
            names = "--gpus-per-node",
            paramLabel = "G",
            defaultValue = "4",
            description = "GPUs of each. Default: ${DEFAULT-VALUE}.")
    private int gpusPerNode;

    @Option(
            names = "--training-nodes",
            paramLabel = "T",
            description =
                    "How many of the nodes are training's. Default: half; all where lending is on and the workload has no inference.")
    private Optional<Integer> trainingNodes = Optional.empty();

    @Option(names = "--profiles", paramLabel = "DIR", description = "Training profiles, a directory an application.")
    private Optional<Path> profiles = Optional.empty();

    @Option(
            names = "--services",
            paramLabel = "FILE",
            description = "Makes request-rate series into services: a CSV with a line a service.")
    private Optional<Path> services = Optional.empty();

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
                    "Event by event as the simulator of the DeepBoot or the Pollux paper, with its flaws, to compare with published figures. For their workload files; a seed moves the start of online fits by a billionth a step.")
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
            names = "--seed",
            paramLabel = "S",
            defaultValue = "1",
            description = "Of all chance. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--check",
            description = "Also make every decision a second time from the log, and check what all of them promise.")
    private boolean check;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Where results are written.")
    private Path out = Path.of("");

    @Override
    public Integer call() {
        int training = trainingNodes.orElse(nodes / 2);
        Bounds.check("--nodes", nodes, 2, 100_000);
        Bounds.check("--gpus-per-node", gpusPerNode, 1, 64);
        Bounds.checkTrainingNodes(training, nodes);
        boolean inPlace = inPlace();
        Outages outages = outages();
        List<Run> runs = runs();
        if (publishedTiming.isPresent()) {
            if (nodeMtbf.isPresent()) {
                throw UserError.badUsage(
                        "--node-mtbf must be left out with --published-timing: no node is lost there.");
            }
            Bounds.checkOut(out);
            replayPublished(runs, timing(publishedTiming.get()), training, inPlace);
            return 0;
        }
        Workload played = load(training);
        Bounds.checkOut(out);
        List<RunOutcome> outcomes = new ArrayList<>();
        List<RunFacts.Run> facts = new ArrayList<>();
        boolean content = true;
        for (Run run : runs) {
            boolean nobodyToBorrowFrom = run.lends && played.loads().isEmpty() && trainingNodes.isEmpty();
            var layout = new SimulatedNodes.Layout(
                    new DomainId("replay"), nodes, gpusPerNode, nobodyToBorrowFrom ? nodes : training, seed);
            ReplaySettings settings = ReplaySettings.of(run.policy, run.lends, inPlace, layout)
                    .withOutages(outages)
                    .withoutLog();
            Optional<HistoryChecker> checker =
                    check ? Optional.of(new HistoryChecker(layout.domain())) : Optional.empty();
            Replayed replayed = replay(played, settings, event -> checker.ifPresent(all -> all.take(event)));
            outcomes.add(replayed.outcome());
            RunFacts.Run told = replayed.facts();
            if (checker.isPresent()) {
                Verdict verdict = checker.get().verdict(replayed.outcome().decisions(), replayed.leases());
                verdict.violations().forEach(violation -> say("  " + violation));
                content &= verdict.isContent();
                told = told.withVerdict(verdict);
            }
            facts.add(told);
        }
        write(outcomes, facts);
        return content ? 0 : UserError.FAILED;
    }

    /**
     * A run that was asked for.
     *
     * @param lends whether with lending
     */
    private record Run(String policy, boolean lends) {}

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

    private void replayPublished(List<Run> runs, PublishedSettings.Timing timing, int training, boolean inPlace) {
        Path file = Path.of(workload);
        if (!Files.isRegularFile(file) || !PublishedWorkload.knows(file)) {
            throw UserError.badUsage(
                    "--workload is '%s', but with --published-timing must be one file in the format of the DeepBoot or Pollux simulator (name,time,application,num_replicas,batch_size)."
                            .formatted(workload));
        }
        Path traces = profiles.orElseThrow(() -> UserError.badUsage(
                "--profiles is missing; with --published-timing it must be the directory of the published traces."));
        List<RunOutcome> outcomes = new ArrayList<>();
        for (Run run : runs) {
            boolean bare = run.policy.equals(ReplaySettings.NO_LENDING);
            try {
                PublishedSettings settings = PublishedSettings.of(bare ? "deepboot" : run.policy, nodes, gpusPerNode)
                        .withTiming(timing)
                        .withAfe(inPlace);
                RunOutcome outcome = new PublishedReplay(run.policy, run.lends, training, settings)
                        .withSeed(seed)
                        .run(PublishedWorkload.read(file), traces);
                say(outcome);
                outcomes.add(outcome);
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage(String.valueOf(e.getMessage()));
            }
        }
        write(outcomes, outcomes.stream().map(RunFactsOf::figures).toList());
    }

    private static PublishedSettings.Timing timing(String name) {
        return switch (name) {
            case "deepboot" -> PublishedSettings.Timing.DEEPBOOT;
            case "pollux" -> PublishedSettings.Timing.POLLUX;
            default ->
                throw UserError.badUsage("--published-timing is '%s', but must be deepboot or pollux.".formatted(name));
        };
    }

    private Workload load(int training) {
        try {
            return Workloads.load(
                    workload, Scenes.of("replay", seed, nodes, gpusPerNode, training, profiles, services));
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage(String.valueOf(e.getMessage()));
        }
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

    private Replayed replay(Workload played, ReplaySettings settings, Consumer<DomainEvent> events) {
        String name = "%s, lending %s"
                .formatted(settings.policyName(), settings.scheduler().lending() ? "on" : "off");
        Replayed replayed = Replay.run(played, settings, progress -> say(name, progress), events);
        say(replayed.outcome());
        return replayed;
    }

    private void say(RunOutcome outcome) {
        Summary summary = Summary.of(outcome);
        say("%s: %d jobs, average JCT %.0f s, %.1f GPU-h lent, %d decisions, %.1f s"
                .formatted(
                        outcome.run().title(),
                        summary.completedJobs(),
                        summary.jctSeconds().mean(),
                        summary.gpuHoursLent(),
                        outcome.decisions().size(),
                        outcome.wallSeconds()));
    }

    private void say(String name, ReplayProgress progress) {
        say("%s: %.0f %% after %d s, at %s"
                .formatted(name, 100 * progress.share(), progress.wall().toSeconds(), progress.now()));
    }

    private void write(List<RunOutcome> outcomes, List<RunFacts.Run> facts) {
        new ResultFiles(out).write(outcomes);
        RunFacts all = new RunFacts(
                "Lendstream replay: " + workload,
                List.of(
                        new RunFacts.Parameter("workload", workload),
                        new RunFacts.Parameter("nodes", String.valueOf(nodes)),
                        new RunFacts.Parameter("GPUs per node", String.valueOf(gpusPerNode)),
                        new RunFacts.Parameter("AFE", afe),
                        new RunFacts.Parameter("seed", String.valueOf(seed))),
                facts);
        try {
            Files.writeString(out.resolve("report.html"), HtmlReport.render(all));
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written".formatted(out.resolve("report.html")), e);
        }
        say("results in " + out);
    }

    private void say(String line) {
        PrintWriter writer = spec.commandLine().getOut();
        writer.println(line);
        writer.flush();
    }

    private boolean inPlace() {
        return switch (afe) {
            case "on" -> true;
            case "off" -> false;
            default -> throw UserError.badUsage("--afe is '%s', but must be on or off.".formatted(afe));
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

    private List<Boolean> modes() {
        return switch (lending) {
            case "on" -> List.of(true);
            case "off" -> List.of(false);
            case "both" -> List.of(true, false);
            default -> throw UserError.badUsage("--lending is '%s', but must be on, off or both.".formatted(lending));
        };
    }
}
