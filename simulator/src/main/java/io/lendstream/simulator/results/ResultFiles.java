package io.lendstream.simulator.results;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SequenceWriter;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.GpuId;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts.Anchors;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes what runs came to: {@code summary.json}, {@code jobs.csv}, {@code inference.csv} and {@code decisions.jsonl}. Their
 * fields are a contract with those who read them. Times in the tables are seconds since the workload's start. A number that is not
 * finite is an empty cell in a table, and null in JSON.
 *
 * <p>Services of which only rates are known have no lines in {@code inference.csv}; they count in the summary.
 */
public final class ResultFiles {
    private static final ObjectMapper LINES = Json.lines();
    private static final ObjectMapper PAGES = Json.pages();

    private final Path directory;

    /** Writes into a directory, which is made if need be. */
    public ResultFiles(Path directory) {
        this.directory = directory;
    }

    /**
     * Makes a directory for results, before there are any.
     *
     * @return what is in the way, if anything: words to follow the directory's name
     */
    public static Optional<String> obstacle(Path directory) {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            return Optional.of("is a file");
        }
        for (Path path = directory; path != null; path = path.getParent()) {
            if (Files.isRegularFile(path)) {
                return Optional.of("cannot be made: %s is a file".formatted(path));
            }
        }
        try {
            Files.createDirectories(directory);
        } catch (AccessDeniedException e) {
            return Optional.of("cannot be made: permission denied");
        } catch (IOException e) {
            String reason = e instanceof FileSystemException system ? system.getReason() : e.getMessage();
            return Optional.of(
                    "cannot be made: %s".formatted(reason == null ? "the system does not allow it" : reason));
        }
        return Files.isWritable(directory) ? Optional.empty() : Optional.of("cannot be written: permission denied");
    }

    /** Writes the files of one run or of several that are compared. */
    public void write(List<RunOutcome> outcomes) {
        write(outcomes, Optional.empty());
    }

    /**
     * Writes the files of runs with what they are measured against.
     *
     * @param anchors have objects of their own only where they are among the runs
     */
    public void write(List<RunOutcome> outcomes, Optional<Anchors> anchors) {
        try (WholeFiles files = new WholeFiles(directory)) {
            Files.createDirectories(directory);
            writeJobs(files, outcomes);
            writeRequests(files, outcomes);
            writeDecisions(files, outcomes);
            PAGES.writeValue(
                    files.part("summary.json").toFile(),
                    outcomes.stream().map(outcome -> fields(outcome, anchors)).toList());
            files.publish();
        } catch (IOException e) {
            throw new UncheckedIOException("results cannot be written to %s".formatted(directory), e);
        }
    }

    private static Map<String, @Nullable Object> fields(RunOutcome outcome, Optional<Anchors> anchors) {
        Map<String, @Nullable Object> fields = Summary.of(outcome).fields();
        fields.putAll(anchorFields(RunFactsOf.training(outcome), anchors));
        return fields;
    }

    /** How a run stands between its anchors, by the names of the summary; null where that is not known. */
    public static Map<String, @Nullable Double> anchorFields(ReportedRun.Training run, Optional<Anchors> anchors) {
        Map<String, @Nullable Double> fields = new LinkedHashMap<>();
        fields.put(
                "floorAvgJctSeconds",
                Summary.rounded(anchors.flatMap(each -> each.floor().training().meanSeconds())));
        fields.put(
                "ceilingAvgJctSeconds",
                Summary.rounded(
                        anchors.flatMap(each -> each.ceiling().training().meanSeconds())));
        fields.put("gapClosed", Summary.rounded(anchors.flatMap(each -> each.gapClosed(run))));
        fields.put(
                "floorSloAttainment",
                Summary.rounded(anchors.flatMap(each -> each.floor().inference().sloAttainment())));
        return fields;
    }

    private static void writeJobs(WholeFiles files, List<RunOutcome> outcomes) throws IOException {
        try (BufferedWriter out = files.writer("jobs.csv")) {
            out.write("policy,lending,name,submit,start,completion,jct,restarts,gpuSeconds,outcome\n");
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
                            outcome(job.phase())));
                    out.write('\n');
                }
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

    private static String name(RunOutcome outcome) {
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
