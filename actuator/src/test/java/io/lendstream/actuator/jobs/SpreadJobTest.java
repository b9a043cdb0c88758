package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.ID;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The part of one machine of a job over several; the others are not there. They need no PyTorch. */
class SpreadJobTest extends InJobDirectory {
    private static final List<WorldPart.Member> MEMBERS =
            List.of(new WorldPart.Member("n1", "10.0.0.1", 2), new WorldPart.Member("n2", "fd00::2", 1));

    private final AtomicLong now = new AtomicLong(System.nanoTime());
    private Path log = Path.of("");
    private Optional<Job> job = Optional.empty();

    @BeforeEach
    void makeLog() throws IOException {
        log = Files.createTempDirectory("spread");
        Files.createDirectories(state.resolve("jobs/example"));
        Files.createDirectories(state.resolve("jobs/other"));
    }

    @AfterEach
    void deleteLog() throws IOException {
        processes().forEach(OsProcess::kill);
        delete(log);
    }

    private static Optional<WorldPart> world(int self) {
        return Optional.of(WorldPart.of(MEMBERS, self, 29517));
    }

    /** A worker notes its variables, and then waits for the file that tells its exit status. */
    private JobProgram program(JobProgram.Mode mode) {
        String script =
                "echo \"$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT $LENDSTREAM_AFE_SPEAKER\""
                        + " >> started; trap 'exit 0' TERM; while ! [ -e end$RANK ]; do sleep 0.05; done; exit $(cat end$RANK)";
        return new JobProgram(
                mode,
                List.of("sh", "-c", script),
                List.of("echo"),
                Map.of(),
                log.toString(),
                3,
                Duration.ofSeconds(20));
    }

    private Job started(int self, String numbers) {
        Path home = state.resolve("jobs/example");
        var shared = new Job.Shared(state.resolve("jobs.sock"), CleanEnvironment.ofThisProcess(), now::get);
        Job made = new Job(ID, program(JobProgram.Mode.RESTART), BATCHING, change(1), home, shared, heard);
        made.resize(slots(numbers), BATCHING, change(1), world(self));
        made.advance();
        job = Optional.of(made);
        return made;
    }

    private List<String> starts() {
        try {
            return Files.exists(log.resolve("started")) ? Files.readAllLines(log.resolve("started")) : List.of();
        } catch (IOException e) {
            return List.of();
        }
    }

    private void awaitStarts(int number) throws InterruptedException {
        heard.awaitUntil(() -> starts().size() == number, number + " starts");
    }

    private void look() {
        job.orElseThrow().look(now.get());
        job.orElseThrow().advance();
    }

    private void awaitNoWorker() throws InterruptedException {
        heard.awaitUntil(
                () -> {
                    look();
                    return job.orElseThrow().workers().isEmpty();
                },
                "the end of the workers");
    }

    private void end(int rank, int code) throws IOException {
        Files.writeString(log.resolve("end.new"), "" + code);
        Files.move(log.resolve("end.new"), log.resolve("end" + rank));
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
        look();
    }

    @Test
    void ranksContinueOverTheMachinesMeetAtTheFirstAndOneOfEachMachineReports() throws Exception {
        started(0, "0,1");
        awaitStarts(2);
        started(1, "4");
        awaitStarts(3);

        assertThat(starts())
                .containsExactlyInAnyOrder(
                        "0 3 0 2 10.0.0.1 29517 1", "1 3 0 2 10.0.0.1 29517 ", "2 3 0 1 10.0.0.1 29517 1");
    }

    @Test
    void aChangeOfAnotherMachineRestartsThePartThatStaysTheSame() throws Exception {
        Job part = started(1, "4");
        awaitStarts(1);

        part.resize(slots("4"), BATCHING, change(2), Optional.of(WorldPart.of(MEMBERS, 1, 29518)));
        awaitNoWorkerOfBefore();

        assertThat(starts().get(1)).endsWith(" 29518 1");
    }

    private void awaitNoWorkerOfBefore() throws InterruptedException {
        heard.awaitUntil(
                () -> {
                    look();
                    return starts().size() == 2;
                },
                "another start");
    }

