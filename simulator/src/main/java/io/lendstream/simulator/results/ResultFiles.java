package io.lendstream.simulator.results;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SequenceWriter;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.PlacedGpu;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.report.RunWarning;
import io.lendstream.simulator.report.RunWarnings;
import io.lendstream.simulator.report.SeedFigures;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes the results of runs: {@code summary.json}, {@code jobs.csv}, {@code gpus.csv}, {@code inference.csv},
 * {@code delays.csv} and {@code decisions.jsonl}. Their fields are a contract with the tools that read them. Times in
 * the tables are seconds since the workload's start. A number that is not finite is an empty cell in a table, and null
 * in JSON.
 *
 * <p>Services of which only rates are known have no lines in {@code inference.csv}; they count in the summary and in
 * the distributions of {@code delays.csv}.
 */
public final class ResultFiles {
    /** The file that says where the GPUs of decisions are, and what kind they have. */
    public static final String GPUS = "gpus.csv";

    private static final ObjectMapper LINES = Json.lines();
    private static final ObjectMapper PAGES = Json.pages();

    private final Path directory;

    /** Writes into a directory, which is made if need be. */
    public ResultFiles(Path directory) {
        this.directory = directory;
    }

    /** Writes the files of one run or of several that are compared. */
    public void write(List<RunOutcome> outcomes) {
        write(outcomes, Optional.empty());
    }

    /**
     * Writes the files of runs that are measured against references; these are not written unless they are among the
     * runs.
     */
    public void write(List<RunOutcome> outcomes, Optional<References> references) {
        write(outcomes, references, List.of());
    }

    /**
     * The same with warnings that hold for all runs.
     *
     * @param warnings are added to those of each run
     */
    public void write(List<RunOutcome> outcomes, Optional<References> references, List<RunWarning> warnings) {
        write(
                outcomes,
                outcomes.stream()
                        .map(outcome -> fields(outcome, references, warnings))
                        .toList());
    }

    /**
     * Writes the detailed files of some runs, and the summary of these and others.
     *
     * @param summaries objects as {@link #fields(RunOutcome, Optional, List)} makes them
     */
    public void write(List<RunOutcome> detailed, List<Map<String, @Nullable Object>> summaries) {
        write(detailed, summaries, Optional.empty());
    }

    /**
     * The same with the table of the runs over several seeds, {@code seeds.csv}.
     *
     * @param seeds the figures of each run by its name
     */
    public void write(
            List<RunOutcome> detailed,
            List<Map<String, @Nullable Object>> summaries,
            Optional<Map<String, List<SeedFigures>>> seeds) {
        try (WholeFiles files = new WholeFiles(directory)) {
            try {
                Files.createDirectories(directory);
                writeJobs(files, detailed);
                writeGpus(files, detailed);
                writeRequests(files, detailed);
                DelayCurves.write(files, detailed);
                writeDecisions(files, detailed);
                if (seeds.isPresent()) {
                    SeedsFile.write(files, seeds.get());
                }
                PAGES.writeValue(files.part("summary.json").toFile(), summaries);
                if (seeds.isEmpty()) {
                    // That of an earlier run would not belong to these results.
                    Files.deleteIfExists(directory.resolve(SeedsFile.NAME));
                }
                files.publish();
            } catch (IOException e) {
                throw new UncheckedIOException("%s cannot be written to %s".formatted(files.current(), directory), e);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("results cannot be written to %s".formatted(directory), e);
        }
    }

    /** The summary of a run by the names of {@code summary.json}. */
    public static Map<String, @Nullable Object> fields(
            RunOutcome outcome, Optional<References> references, List<RunWarning> general) {
        Map<String, @Nullable Object> fields = Summary.of(outcome).fields();
        fields.putAll(referenceFields(RunFactsOf.training(outcome), references));
        List<RunWarning> warnings = new ArrayList<>(general);
        RunWarnings.slo(RunFactsOf.figures(outcome)).ifPresent(warnings::add);
        RunWarnings.policy(outcome.run().policy()).ifPresent(warnings::add);
        fields.put("warnings", warnings.stream().map(ResultFiles::fields).toList());
        return fields;
    }

    private static Map<String, String> fields(RunWarning warning) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("level", warning.level().name().toLowerCase(Locale.ROOT));
        fields.put("code", warning.code());
        fields.put("text", warning.text());
        return fields;
    }

    /** A run beside its references, by the names of the summary; null where a figure is not known. */
    public static Map<String, @Nullable Double> referenceFields(
            ReportedRun.Training run, Optional<References> references) {
        Map<String, @Nullable Double> fields = new LinkedHashMap<>();
        fields.put(
                "floorAvgJctSeconds",
                Summary.rounded(
                        references.flatMap(each -> each.baseline().training().meanSeconds())));
        fields.put(
                "ceilingAvgJctSeconds",
                Summary.rounded(
                        references.flatMap(each -> each.oracle().training().meanSeconds())));
        fields.put("gapClosed", Summary.rounded(references.flatMap(each -> each.shareOfPossibleGain(run))));
        fields.put(
                "floorSloAttainment",
                Summary.rounded(
                        references.flatMap(each -> each.baseline().inference().sloAttainment())));
        return fields;
    }

