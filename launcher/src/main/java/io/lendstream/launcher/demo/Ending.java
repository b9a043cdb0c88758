package io.lendstream.launcher.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.report.FactsCollector;
import io.lendstream.simulator.report.HtmlReport;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What remains of a demo: figures beside those of the same input replayed without lending, files, a report. */
final class Ending {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final DemoOptions options;
    private final PrintStream out;
    private final Path played;

    /** @param played directory into which the load generator wrote its results */
    Ending(DemoOptions options, PrintStream out, Path played) {
        this.options = options;
        this.out = out;
        this.played = played;
    }

    /** Replays the input with and without lending, writes the files, and prints the figures. */
    void tell(FactsCollector facts, Verdict verdict, long residentBytes) {
        Workload workload = Workloads.load(options.workload(), scene());
        JsonNode demo = read(played.resolve("summary.json")).get(0);
        Optional<Instant> brokenOff = Optional.of(facts.facts().to())
                .filter(end ->
                        demo.get("completedJobs").asInt() < workload.tasks().size());
        out.println("replaying the same input%s without lending, and with it, in virtual time"
                .formatted(brokenOff
                        .map(end -> " up to %s, where the play was broken off,".formatted(Screen.at(end)))
                        .orElse("")));
        Replayed without = replay(workload, ReplaySettings.NO_LENDING, false, brokenOff);
        Replayed with = replay(workload, options.policy(), true, brokenOff);
        JsonNode baseline = summaryOf(without, "baseline");
        JsonNode control = summaryOf(with, "control");
        write(demo, baseline);
        report(facts, verdict, demo, without);
        print(demo, baseline, control, brokenOff.isEmpty(), verdict, residentBytes);
    }

    private Replayed replay(Workload workload, String policy, boolean lending, Optional<Instant> until) {
        var layout = new SimulatedNodes.Layout(
                new DomainId(DemoServices.DOMAIN),
                options.nodes(),
                options.gpusPerNode(),
                options.trainingNodes(),
                options.seed());
        ReplaySettings settings =
                ReplaySettings.of(policy, lending, true, layout).withoutLog();
        return Replay.run(workload, until.map(settings::until).orElse(settings));
    }

    private Scene scene() {
        Scene scene = Scene.of(
                new DomainId(DemoServices.DOMAIN), options.seed(), options.trainingGpus(), options.inferenceGpus());
        return options.profiles().map(scene::withProfiles).orElse(scene);
    }

    private JsonNode summaryOf(Replayed replayed, String name) {
        Path directory = played.resolve(name);
        new ResultFiles(directory).write(List.of(replayed.outcome()));
        return read(directory.resolve("summary.json")).get(0);
    }

