package io.lendstream.launcher.demo;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.launcher.cli.Marks;
import io.lendstream.service.text.Printable;
import io.lendstream.simulator.OwnRequests;
import io.lendstream.simulator.replay.Replay;
import io.lendstream.simulator.replay.ReplaySettings;
import io.lendstream.simulator.replay.Replayed;
import io.lendstream.simulator.report.Delays;
import io.lendstream.simulator.report.FactsCollector;
import io.lendstream.simulator.report.PngPlots;
import io.lendstream.simulator.report.Remarks;
import io.lendstream.simulator.report.Report;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.report.RunWarning;
import io.lendstream.simulator.report.RunWarnings;
import io.lendstream.simulator.report.ServiceSlo;
import io.lendstream.simulator.report.Standings;
import io.lendstream.simulator.report.Text;
import io.lendstream.simulator.results.DelayCurves;
import io.lendstream.simulator.results.ResultFiles;
import io.lendstream.simulator.results.WholeFiles;
import io.lendstream.simulator.workload.InferenceNeed;
import io.lendstream.simulator.workload.Workload;
import io.lendstream.simulator.workload.Workloads;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The results of a demo: figures beside those of the same input replayed without lending, files, a report. */
final class DemoSummary {
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
    private static final List<String> TABLES = List.of("jobs.csv", "inference.csv", "delays.csv");

    private final DemoOptions options;
    private final PrintStream out;
    private final Path played;

    /** @param played directory into which the load generator wrote its results */
    DemoSummary(DemoOptions options, PrintStream out, Path played) {
        this.options = options;
        this.out = out;
        this.played = played;
    }

    /** Replays the input with and without lending, and with the oracle, writes the files, and prints the figures. */
    void tell(FactsCollector facts, Verdict verdict, long residentBytes) {
        Workload workload = Workloads.load(options.workload(), options.scene());
        ObjectNode demo = read(played.resolve("summary.json"));
        Optional<Instant> brokenOff = demo.get("complete").asBoolean()
                ? Optional.empty()
                : Optional.of(facts.facts().to());
        out.println("replaying the same input%s without lending, with it, and with the oracle, in virtual time"
                .formatted(brokenOff
                        .map(end -> " up to virtual %s, where the play was broken off,".formatted(Text.second(end)))
                        .orElse("")));
        SimulatedNodes.Layout withoutLending = layoutOfBaseline(workload);
        int training = withoutLending.trainingNodes() * withoutLending.gpusPerNode();
        boolean everyJobFits = workload.leastGpus() <= training;
        Replayed baseline = replay(
                workload,
                ReplaySettings.of(ReplaySettings.NO_LENDING, false, true, withoutLending),
                everyJobFits ? brokenOff : Optional.of(facts.facts().to()));
        Replayed with = replay(workload, ReplaySettings.of(options.policy(), true, true, options.layout()), brokenOff);
        Replayed oracle = replay(workload, ReplaySettings.of("clairvoyant", true, true, options.layout()), brokenOff);
        References references = new References(baseline.facts(), oracle.facts());
        ReportedRun seen = seen(facts, demo).withVerdict(verdict);
        List<RunWarning> general = general(workload, seen, references);
        ResultFiles.referenceFields(seen.training(), Optional.of(references)).forEach(demo::put);
        general.forEach(warning -> add(demo, warning));
        write(demo, summaryOf(baseline, references));
        RunFacts all = facts(seen, references, remarks(general, seen, baseline(workload, training)));
        Report.write(all, options.out(), Optional.of(new PngPlots()))
                .map(Printable::line)
                .ifPresent(out::println);
        print(all, everyJobFits, with);
        print(verdict, residentBytes);
    }

    /** Without inference services, the baseline has all GPUs that the policy may use. */
    private SimulatedNodes.Layout layoutOfBaseline(Workload workload) {
        SimulatedNodes.Layout layout = options.layout();
        return workload.loads().isEmpty()
                ? new SimulatedNodes.Layout(
                        layout.domain(), layout.nodes(), layout.gpusPerNode(), layout.nodes(), layout.seed())
                : layout;
    }

