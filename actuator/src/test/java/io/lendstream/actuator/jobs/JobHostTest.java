package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.ID;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.DecisionId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs of real PyTorch processes that are resized, robbed of ranks, and left without their node process. */
@Tag("long")
class JobHostTest extends InJobDirectory {
    private Path log = Path.of("");

    @BeforeEach
    void makeLog() throws IOException {
        log = Files.createTempDirectory("afe");
        PythonTorch.orSkip(); // last: what follows a test that is skipped deletes the directories
    }

    @AfterEach
    void deleteLog() throws IOException {
        processes().forEach(OsProcess::kill);
        delete(log);
    }

    @Test
    void shrinksAndGrowsWithoutLosingOrRepeatingASample() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).program(), slots("0,1,2,3"), BATCHING, change(1));
            heard.await("applied 1");
            List<OsProcess> before = workersIn("0,1");
            host.resize(ID, slots("0,1"), BATCHING, change(2));
            heard.await("released gpu2 by 2");
            heard.await("released gpu3 by 2");
            heard.await("applied 2");
            host.resize(ID, slots("0,1,2,3"), BATCHING, change(3));
            heard.await("applied 3");
            assertThat(workersIn("0,1"))
                    .as("survivors stay the processes they were")
                    .isEqualTo(before);
            host.stop(ID, change(4));
            heard.await("exited 0");
        }

        assertThat(heard.lines()).contains("bound gpu0+gpu1+gpu2+gpu3 by 1", "bound gpu2+gpu3 by 3");
        StepLog steps = StepLog.read(log);
        assertThat(steps.entries().stream().map(StepLog.Entry::world)).contains(4, 2);
        assertThat(steps.stepsDoneAgain()).isZero();
        assertThat(steps.ranksTookTheirShares()).isTrue();
        assertTakenOnce(steps.schedule(), 0);
        assertThat(processes()).isEmpty();
    }

    @Test
    void rankZeroLeavesInAMoveToOtherGpus() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).program(), slots("0,1"), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots("2,3"), BATCHING, change(2));
            heard.await("released gpu0 by 2");
            heard.await("released gpu1 by 2");
            heard.await("applied 2");
            host.stop(ID, change(3));
            heard.await("exited 0");
        }

        assertThat(heard.lines().indexOf("bound gpu2+gpu3 by 2"))
                .as("it grows before it shrinks")
                .isLessThan(heard.lines().indexOf("released gpu0 by 2"));
        assertTakenOnce(StepLog.read(log).schedule(), 0);
    }

    @Test
    void rankZeroAndAnotherAreKilledAndNothingIsLostButTheCurrentStep() throws Exception {
        long lostAt;
        long resumedAt;
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).program(), slots("0,1,2,3"), BATCHING, change(1));
            heard.await("applied 1");
            heard.awaitStep(20);
            lostAt = System.nanoTime();
            workersIn("0").forEach(OsProcess::kill);
            heard.await("recovered without gpu0");
            resumedAt = System.nanoTime();
            heard.awaitUntil(() -> workersIn("0").size() == 2, "a replacement");
            workersIn("2").forEach(OsProcess::kill);
            heard.await("recovered without gpu2");
            host.stop(ID, change(2));
            heard.await("exited 0");
        }

        StepLog steps = StepLog.read(log);
        assertThat(resumedAt - lostAt).as("nanoseconds until training went on").isLessThan(3_000_000_000L);
        assertThat(steps.stepsDoneAgain()).as("steps lost in two crashes").isLessThanOrEqualTo(2);
        assertTakenOnce(steps.schedule(), 0);
    }

    @Test
    void whenAllWorkersAreKilledTrainingGoesOnFromTheLastCheckpoint() throws Exception {
        long before;
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).epochs(8).program(), slots("0,1"), BATCHING, change(1));
            heard.await("applied 1");
            heard.awaitUntil(() -> Files.exists(log.resolve("checkpoint")), "a checkpoint");
            before = StepLog.read(log).lastStep();
            processes().forEach(OsProcess::kill);
            heard.await("exited 0");
        }

        StepLog steps = StepLog.read(log);
        assertThat(before).isPositive();
        assertThat(steps.entries().stream().filter(each -> each.step() == 0).map(StepLog.Entry::membership))
                .as("it did not start again")
                .containsOnly(1L);
        assertTakenOnce(steps.schedule(), 8);
    }

    @Test
    void aJobThatFinishesTakesWhoWasAboutToJoinWithIt() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).epochs(1).program(), slots("0,1"), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots("0,1,2"), BATCHING, change(2));
            heard.await("exited 0");
        }

        assertTakenOnce(StepLog.read(log).schedule(), 1);
        assertThat(processes()).isEmpty();
    }

    @Test
    void twentyRandomResizesLoseNothing() throws Exception {
        var random = new SplittableRandom(5);
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).program(), slots("0,1,2"), BATCHING, change(1));
            heard.await("applied 1");
            for (int i = 2; i <= 21; i++) {
                int chosen = 1 + random.nextInt(15);
                String next = IntStream.range(0, 4)
                        .filter(slot -> (chosen >> slot & 1) == 1)
                        .mapToObj(Integer::toString)
                        .collect(java.util.stream.Collectors.joining(","));
                host.resize(ID, slots(next), new Batching(4 + random.nextInt(8), 1 + random.nextInt(2), 1), change(i));
                if (random.nextInt(4) > 0) { // else the next comes while this one is in progress
                    heard.await("applied " + i);
                }
            }
            heard.await("applied 21");
            host.stop(ID, change(22));
            heard.await("exited 0");
        }

        StepLog steps = StepLog.read(log);
        assertThat(heard.lines()).noneMatch(line -> line.startsWith("recovered") || line.contains("forced"));
        assertThat(steps.stepsDoneAgain()).isZero();
        assertThat(steps.ranksTookTheirShares()).isTrue();
        assertTakenOnce(steps.schedule(), 0);
        assertThat(processes()).isEmpty();
    }

    @Test
    void aStopDoesNotTakeTheStoreFromAGroupThatIsBeingBuilt() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).slowBuilds().program(), slots("0,1"), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots("0,1"), new Batching(4, 2, 1), change(2));
            heard.awaitUntil(() -> file().applied().localBatch() == 4, "that they agree, before their group is built");
            host.stop(ID, change(3));
            heard.await("exited 0");
        }

        assertThat(heard.lines()).contains("released gpu0 by 3", "released gpu1 by 3");
        assertTakenOnce(StepLog.read(log).schedule(), 0);
    }

    @Test
    void workersOutliveANodeProcessThatIsKilledInTheMiddleOfResizes() throws Exception {
        var random = new SplittableRandom(7);
        var first = NodeProcess.start(state, log);
        first.tell("start 0,1,2,3 1");
        first.heard().await("applied 1");
        first.tell("resize 0,1 2");
        heard.awaitUntil(() -> isNoted(change(2)), "that the first has begun");
        Thread.sleep(random.nextInt(60));
        first.kill();
        long before = StepLog.read(log).lastStep();
        var second = NodeProcess.start(state, log);
        second.heard().awaitUntil(() -> workersIn("2,3").isEmpty(), "the shrink that the first began");
        second.tell("resize 0,1,2 3");
        heard.awaitUntil(() -> isNoted(change(3)), "that the second has begun");
        Thread.sleep(300 + random.nextInt(1500));
        second.kill();
        var third = NodeProcess.start(state, log);
        third.heard().awaitUntil(() -> worldOfLastStep() == 3, "a step of three workers");
        assertThat(workersIn("2")).as("one shell and one program").hasSize(2);
        third.tell("stop - 4");
        third.heard().await("exited 0");
        third.kill();

        StepLog steps = StepLog.read(log);
        assertThat(steps.lastStep()).isGreaterThan(before);
        assertThat(steps.stepsDoneAgain()).isZero();
        assertTakenOnce(steps.schedule(), 0);
        assertThat(processes()).isEmpty();
    }

    @Test
    void aWorkerThatDoesNotLeaveIsKilledWhenForced() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            // Steps of a minute: no worker reaches a boundary.
            host.start(ID, new ExampleJob(log).stepSeconds(60).program(), slots("0"), BATCHING, change(1));
            heard.await("bound gpu0 by 1");
            host.resize(ID, List.of(), BATCHING, change(2));
            host.force(ID, slots("0").stream().map(Slot::gpu).toList());
            heard.await("released gpu0 by 2, forced");
            assertThat(processes()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AFE")
    void otherModesRestartFromTheirCheckpointAtTheNewSize(JobProgram.Mode mode) throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).mode(mode).program(), slots("0,1"), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots("1"), BATCHING, change(2));
            heard.await("released gpu0 by 2");
            heard.await("applied 2");
            host.stop(ID, change(3));
            heard.await("exited 0");
        }

        StepLog steps = StepLog.read(log);
        assertThat(steps.entries().stream().map(StepLog.Entry::world)).contains(2, 1);
        assertTakenOnce(steps.schedule(), 0);
        assertThat(processes()).isEmpty();
    }

    @Test
    void theLossAfterResizesAndACrashIsThatOfAnUndisturbedRun() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).program(), slots("0,1,2,3"), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots("1,3"), BATCHING, change(2));
            heard.await("applied 2");
            host.resize(ID, slots("0,1,2,3"), BATCHING, change(3));
            heard.await("applied 3");
            workersIn("1").forEach(OsProcess::kill);
            heard.await("recovered without gpu1");
            heard.awaitStep(300);
            host.stop(ID, change(4));
            heard.await("exited 0");
        }
        StepLog steps = StepLog.read(log);
        assertTakenOnce(steps.schedule(), 0);
        Path schedule = log.resolve("schedule.json");
        new ObjectMapper().writeValue(schedule.toFile(), steps.schedule());

        List<Double> losses = PythonTorch.run(List.of(
                        "tests/undisturbed.py",
                        schedule.toString(),
                        log.resolve("checkpoint").toString(),
                        "" + ExampleJob.SAMPLES,
                        "" + ExampleJob.FEATURES,
                        "1",
                        "2",
                        "3",
                        "4",
                        "5",
                        "6"))
                .lines()
                .map(Double::parseDouble)
                .toList();

        double disturbed = losses.get(0);
        List<Double> undisturbed = losses.subList(1, losses.size());
        double mean = undisturbed.stream().mapToDouble(each -> each).average().orElseThrow();
        double deviation = Math.sqrt(undisturbed.stream()
                        .mapToDouble(each -> (each - mean) * (each - mean))
                        .sum()
                / (undisturbed.size() - 1));
        System.out.printf(
                "loss %.6f, undisturbed on the same samples %.6f; standard deviation over seeds %.6f%n",
                disturbed, undisturbed.get(0), deviation);
        assertThat(Math.abs(disturbed - undisturbed.get(0))).isLessThan(2 * deviation);
        assertThat(deviation).isPositive();
    }

    @Test
    void aWorkerOfAnotherVersionIsRefusedWithTheReason() throws Exception {
        try (var host = JobHost.open(state, heard)) {
            assertThat(host.running()).isEmpty();
            String answer = PythonTorch.run(
                    List.of("-c", """
                    import socket, sys
                    sys.path.insert(0, "lendstream_afe")
                    import wire
                    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                    wire.write(s, {"type": "hello", "version": 99, "worker": "w", "token": "t"})
                    print(wire.read(s)[0]["why"])
                    """, state.resolve("jobs.sock").toString()));

            assertThat(answer).contains("uses protocol version 99", "uses 1");
        }
    }

    @Test
    void thePartsOfThePackageDoWhatTheirTestsSay() throws Exception {
        assertThat(PythonTorch.run(List.of("-m", "unittest", "discover", "-s", "tests")))
                .contains("\nOK");
    }

    /** Within each epoch every sample comes once; the last epoch may be incomplete. {@code epochs} 0: any number. */
    private static void assertTakenOnce(List<List<Integer>> schedule, int epochs) {
        List<Integer> taken = new ArrayList<>();
        int whole = 0;
        for (List<Integer> step : schedule) {
            taken.addAll(step);
            if (taken.size() >= ExampleJob.SAMPLES) {
                assertThat(taken)
                        .as("samples of epoch %d", whole)
                        .containsExactlyInAnyOrderElementsOf(
                                IntStream.range(0, ExampleJob.SAMPLES).boxed().toList());
                taken.clear();
                whole++;
            }
        }
        assertThat(taken).doesNotHaveDuplicates();
        assertThat(schedule).isNotEmpty();
        if (epochs > 0) {
            assertThat(whole).isEqualTo(epochs);
            assertThat(taken).isEmpty();
        }
    }

    /** Whether a change is the last that the job's file speaks of. */
    private boolean isNoted(DecisionId change) {
        return file().lastChange().change().equals(change.toString());
    }

    private JobFile file() {
        return JobFile.read(JobHome.of(state.resolve("jobs"), ID).resolve(Job.FILE));
    }

    private int worldOfLastStep() {
        try {
            List<StepLog.Entry> entries = StepLog.read(log).entries();
            return entries.get(entries.size() - 1).world();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<OsProcess> workersIn(String numbers) {
        return Stream.of(numbers.split(",", -1))
                .flatMap(number -> OsProcess.carrying("CUDA_VISIBLE_DEVICES", number).stream())
                .filter(processes()::contains)
                .toList();
    }
}