    @Test
    void aJobHasFinishedWhenTheFirstMachineHasAndNoChangeExplainsIt() throws Exception {
        started(0, "0,1");
        awaitStarts(2);
        end(0, 0);
        end(1, 0);
        awaitNoWorker();
        pass(RestartRescaler.LAG.minusMillis(1));
        assertThat(heard.lines()).doesNotContain("exited 0");

        pass(Duration.ofMillis(2));

        assertThat(heard.lines()).contains("exited 0");
        assertThat(starts()).hasSize(2);
    }

    @Test
    void workersThatEndedForAChangeOfWhichThisMachineHearsLaterHaveNotFinished() throws Exception {
        Job part = started(0, "0,1");
        awaitStarts(2);
        end(0, 0);
        end(1, 0);
        awaitNoWorker();
        Files.delete(log.resolve("end0"));

        part.resize(slots("0"), BATCHING, change(2), Optional.empty());
        part.advance();
        awaitStarts(3);

        assertThat(starts().get(2)).startsWith("0 1 0 1 127.0.0.1 ");
        pass(RestartRescaler.LAG.multipliedBy(2));
        assertThat(heard.lines()).doesNotContain("exited 0");
    }

    @Test
    void workersThatSayThatTheyStopHaveNotFinished() throws Exception {
        Job part = started(0, "0,1");
        awaitStarts(2);
        Worker first = part.workers().all().get(0);
        part.heard(first, "stopped", new com.fasterxml.jackson.databind.ObjectMapper().createObjectNode());
        end(0, 0);
        end(1, 0);
        awaitNoWorker();
        assertThat(starts()).hasSize(2);
        Files.delete(log.resolve("end0"));
        Files.delete(log.resolve("end1"));

        pass(RestartRescaler.LAG.plusMillis(1));
        awaitStarts(4);

        assertThat(heard.lines()).doesNotContain("exited 0");
    }

    @Test
    void anotherMachineWaitsForTheEndOfTheJobOrForItsNextChange() throws Exception {
        Job part = started(1, "4");
        awaitStarts(1);
        end(2, 0);
        awaitNoWorker();
        pass(Duration.ofHours(1));
        assertThat(heard.lines()).doesNotContain("exited 0");
        Files.delete(log.resolve("end2"));

        part.resize(slots("4"), BATCHING, change(2), world(1));
        part.advance();
        awaitStarts(2);
        part.stop(change(3));
        awaitNoWorker();

        assertThat(heard.lines()).contains("exited 0", "released gpu4 by 3");
    }

    @Test
    void afterAFailureTheFirstMachineStartsAtOnceAndTheOthersWhenItsWorkersHaveFailedToo() throws Exception {
        started(1, "4");
        awaitStarts(1);
        now.addAndGet(Duration.ofSeconds(1).toNanos()); // no delay of a second restart is left
        end(2, 1);
        awaitNoWorker();
        Files.delete(log.resolve("end2"));
        pass(RestartRescaler.NOTICE.minusMillis(1));
        assertThat(job.orElseThrow().workers().isEmpty()).isTrue();
        pass(Duration.ofMillis(2));
        awaitStarts(2);

        started(0, "0,1");
        awaitStarts(4);
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        end(1, 1);
        heard.awaitUntil(
                () -> {
                    look();
                    return starts().size() >= 6;
                },
                "both ranks again");
    }

    @Test
    void aJobThatFailsTooOftenFailsOnlyIfNoChangeComesThatExplainsIt() throws Exception {
        started(1, "4");
        end(2, 7);
        for (int failure = 1; failure <= 4; failure++) {
            awaitStarts(failure);
            awaitNoWorker();
            if (failure < 4) {
                pass(RestartRescaler.NOTICE.plusMillis(1));
            }
        }
        assertThat(heard.lines()).noneMatch(line -> line.startsWith("exited"));

        pass(RestartRescaler.LAG.plusMillis(1));

        assertThat(heard.lines()).contains("exited 7");
        assertThat(starts()).hasSize(4);
    }

    @Test
    void aPartWithFewerWorkersThanTheOthersCountOnDoesNotStart() throws Exception {
        Job part = started(0, "1");
        pass(Duration.ofMinutes(1));
        assertThat(starts()).isEmpty();

        part.resize(slots("1"), BATCHING, change(2), Optional.empty());
        part.advance();

        awaitStarts(1);
    }