    private static String baseline(Workload workload, int training) {
        return "no lending, replayed in virtual time as the oracle is: "
                + (workload.loads().isEmpty()
                        ? "same %d GPUs, no inference in this workload".formatted(training)
                        : "training on its own %d GPUs".formatted(training));
    }

    private static Replayed replay(Workload workload, ReplaySettings settings, Optional<Instant> until) {
        ReplaySettings brief = settings.withoutLog();
        return Replay.run(workload, until.map(brief::until).orElse(brief));
    }

    /** Warnings that hold for all runs. */
    private List<RunWarning> general(Workload workload, ReportedRun seen, References references) {
        List<RunWarning> warnings = new ArrayList<>();
        if (!workload.loads().isEmpty()) {
            RunWarnings.overload(InferenceNeed.of(workload, options.scene().inferenceGpus()))
                    .ifPresent(warnings::add);
        }
        RunWarnings.neverFull(List.of(seen), references).ifPresent(warnings::add);
        return warnings;
    }

    private Remarks remarks(List<RunWarning> general, ReportedRun seen, String baseline) {
        List<RunWarning> warnings = new ArrayList<>(general);
        RunWarnings.slo(seen).ifPresent(warnings::add);
        RunWarnings.policy(options.policy()).ifPresent(warnings::add);
        return new Remarks(warnings, Optional.of(baseline), Optional.empty());
    }

    private static void add(ObjectNode demo, RunWarning warning) {
        demo.withArray("warnings")
                .addObject()
                .put("level", warning.level().name().toLowerCase(Locale.ROOT))
                .put("code", warning.code())
                .put("text", warning.text());
    }

    private JsonNode summaryOf(Replayed replayed, References references) {
        Path directory = played.resolve("baseline");
        new ResultFiles(directory).write(List.of(replayed.outcome()), Optional.of(references));
        return read(directory.resolve("summary.json"));
    }

    private void write(JsonNode demo, JsonNode baseline) {
        try (WholeFiles files = new WholeFiles(options.out())) {
            ArrayNode runs = JSON.createArrayNode().add(demo).add(baseline);
            JSON.writer(SerializationFeature.INDENT_OUTPUT)
                    .writeValue(files.part("summary.json").toFile(), runs);
            for (String table : TABLES) {
                List<String> lines = new ArrayList<>(Files.readAllLines(played.resolve(table)));
                try (Stream<String> more =
                        Files.lines(played.resolve("baseline").resolve(table))) {
                    more.skip(1).forEach(lines::add);
                }
                Files.write(files.part(table), lines);
            }
            Files.copy(
                    played.resolve("decisions.jsonl"),
                    files.part("decisions.jsonl"),
                    StandardCopyOption.REPLACE_EXISTING);
            Files.copy(
                    played.resolve(ResultFiles.GPUS),
                    files.part(ResultFiles.GPUS),
                    StandardCopyOption.REPLACE_EXISTING);
            files.publish();
        } catch (IOException e) {
            throw new UncheckedIOException("%s cannot be written".formatted(options.out()), e);
        }
    }

    /** The run as it was observed on the topics, with the figures that only the load generator's world knows. */
    private ReportedRun seen(FactsCollector facts, JsonNode demo) {
        ReportedRun seen = facts.facts();
        int inPlace = demo.get("resizesInPlace").asInt();
        ReportedRun.Training training = new ReportedRun.Training(
                demo.get("trainingJobs").asInt(),
                demo.get("completedJobs").asInt(),
                seen.training().completionSeconds(),
                Optional.of(demo.get("restarts").asInt() - inPlace),
                Optional.of(inPlace),
                number(demo, "longestWaitSeconds"),
                Optional.of(demo.get("gpuUtilization").asDouble()));
        List<ServiceSlo> services = new ArrayList<>();
        demo.get("services")
                .forEach(service -> services.add(new ServiceSlo(
                        service.get("service").asText(),
                        service.get("requests").asDouble(),
                        service.get("withinSlo").asDouble(),
                        service.get("coldStarts").asLong())));
        Path curves = played.resolve("delays.csv");
        ReportedRun.Inference inference = new ReportedRun.Inference(
                demo.get("inferenceRequests").asLong(),
                Optional.of(demo.get("coldStarts").asLong()),
                delays(demo, "startDelay", DelayCurves.read(curves, "startDelay")),
                delays(demo, "responseOverhead", DelayCurves.read(curves, "responseOverhead")),
                number(demo, "errorBudgetUsed")
                        .map(any -> demo.get("sloAttainment").asDouble()),
                services,
                Optional.of(own(demo)));
        return seen.withTruth(training, inference, demo.get("complete").asBoolean())
                .withGpuHoursLent(demo.get("gpuHoursLent").asDouble());
    }

