package io.lendstream.launcher.demo;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.history.Verdict;
import io.lendstream.service.text.Printable;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.report.Delays;
import io.lendstream.simulator.report.FactsCollector;
import io.lendstream.simulator.report.PngPlots;
import io.lendstream.simulator.report.Report;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.Anchors;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What remains of a demo: figures beside those of the same input replayed without lending, files, a report. */
final class DemoSummary {
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private final DemoOptions options;
    private final PrintStream out;
    private final Path played;

    /** @param played directory into which the load generator wrote its results */
    DemoSummary(DemoOptions options, PrintStream out, Path played) {
        this.options = options;
        this.out = out;
        this.played = played;
    }

    /** Replays the input with and without lending, and with a clairvoyant, writes the files, and prints the figures. */
    void tell(FactsCollector facts, Verdict verdict, long residentBytes) {
        Workload workload = Workloads.load(options.workload(), options.scene());
        ObjectNode demo = read(played.resolve("summary.json"));
        Optional<Instant> brokenOff = demo.get("complete").asBoolean()
                ? Optional.empty()
                : Optional.of(facts.facts().to());
        out.println("replaying the same input%s without lending, with it, and with a clairvoyant, in virtual time"
                .formatted(brokenOff
                        .map(end -> " up to %s, where the play was broken off,".formatted(Screen.at(end)))
                        .orElse("")));
        boolean everyJobFits = workload.leastGpus() <= options.scene().trainingGpus();
        Replayed floor = replay(
                workload,
                ReplaySettings.NO_LENDING,
                false,
                everyJobFits ? brokenOff : Optional.of(facts.facts().to()));
        Replayed with = replay(workload, options.policy(), true, brokenOff);
        Replayed ceiling = replay(workload, "clairvoyant", true, brokenOff);
        Anchors anchors = new Anchors(floor.facts(), ceiling.facts());
        ReportedRun seen = seen(facts, demo).withVerdict(verdict);
        ResultFiles.anchorFields(seen.training(), Optional.of(anchors)).forEach(demo::put);
        JsonNode baseline = summaryOf(floor, "baseline", anchors);
        JsonNode control = summaryOf(with, "control", anchors);
        write(demo, baseline);
        report(seen, anchors);
        printFigures(demo, baseline, summaryOf(ceiling, "ceiling", anchors));
        out.println();
        out.println(
                anchors.shorterThanFloor(seen.training())
                        .map(shorter -> conclusion(shorter, anchors.gapClosed(seen.training()), demo, control))
                        .orElse(
                                everyJobFits
                                        ? "The play was broken off, so the averages are of the jobs done by then, not of the same jobs."
                                        : "Without lending some jobs are too large to run, so the averages are not of the same jobs."));
        print(verdict, residentBytes);
    }

    private Replayed replay(Workload workload, String policy, boolean lending, Optional<Instant> until) {
        ReplaySettings settings =
                ReplaySettings.of(policy, lending, true, options.layout()).withoutLog();
        return Replay.run(workload, until.map(settings::until).orElse(settings));
    }