    @Test
    void aJobThatChangesInPlaceIsRestartedFromWhenItHasOtherMachines() throws Exception {
        Path home = state.resolve("jobs/example");
        var shared = new Job.Shared(state.resolve("jobs.sock"), CleanEnvironment.ofThisProcess(), now::get);
        Job part = new Job(ID, program(JobProgram.Mode.AFE), BATCHING, change(1), home, shared, heard);
        job = Optional.of(part);
        part.resize(slots("4"), BATCHING, change(1), Optional.empty());
        part.advance();
        awaitStarts(1);

        part.resize(slots("4"), BATCHING, change(2), world(1));
        awaitNoWorkerOfBefore();

        assertThat(starts()).containsExactly("      ", "2 3 0 1 10.0.0.1 29517 1");
        assertThat(JobFile.read(home.resolve(Job.FILE)).program().mode()).isEqualTo(JobProgram.Mode.RESTART);
    }

    @Test
    void anotherNodeProcessGoesOnWithTheWorldOfTheWorkers() throws Exception {
        started(1, "4");
        awaitStarts(1);
        JobFile left = JobFile.read(state.resolve("jobs/example").resolve(Job.FILE));
        assertThat(left.world()).isEqualTo(world(1));
        assertThat(left.runs()).contains(change(1));

        var shared = new Job.Shared(state.resolve("jobs.sock"), CleanEnvironment.ofThisProcess(), now::get);
        Job next = new Job(
                ID, left.program().program(), left.batching(), change(1), state.resolve("jobs/example"), shared, heard);
        next.adopt(left);
        job = Optional.of(next);
        pass(Duration.ofSeconds(1));
        assertThat(next.workers().occupied()).isEqualTo(slots("4"));
        end(2, 1);
        awaitNoWorker();
        Files.delete(log.resolve("end2"));
        pass(RestartRescaler.NOTICE.plusMillis(1));
        awaitStarts(2);

        assertThat(starts().get(1)).isEqualTo(starts().get(0));
    }

    @Test
    void aFinishedJobDoesNotStartAgainInAnotherNodeProcess() throws Exception {
        started(0, "0,1");
        awaitStarts(2);
        end(0, 0);
        end(1, 0);
        awaitNoWorker();
        JobFile left = JobFile.read(state.resolve("jobs/example").resolve(Job.FILE));
        assertThat(left.finished()).isTrue();

        var shared = new Job.Shared(state.resolve("jobs.sock"), CleanEnvironment.ofThisProcess(), now::get);
        Job next = new Job(
                ID, left.program().program(), left.batching(), change(1), state.resolve("jobs/example"), shared, heard);
        next.adopt(left);
        job = Optional.of(next);
        pass(RestartRescaler.LAG.minusMillis(1));
        assertThat(heard.lines()).doesNotContain("exited 0");
        pass(Duration.ofMillis(2));

        assertThat(heard.lines()).contains("exited 0");
        assertThat(starts()).hasSize(2);
    }

    @Test
    void launchersMeetAtTheFirstMachineAndRestartWorkersTogether() throws Exception {
        Path home = state.resolve("jobs/example");
        var shared = new Job.Shared(state.resolve("jobs.sock"), CleanEnvironment.ofThisProcess(), now::get);
        List<String> shown =
                List.of("sh", "-c", "echo \"$@\" > launched.new && mv launched.new launched; sleep 300", "launcher");
        JobProgram program = new JobProgram(
                JobProgram.Mode.TORCHRUN,
                List.of("train.py", "--x"),
                shown,
                Map.of(),
                log.toString(),
                2,
                Duration.ofSeconds(20));
        Job part = new Job(ID, program, BATCHING, change(7), home, shared, heard);
        job = Optional.of(part);
        List<WorldPart.Member> members =
                List.of(new WorldPart.Member("n1", "fd00::1", 2), new WorldPart.Member("n2", "10.0.0.2", 1));
        part.resize(slots("4"), BATCHING, change(7), Optional.of(WorldPart.of(members, 1, 29517)));
        part.advance();
        heard.awaitUntil(() -> Files.exists(log.resolve("launched")), "the launcher");

        assertThat(Files.readString(log.resolve("launched")))
                .contains("--nproc_per_node=1", "--rdzv_backend=c10d", "--nnodes=2", "--max_restarts=2")
                .contains("--rdzv_id=example-1-7", "--rdzv_endpoint=[fd00::1]:29517", "is_host=0,read_timeout=320")
                .endsWith(" train.py --x\n");
    }
}