    private static OwnRequests own(JsonNode demo) {
        double requests = demo.get("ownRequests").asDouble();
        return new OwnRequests(requests, requests - demo.get("ownSloMisses").asDouble());
    }

    private static Optional<Double> number(JsonNode run, String field) {
        return run.get(field).isNull()
                ? Optional.empty()
                : Optional.of(run.get(field).asDouble());
    }

    private static Optional<Delays> delays(JsonNode demo, String name, List<Delays.CurvePoint> curve) {
        return curve.isEmpty()
                ? Optional.empty()
                : Optional.of(new Delays(
                        demo.get(name + "MeanSeconds").asDouble(),
                        demo.get(name + "P99Seconds").asDouble(),
                        curve.get(curve.size() - 1).seconds(),
                        curve));
    }

    private RunFacts facts(ReportedRun seen, References references, Remarks remarks) {
        SimulatedNodes.Layout layout = options.layout();
        String title = Workloads.title(options.workload());
        return new RunFacts(
                "Lendstream demo: " + title,
                List.of(
                        new RunFacts.Parameter("workload", title),
                        new RunFacts.Parameter("policy", options.policy()),
                        new RunFacts.Parameter("nodes", String.valueOf(layout.nodes())),
                        new RunFacts.Parameter("GPUs per node", String.valueOf(layout.gpusPerNode())),
                        new RunFacts.Parameter("training nodes", String.valueOf(layout.trainingNodes())),
                        new RunFacts.Parameter("seed", String.valueOf(layout.seed())),
                        new RunFacts.Parameter("baseline and oracle", "replays of the same input in virtual time")),
                List.of(seen),
                Optional.of(references),
                remarks);
    }

    private void print(RunFacts all, boolean everyJobFits, Replayed control) {
        out.println();
        Standings.lines(all).forEach(line -> out.println(Marks.line(line)));
        out.println();
        all.remarks().warnings().forEach(warning -> out.println(Marks.line(warning.line())));
        ReportedRun seen = all.runs().get(0);
        out.println(all.references()
                .flatMap(references -> references.gain(seen.training()))
                .map(gain -> conclusion(
                        gain,
                        seen.training().meanSeconds().orElse(0.0),
                        control.facts().training().meanSeconds().orElse(0.0)))
                .orElseGet(() -> withoutGain(seen, everyJobFits)));
    }

    private static String withoutGain(ReportedRun seen, boolean everyJobFits) {
        if (seen.training().submitted() == 0) {
            return "There are no training jobs, so lending gains nothing here.";
        }
        return everyJobFits
                ? "The demo was stopped before all jobs were done, so the averages are not of the same jobs."
                : "Without lending some jobs are too large to run, so the averages are not of the same jobs.";
    }

    /** The gain of lending, and the distance of the played run from the same one replayed. */
    private static String conclusion(double gain, double with, double replayed) {
        return "Lending makes the average JCT %s %s. The same input replayed in virtual time with lending: %s (a difference of %s)."
                .formatted(
                        Text.percent(Math.abs(gain)),
                        gain < 0 ? "longer" : "shorter",
                        Text.duration(replayed),
                        Text.percent(Math.abs(with / replayed - 1)));
    }

    private void print(Verdict verdict, long residentBytes) {
        out.println("History: %d events, %d decisions (%d lends, %d reclaims, %d releases), %d actuation reports: %s"
                .formatted(
                        verdict.events(),
                        verdict.decisions(),
                        verdict.lends(),
                        verdict.reclaims(),
                        verdict.releases(),
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