    private static void writeJobs(WholeFiles files, List<RunOutcome> outcomes) throws IOException {
        try (BufferedWriter out = files.writer("jobs.csv")) {
            out.write("policy,lending,name,submit,start,completion,jct,restarts,gpuSeconds,outcome,kinds\n");
            for (RunOutcome outcome : outcomes) {
                Instant zero = outcome.results().start();
                for (JobResult job : outcome.results().jobs()) {
                    out.write(String.join(
                            ",",
                            name(outcome),
                            Csv.name(job.job().value()),
                            since(zero, Optional.of(job.submitted())),
                            since(zero, job.started()),
                            since(zero, job.completed()),
                            job.completionTime().map(ResultFiles::seconds).orElse(""),
                            Integer.toString(job.restarts()),
                            gpuSeconds(job),
                            outcome(job.phase()),
                            Csv.name(job.kinds().stream().map(KindId::value).collect(Collectors.joining(";")))));
                    out.write('\n');
                }
            }
        }
    }

    /** Runs that are compared have the same nodes; a unit that only some of them cut is there, too. */
    private static void writeGpus(WholeFiles files, List<RunOutcome> outcomes) throws IOException {
        Set<PlacedGpu> units = new LinkedHashSet<>();
        outcomes.forEach(outcome -> units.addAll(outcome.results().places()));
        try (BufferedWriter out = files.writer(GPUS)) {
            out.write("gpu,node,kind,pool\n");
            for (PlacedGpu unit : units) {
                out.write(String.join(
                        ",",
                        Csv.name(unit.gpu().value()),
                        Csv.name(unit.node().value()),
                        Csv.name(unit.kind().value()),
                        unit.pool().name().toLowerCase(Locale.ROOT)));
                out.write('\n');
            }
        }
    }

    private static String outcome(JobPhase phase) {
        return switch (phase) {
            case FINISHED -> "completed";
            case FAILED -> "failed";
            case CANCELLED -> "killed";
            default -> "";
        };
    }

    private static void writeRequests(WholeFiles files, List<RunOutcome> outcomes) throws IOException {
        try (BufferedWriter out = files.writer("inference.csv")) {
            out.write("policy,lending,name,submit,start,completion,coldStart\n");
            for (RunOutcome outcome : outcomes) {
                Instant zero = outcome.results().start();
                for (RequestResult request : outcome.results().requests()) {
                    out.write(String.join(
                            ",",
                            name(outcome),
                            Csv.name(request.name()),
                            since(zero, Optional.of(request.submitted())),
                            since(zero, Optional.of(request.started())),
                            since(zero, Optional.of(request.completed())),
                            Boolean.toString(request.coldStart())));
                    out.write('\n');
                }
            }
        }
    }

    private static void writeDecisions(WholeFiles files, List<RunOutcome> outcomes) throws IOException {
        boolean any = false;
        try (BufferedWriter out = files.writer("decisions.jsonl");
                SequenceWriter lines =
                        LINES.writer().withRootValueSeparator("\n").writeValues(out)) {
            for (RunOutcome outcome : outcomes) {
                for (Decision decision : outcome.decisions()) {
                    lines.write(fields(decision, outcome.run()));
                    any = true;
                }
            }
            lines.flush();
            out.write(any ? "\n" : "");
        }
    }

    private static Map<String, Object> fields(Decision decision, RunIdentity run) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", decision.id().toString());
        fields.put("domain", decision.id().domain().value());
        fields.put("at", decision.at().toString());
        fields.put("deadline", decision.deadline().toString());
        fields.put("kind", decision.action().kind());
        fields.put("countedAs", decision.countedAs());
        fields.put("target", decision.action().target());
        fields.put("gpus", decision.action().gpus().stream().map(GpuId::value).toList());
        fields.put("reason", decision.reason().text());
        fields.put("inputs", decision.reason().inputs());
        fields.put("code", decision.reason().code());
        fields.put("numbers", finite(decision.reason().numbers()));
        fields.put("advisory", decision.advisory());
        fields.put("policy", run.policy());
        fields.put("lending", RunIdentity.onOrOff(run.lending()));
        return fields;
    }

    private static Map<String, @Nullable Double> finite(Map<String, Double> numbers) {
        Map<String, @Nullable Double> finite = new LinkedHashMap<>();
        numbers.forEach((name, value) -> finite.put(name, Json.finite(value)));
        return finite;
    }

    private static String gpuSeconds(JobResult job) {
        Double rounded = Json.rounded(job.gpuSeconds(), 1000);
        return rounded == null ? "" : Csv.number(rounded);
    }

    static String name(RunOutcome outcome) {
        return Csv.name(outcome.run().policy()) + ","
                + RunIdentity.onOrOff(outcome.run().lending());
    }

    private static String since(Instant zero, Optional<Instant> at) {
        return at.map(time -> seconds(Duration.between(zero, time))).orElse("");
    }

    private static String seconds(Duration duration) {
        return Csv.number(Limits.millis(duration) / 1000.0);
    }
}
