package io.lendstream.simulator.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.PlacedGpu;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.ServiceResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts.References;
import io.lendstream.simulator.workload.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ResultFilesTest {
    private static final Instant START = Workload.EPOCH;

    @TempDir
    Path folder;

    private static JobResult job(String name, int submit, int start, int completion) {
        return new JobResult(
                new JobId(name),
                "vision",
                START.plusSeconds(submit),
                Optional.of(START.plusSeconds(start)),
                Optional.of(START.plusSeconds(completion)),
                2,
                1234.5,
                1,
                JobPhase.FINISHED);
    }

    private static JobResult due(String name, JobPhase phase, int completion, int deadline) {
        return new JobResult(
                new JobId(name),
                "vision",
                START,
                Optional.of(START),
                Optional.of(START.plusSeconds(completion)),
                0,
                0,
                0,
                1,
                phase,
                Optional.of(START.plusSeconds(deadline)));
    }

    private static JobResult unfinished() {
        return new JobResult(
                new JobId("c"),
                "vision",
                START.plusSeconds(400),
                Optional.empty(),
                Optional.empty(),
                0,
                0,
                0,
                JobPhase.QUEUED);
    }

    private static RunOutcome outcome() {
        Distribution delays = new Distribution();
        delays.add(1.5);
        Distribution overheads = new Distribution();
        overheads.add(9.5);
        ServiceId chat = new ServiceId("chat");
        RequestResult request = new RequestResult(
                "r1",
                chat,
                START.plusSeconds(10),
                START.plusMillis(11_500),
                START.plusMillis(24_500),
                Duration.ofSeconds(5),
                true);
        WorldResults results = new WorldResults(
                START,
                START.plusSeconds(1000),
                List.of(job("a", 100, 110, 300), job("b", 150, 160, 450), unfinished()),
                List.of(request),
                List.of(new ServiceResult(chat, 1, 1, 1, 1, delays, overheads)),
                8,
                1600,
                400,
                3600,
                1800,
                OptionalDouble.of(900),
                List.of());
        Decision lend = new Decision(
                new DecisionId(new DomainId("d"), 1, 7),
                START.plusSeconds(60),
                START.plusSeconds(120),
                false,
                new Reason("plan", "job a grows", Map.of("gpus", 2.0), List.of(3L, 5L)),
                new Action.Lend(
                        new JobId("a"),
                        List.of(new GpuId("g1")),
                        START.plusSeconds(660),
                        new Allocation(List.of(new GpuId("g1")), 32, 0, 1, Mechanism.AFE)));
        return new RunOutcome(new RunIdentity("w", "deepboot", true, false, 3, 4, 2), results, List.of(lend), 2.25);
    }

    @Test
    void aSeedsTableOfAnEarlierRunDoesNotStay() throws IOException {
        Files.writeString(folder.resolve("seeds.csv"), "of an earlier run");

        new ResultFiles(folder).write(List.of(outcome()));

        assertThat(folder.resolve("seeds.csv")).doesNotExist();
    }

    @Test
    void aReportOfAnEarlierRunDoesNotStayBesideNewResults() throws IOException {
        Files.writeString(folder.resolve("report.html"), "of an earlier run");
        Files.writeString(folder.resolve("loans.png"), "of an earlier run");

        new ResultFiles(folder).write(List.of(outcome()));

        assertThat(folder.resolve("summary.json")).exists();
        assertThat(folder.resolve("report.html")).doesNotExist();
        assertThat(folder.resolve("loans.png")).doesNotExist();
    }

    @Test
    void summarizesARunInFiguresThatCanBeCheckedByHand() throws IOException {
        new ResultFiles(folder).write(List.of(outcome()));

        JsonNode all = summary();

        assertThat(all).hasSize(1);
        JsonNode run = all.get(0);
        assertThat(run.get("workload").asText()).isEqualTo("w");
        assertThat(run.get("lending").asText()).isEqualTo("on");
        assertThat(run.get("afe").asText()).isEqualTo("off");
        assertThat(run.get("trainingJobs").asInt()).isEqualTo(3);
        assertThat(run.get("completedJobs").asInt()).isEqualTo(2);
        assertThat(run.get("avgJctSeconds").asDouble()).isEqualTo(250);
        assertThat(run.get("p95JctSeconds").asDouble()).isEqualTo(295);
        assertThat(run.get("makespanSeconds").asDouble()).isEqualTo(350);
        assertThat(run.get("restarts").asInt()).isEqualTo(4);
        assertThat(run.get("gpuUtilization").asDouble()).isEqualTo(.5);
        assertThat(run.get("inferenceRequests").asInt()).isEqualTo(2);
        assertThat(run.get("startDelayMeanSeconds").asDouble()).isEqualTo(1.5);
        assertThat(run.get("responseOverheadMaxSeconds").asDouble()).isEqualTo(9.5);
        assertThat(run.get("sloAttainment").asDouble()).isEqualTo(.5);
        assertThat(run.get("loans").asInt()).isEqualTo(1);
        assertThat(run.get("reclaims").asInt()).isZero();
        assertThat(run.get("releases").asInt()).isZero();
        assertThat(run.get("resizesInPlace").asInt()).isZero();
        assertThat(run.get("longestWaitSeconds").asDouble()).isEqualTo(10);
        assertThat(run.get("sloMisses").asLong()).isEqualTo(1);
        assertThat(run.get("errorBudgetUsed").asDouble()).isEqualTo(500);
        assertThat(run.get("worstService").asText()).isEqualTo("chat");
        assertThat(run.at("/services/0/sloAttainment").asDouble()).isEqualTo(.5);
        assertThat(run.at("/warnings/0/level").asText()).isEqualTo("alarm");
        assertThat(run.at("/warnings/0/code").asText()).isEqualTo("slo-alarm");
        assertThat(run.get("gpuHoursLent").asDouble()).isEqualTo(1);
        assertThat(run.get("gpuHoursRescaling").asDouble()).isEqualTo(.5);
        assertThat(run.get("gpuHoursFirstStarts").asDouble()).isEqualTo(.25);
        assertThat(run.get("wallSeconds").asDouble()).isEqualTo(2.25);
    }

    @Test
    void countsTheDeadlinesThatWereMet() throws IOException {
        RunOutcome outcome = outcome();
        List<JobResult> jobs = List.of(
                due("met", JobPhase.FINISHED, 300, 300),
                due("late", JobPhase.FINISHED, 301, 300),
                due("withdrawn", JobPhase.CANCELLED, 300, 300),
                unfinished());
        WorldResults results =
                new WorldResults(START, START.plusSeconds(400), jobs, List.of(), List.of(), 8, 0, 60, 0, 0);

        new ResultFiles(folder).write(List.of(outcome, new RunOutcome(outcome.run(), results, List.of(), 1)));

        assertThat(summary().get(0).has("deadlinesMet")).isFalse();
        assertThat(summary().get(1).get("deadlinesMet").asInt()).isEqualTo(1);
        assertThat(summary().get(1).get("deadlinesMissed").asInt()).isEqualTo(2);
    }

    @Test
    void timesOfJobsAreUnknownWhereNoneIsDoneAndABrokenOffRunSaysSo() throws IOException {
        WorldResults nothingDone = new WorldResults(
                START, START.plusSeconds(60), List.of(unfinished()), List.of(), List.of(), 8, 0, 60, 0, 0);
        RunIdentity run = new RunIdentity("w", "deepboot", true, false, 3, 4, 2);

        new ResultFiles(folder).write(List.of(new RunOutcome(run, nothingDone, List.of(), 1, false)));

        JsonNode summary = summary().get(0);
        assertThat(summary.get("complete").asBoolean()).isFalse();
        assertThat(List.of("avgJctSeconds", "p50JctSeconds", "p99JctSeconds", "makespanSeconds", "gapClosed"))
                .allMatch(field -> summary.get(field).isNull());
    }

    @Test
    void aRunHasTheFiguresOfItsReferencesWhichHaveNoLinesOfTheirOwn() throws IOException {
        ReportedRun.Inference requests =
                new ReportedRun.Inference(10, Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(.75));
        References references = new References(
                ReportedRun.ofFigures("floor", false, jobs(300, 500), requests, true),
                ReportedRun.ofFigures("ceiling", true, jobs(100, 150), requests, true));
        RunOutcome outcome = new RunOutcome(
                new RunIdentity("w", "deepboot", true, false, 3, 4, 2),
                new WorldResults(
                        START,
                        START.plusSeconds(1000),
                        List.of(job("a", 100, 110, 300), job("b", 150, 160, 450)),
                        List.of(),
                        List.of(),
                        8,
                        1600,
                        400,
                        3600,
                        1800),
                List.of(),
                1);

        new ResultFiles(folder).write(List.of(outcome), Optional.of(references));

        assertThat(summary()).hasSize(1);
        JsonNode run = summary().get(0);
        assertThat(run.get("complete").asBoolean()).isTrue();
        assertThat(run.get("floorAvgJctSeconds").asDouble()).isEqualTo(400);
        assertThat(run.get("ceilingAvgJctSeconds").asDouble()).isEqualTo(125);
        assertThat(run.get("gapClosed").asDouble()).isEqualTo(.545455);
        assertThat(run.get("floorSloAttainment").asDouble()).isEqualTo(.75);
    }

    private static ReportedRun.Training jobs(double... seconds) {
        return new ReportedRun.Training(
                seconds.length,
                seconds.length,
                Arrays.stream(seconds).boxed().toList(),
                Optional.empty(),
                Optional.empty());
    }

    private JsonNode summary() throws IOException {
        return new ObjectMapper().readTree(folder.resolve("summary.json").toFile());
    }

    @Test
    void writesALineAJobAndALineARequest() throws IOException {
        new ResultFiles(folder).write(List.of(outcome()));

        assertThat(Files.readAllLines(folder.resolve("jobs.csv")))
                .containsExactly(
                        "policy,lending,name,submit,start,completion,jct,restarts,gpuSeconds,outcome,kinds",
                        "deepboot,on,a,100,110,300,200,2,1234.5,completed,",
                        "deepboot,on,b,150,160,450,300,2,1234.5,completed,",
                        "deepboot,on,c,400,,,,0,0,,");
        assertThat(Files.readAllLines(folder.resolve("inference.csv")))
                .containsExactly(
                        "policy,lending,name,submit,start,completion,coldStart", "deepboot,on,r1,10,11.5,24.5,true");
    }

    @Test
    void writesWhereGpusAreAndTheKindsThatJobsHad() throws IOException {
        RunOutcome plain = outcome();
        KindId small = new KindId("Tesla-T4-16GB");
        JobResult job = new JobResult(
                new JobId("a"),
                "vision",
                START,
                Optional.of(START),
                Optional.empty(),
                1,
                0,
                7,
                .5,
                JobPhase.RUNNING,
                Optional.empty(),
                List.of(new KindId("A100-SXM4-80GB"), small));
        WorldResults results = new WorldResults(
                START,
                START.plusSeconds(60),
                List.of(job),
                List.of(),
                List.of(),
                1,
                0,
                60,
                0,
                0,
                OptionalDouble.empty(),
                List.of(new PlacedGpu(new GpuId("g1"), new NodeId("n1"), small, Pool.TRAINING)));

        new ResultFiles(folder)
                .write(List.of(
                        new RunOutcome(plain.run(), results, List.of(), 1),
                        new RunOutcome(plain.run(), results, List.of(), 1)));

        assertThat(Files.readAllLines(folder.resolve("gpus.csv")))
                .containsExactly("gpu,node,kind,pool", "g1,n1,Tesla-T4-16GB,training");
        assertThat(Files.readAllLines(folder.resolve("jobs.csv")))
                .contains("deepboot,on,a,0,0,,,1,7,,A100-SXM4-80GB;Tesla-T4-16GB");
    }

    @Test
    void writesTheDistributionsOfDelaysForTheReport() throws IOException {
        new ResultFiles(folder).write(List.of(outcome()));

        assertThat(Files.readAllLines(folder.resolve("delays.csv")))
                .startsWith("policy,lending,delay,seconds,share", "deepboot,on,startDelay,1.5,0");
        assertThat(DelayCurves.read(folder.resolve("delays.csv"), "responseOverhead"))
                .hasSizeGreaterThan(90)
                .allMatch(point -> point.seconds() == 9.5)
                .last()
                .matches(point -> point.share() == 1);
    }

    @Test
    void aJobsEndIsARelease() {
        Decision over = decision(new Reason("over", "job a is finished", Map.of(), List.of()));
        Decision demand = decision(new Reason("demand", "chat needs GPUs", Map.of(), List.of()));
        RunOutcome plain = outcome();

        Summary summary = Summary.of(new RunOutcome(plain.run(), plain.results(), List.of(over, demand), 1));

        assertThat(summary.lending().reclaims()).isEqualTo(1);
        assertThat(summary.lending().releases()).isEqualTo(1);
    }

    @Test
    void waitsOfQueuesAreShownWhereThereAreQueues() {
        RunOutcome plain = outcome();
        Distribution waits = new Distribution();
        waits.add(4);
        waits.add(30);

        RunOutcome queued = new RunOutcome(
                plain.run(), plain.results(), List.of(), 1, true, Optional.of(waits), Map.of("a", waits));

        assertThat(Summary.of(plain).fields()).doesNotContainKey("queueWaits");
        assertThat(Summary.of(queued).fields().get("queueWaits"))
                .isEqualTo(Map.of("asks", 2L, "max", 30.0, "p99", 29.74));
        assertThat(Summary.of(plain).fields()).doesNotContainKey("queueWaitsByQueue");
        assertThat(Summary.of(queued).fields().get("queueWaitsByQueue"))
                .isEqualTo(Map.of("a", Map.of("asks", 2L, "max", 30.0, "p99", 29.74)));
    }

    private static Decision decision(Reason reason) {
        return new Decision(
                new DecisionId(new DomainId("d"), 1, 8),
                START,
                START.plusSeconds(60),
                false,
                reason,
                new Action.Reclaim(
                        new JobId("a"),
                        List.of(new GpuId("g1")),
                        START.plusSeconds(60),
                        Allocation.suspended(Mechanism.AFE)));
    }

    @Test
    void writesADecisionALineWithItsReason() throws IOException {
        new ResultFiles(folder).write(List.of(outcome()));

        List<String> lines = Files.readAllLines(folder.resolve("decisions.jsonl"));
        assertThat(lines).hasSize(1);
        JsonNode decision = new ObjectMapper().readTree(lines.get(0));
        assertThat(decision.get("id").asText()).isEqualTo("d/1/7");
        assertThat(decision.get("kind").asText()).isEqualTo("lend");
        assertThat(decision.get("target").asText()).isEqualTo("a");
        assertThat(decision.get("at").asText()).isEqualTo("2026-01-01T00:01:00Z");
        assertThat(decision.get("gpus").get(0).asText()).isEqualTo("g1");
        assertThat(decision.get("reason").asText()).isEqualTo("job a grows");
        assertThat(decision.get("inputs").get(1).asLong()).isEqualTo(5);
    }

    @Test
    void aDecisionHasItsKindAndTheWordByWhichItIsCounted() throws IOException {
        Decision over = decision(new Reason("over", "job a is finished", Map.of(), List.of()));
        Decision demand = decision(new Reason("demand", "chat needs GPUs", Map.of(), List.of()));
        RunOutcome plain = outcome();

        new ResultFiles(folder).write(List.of(new RunOutcome(plain.run(), plain.results(), List.of(over, demand), 1)));

        List<String> lines = Files.readAllLines(folder.resolve("decisions.jsonl"));
        JsonNode release = new ObjectMapper().readTree(lines.get(0));
        assertThat(release.get("kind").asText()).isEqualTo("reclaim");
        assertThat(release.get("countedAs").asText()).isEqualTo("release");
        assertThat(new ObjectMapper().readTree(lines.get(1)).get("countedAs").asText())
                .isEqualTo("reclaim");
    }

    @Test
    void namesThatASpreadsheetWouldRunAreText() {
        assertThat(Csv.name("chat-7")).isEqualTo("chat-7");
        assertThat(Csv.name("")).isEmpty();
        assertThat(Csv.name("=cmd|' /C calc'!A0")).isEqualTo("'=cmd|' /C calc'!A0");
        assertThat(Csv.name("+1")).isEqualTo("'+1");
        assertThat(Csv.name("-1")).isEqualTo("'-1");
        assertThat(Csv.name("@SUM(1)")).isEqualTo("'@SUM(1)");
        assertThat(Csv.name("\t=1")).isEqualTo("'\t=1");
        assertThat(Csv.name("\r=1")).isEqualTo("\"'\r=1\"");
        assertThat(Csv.name("a,\"b\"\n")).isEqualTo("\"a,\"\"b\"\"\n\"");
    }

    @Test
    void aFormulaAsAJobsNameIsTextInTheTable() throws IOException {
        RunOutcome plain = outcome();
        WorldResults results = plain.results();
        var hostile = new WorldResults(
                START,
                START.plusSeconds(1000),
                List.of(job("=1+2", 100, 110, 300)),
                List.of(),
                results.services(),
                8,
                1600,
                400,
                3600,
                1800);

        new ResultFiles(folder).write(List.of(new RunOutcome(plain.run(), hostile, List.of(), 1)));

        assertThat(Files.readAllLines(folder.resolve("jobs.csv")).get(1)).startsWith("deepboot,on,'=1+2,100,110,");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void onAFullDiskNoHalfResultIsLeft() throws IOException {
        Files.createSymbolicLink(folder.resolve("inference.csv.part"), Path.of("/dev/full"));

        assertThatThrownBy(() -> new ResultFiles(folder).write(List.of(outcome())))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("inference.csv cannot be written to " + folder)
                .cause()
                .hasMessageContaining("No space left on device");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void onAFullDiskTheResultsOfAnEarlierRunStayTogether() throws IOException {
        new ResultFiles(folder).write(List.of(outcome()));
        Files.writeString(folder.resolve("report.html"), "of the earlier run");
        Files.createSymbolicLink(folder.resolve("inference.csv.part"), Path.of("/dev/full"));

        assertThatThrownBy(() -> new ResultFiles(folder).write(List.of(outcome())))
                .isInstanceOf(UncheckedIOException.class);

        assertThat(folder.resolve("report.html")).hasContent("of the earlier run");
        assertThat(folder.resolve("summary.json")).exists();
    }
}