    private void write(JsonNode demo, JsonNode baseline) {
        try {
            ArrayNode runs = JSON.createArrayNode().add(demo).add(baseline);
            JSON.writer(SerializationFeature.INDENT_OUTPUT)
                    .writeValue(options.out().resolve("summary.json").toFile(), runs);
            for (String table : List.of("jobs.csv", "inference.csv")) {
                List<String> lines = new ArrayList<>(Files.readAllLines(played.resolve(table)));
                try (Stream<String> more =
                        Files.lines(played.resolve("baseline").resolve(table))) {
                    more.skip(1).forEach(lines::add);
                }
                Files.write(options.out().resolve(table), lines);
            }
            Files.copy(
                    played.resolve("decisions.jsonl"),
                    options.out().resolve("decisions.jsonl"),
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written".formatted(options.out()), e);
        }
    }

    private void report(FactsCollector facts, Verdict verdict, JsonNode demo, Replayed without) {
        RunFacts.Run seen = facts.facts();
        RunFacts.Training training = new RunFacts.Training(
                demo.get("trainingJobs").asInt(),
                demo.get("completedJobs").asInt(),
                seen.training().completionSeconds(),
                Optional.of(demo.get("restarts").asInt()),
                Optional.of(demo.get("gpuUtilization").asDouble()));
        RunFacts.Inference inference = new RunFacts.Inference(
                demo.get("inferenceRequests").asLong(),
                Optional.of(demo.get("coldStarts").asLong()),
                Optional.empty(),
                Optional.of(new RunFacts.Delays(
                        demo.get("responseOverheadMeanSeconds").asDouble(),
                        demo.get("responseOverheadP99Seconds").asDouble(),
                        demo.get("responseOverheadMaxSeconds").asDouble(),
                        List.of())),
                Optional.of(demo.get("sloAttainment").asDouble()));
        RunFacts all = new RunFacts(
                "Lendstream demo: " + options.workload(),
                List.of(
                        new RunFacts.Parameter("workload", options.workload()),
                        new RunFacts.Parameter("policy", options.policy()),
                        new RunFacts.Parameter("nodes", String.valueOf(options.nodes())),
                        new RunFacts.Parameter("GPUs per node", String.valueOf(options.gpusPerNode())),
                        new RunFacts.Parameter("training nodes", String.valueOf(options.trainingNodes())),
                        new RunFacts.Parameter("seed", String.valueOf(options.seed())),
                        new RunFacts.Parameter("baseline", "replay of the same input with lending off")),
                List.of(seen.withTraining(training).withInference(inference).withVerdict(verdict), without.facts()));
        Demo.write(options.out().resolve("report.html"), HtmlReport.render(all));
    }

    private void print(
            JsonNode demo, JsonNode baseline, JsonNode control, boolean whole, Verdict verdict, long residentBytes) {
        double with = demo.get("avgJctSeconds").asDouble();
        double without = baseline.get("avgJctSeconds").asDouble();
        out.println();
        out.println("                                  with lending   without (replay)");
        out.println("%-33s %13s %18s".formatted("average JCT", averageJct(demo), averageJct(baseline)));
        row("training jobs completed", demo, baseline, "completedJobs", "%.0f");
        row("inference wait + cold start, mean", demo, baseline, "responseOverheadMeanSeconds", "%.3f s");
        row("                             p99", demo, baseline, "responseOverheadP99Seconds", "%.1f s");
        row("requests within their SLO", demo, baseline, "sloAttainment", "%.4f");
        row("GPU utilisation", demo, baseline, "gpuUtilization", "%.3f");
        row("GPU hours lent", demo, baseline, "gpuHoursLent", "%.1f");
        out.println();
        if (whole && without > 0) {
            out.println(
                    "Lending makes the average JCT %.1f %% shorter. The same input replayed in virtual time with lending: %.0f s (%.1f %% apart)."
                            .formatted(
                                    100 * (1 - with / without),
                                    control.get("avgJctSeconds").asDouble(),
                                    100
                                            * Math.abs(with
                                                            / control.get("avgJctSeconds")
                                                                    .asDouble()
                                                    - 1)));
        } else {
            out.println("The play was broken off, so the averages are of the jobs done by then, not of the same jobs.");
        }
        out.println("History: %d events, %d decisions (%d lends, %d reclaims), %d actuation reports: %s"
                .formatted(
                        verdict.events(),
                        verdict.decisions(),
                        verdict.lends(),
                        verdict.reclaims(),
                        verdict.reports(),
                        verdict.isContent()
                                ? "every promise was kept"
                                : verdict.violations().size() + " violations"));
        verdict.violations().forEach(violation -> out.println("  " + violation));
        if (residentBytes > 0) {
            out.println("Memory of the whole stack: %.2f GB resident".formatted(residentBytes / 1e9));
        }
        out.println("Report: " + options.out().resolve("report.html"));
    }

    private static String averageJct(JsonNode run) {
        return run.get("completedJobs").asInt() == 0
                ? "no job done"
                : "%.0f s".formatted(run.get("avgJctSeconds").asDouble());
    }

    private void row(String name, JsonNode demo, JsonNode baseline, String field, String format) {
        out.println("%-33s %13s %18s"
                .formatted(
                        name,
                        format.formatted(demo.get(field).asDouble()),
                        format.formatted(baseline.get(field).asDouble())));
    }

    private static JsonNode read(Path file) {
        try {
            return JSON.readTree(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be read".formatted(file), e);
        }
    }
}