    private JsonNode summaryOf(Replayed replayed, String name, Anchors anchors) {
        Path directory = played.resolve(name);
        new ResultFiles(directory).write(List.of(replayed.outcome()), Optional.of(anchors));
        return read(directory.resolve("summary.json"));
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

    /** What was seen on the topics, with the figures that only the load generator's world knows. */
    private static ReportedRun seen(FactsCollector facts, JsonNode demo) {
        ReportedRun seen = facts.facts();
        ReportedRun.Training training = new ReportedRun.Training(
                demo.get("trainingJobs").asInt(),
                demo.get("completedJobs").asInt(),
                seen.training().completionSeconds(),
                Optional.of(demo.get("restarts").asInt()),
                Optional.of(demo.get("gpuUtilization").asDouble()));
        ReportedRun.Inference inference = new ReportedRun.Inference(
                demo.get("inferenceRequests").asLong(),
                Optional.of(demo.get("coldStarts").asLong()),
                Optional.empty(),
                Optional.of(new Delays(
                        demo.get("responseOverheadMeanSeconds").asDouble(),
                        demo.get("responseOverheadP99Seconds").asDouble(),
                        demo.get("responseOverheadMaxSeconds").asDouble(),
                        List.of())),
                Optional.of(demo.get("sloAttainment").asDouble()));
        return seen.withTruth(training, inference, demo.get("complete").asBoolean());
    }

    private void report(ReportedRun seen, Anchors anchors) {
        RunFacts all = new RunFacts(
                "Lendstream demo: " + options.workload(),
                List.of(
                        new RunFacts.Parameter("workload", options.workload()),
                        new RunFacts.Parameter("policy", options.policy()),
                        new RunFacts.Parameter(
                                "nodes", String.valueOf(options.layout().nodes())),
                        new RunFacts.Parameter(
                                "GPUs per node", String.valueOf(options.layout().gpusPerNode())),
                        new RunFacts.Parameter(
                                "training nodes",
                                String.valueOf(options.layout().trainingNodes())),
                        new RunFacts.Parameter(
                                "seed", String.valueOf(options.layout().seed())),
                        new RunFacts.Parameter("floor and ceiling", "replays of the same input in virtual time")),
                List.of(seen),
                Optional.of(anchors));
        Report.write(all, options.out(), Optional.of(new PngPlots()))
                .map(Printable::line)
                .ifPresent(out::println);
    }

    private void printFigures(JsonNode demo, JsonNode floor, JsonNode ceiling) {
        out.println();
        out.println("%-33s %13s %18s %21s".formatted("", "with lending", "without (replay)", "clairvoyant (replay)"));
        print("average JCT", List.of(averageJct(demo), averageJct(floor), averageJct(ceiling)));
        row("training jobs completed", "completedJobs", "%.0f", demo, floor, ceiling);
        row("inference wait + cold start, mean", "responseOverheadMeanSeconds", "%.3f s", demo, floor, ceiling);
        row("                             p99", "responseOverheadP99Seconds", "%.1f s", demo, floor, ceiling);
        row("requests within their SLO", "sloAttainment", "%.4f", demo, floor, ceiling);
        row("GPU utilisation", "gpuUtilization", "%.3f", demo, floor, ceiling);
        row("GPU hours lent", "gpuHoursLent", "%.1f", demo, floor, ceiling);
    }

    private static String averageJct(JsonNode run) {
        JsonNode seconds = run.get("avgJctSeconds");
        return seconds.isNull() ? "no job done" : "%.0f s".formatted(seconds.asDouble());
    }

    private void row(String name, String field, String format, JsonNode... runs) {
        print(
                name,
                Arrays.stream(runs)
                        .map(run -> format.formatted(run.get(field).asDouble()))
                        .toList());
    }

    private void print(String name, List<String> cells) {
        out.println("%-33s %13s %18s %21s".formatted(name, cells.get(0), cells.get(1), cells.get(2)));
    }

    /** What lending was worth, and how far the played run is from the same one replayed. */
    private static String conclusion(double shorter, Optional<Double> gapClosed, JsonNode demo, JsonNode control) {
        double with = demo.get("avgJctSeconds").asDouble();
        double replayed = control.get("avgJctSeconds").asDouble();
        return "Lending makes the average JCT %s shorter%s. The same input replayed in virtual time with lending: %.0f s (%.1f %% apart)."
                .formatted(
                        percent(shorter),
                        gapClosed
                                .map(share -> ", %s of what a clairvoyant gains".formatted(percent(share)))
                                .orElse(""),
                        replayed,
                        100 * Math.abs(with / replayed - 1));
    }

    private static String percent(double share) {
        return "%.1f %%".formatted(100 * share);
    }

    private void print(Verdict verdict, long residentBytes) {
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
        verdict.violations().forEach(violation -> out.println(Printable.line("  " + violation)));
        if (residentBytes > 0) {
            out.println("Memory of the whole stack: %.2f GB resident".formatted(residentBytes / 1e9));
        }
        out.println(Printable.line("Report: " + options.out().resolve("report.html")));
    }

    /** The one run of a {@code summary.json}. */
    private static ObjectNode read(Path file) {
        try {
            return (ObjectNode) JSON.readTree(file.toFile()).get(0);
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be read".formatted(file), e);
        }
    }
}
