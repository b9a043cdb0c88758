package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.ID;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static io.lendstream.actuator.jobs.ExampleJob.slots;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A real PyTorch job over two hosts, which are this machine under two addresses and share only the folder of the
 * checkpoint. Each has the one GPU {@code gpu0} or {@code gpu1}, and the second one {@code gpu2} too.
 */
@Tag("long")
class TwoMachinesTest extends InJobDirectory {
    private final RecordingJobListener other = new RecordingJobListener();
    private Path otherState = Path.of("");
    private Path log = Path.of("");

    @BeforeEach
    void makeDirectories() throws IOException {
        log = Files.createTempDirectory("afe");
        otherState = Files.createTempDirectory("jobs");
        PythonTorch.orSkip(); // last: what follows a test that is skipped deletes the directories
    }

    @AfterEach
    void deleteDirectories() throws IOException {
        processes().forEach(OsProcess::kill);
        others().forEach(OsProcess::kill);
        delete(log);
        delete(otherState);
    }

    private List<OsProcess> others() {
        return OsProcess.carrying(
                "LENDSTREAM_AFE_SOCKET", otherState.resolve("jobs.sock").toString());
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static Optional<WorldPart> world(int self, int onSecond, int port) {
        return Optional.of(WorldPart.of(
                List.of(new WorldPart.Member("n1", "127.0.0.1", 1), new WorldPart.Member("n2", "127.0.0.2", onSecond)),
                self,
                port));
    }

    private StepLog steps() {
        try {
            return StepLog.read(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until ten steps of a world are done after a time. */
    private void awaitStepsOf(int world, long since) throws InterruptedException {
        heard.awaitUntil(
                () -> steps().entries().stream()
                                .filter(each -> each.world() == world && each.nanos() > since)
                                .count()
                        >= 10L * world,
                "steps of " + world + " workers; the second host heard " + other.lines());
    }

    private static long since() {
        return System.nanoTime();
    }

    @ParameterizedTest
    @EnumSource
    void aJobGrowsToAnotherMachineLosesAWorkerThereAndComesBack(JobProgram.Mode mode) throws Exception {
        JobProgram program = new ExampleJob(log).mode(mode).program();
        try (var first = JobHost.open(state, heard);
                var second = JobHost.open(otherState, other)) {
            first.start(ID, program, slots("0"), BATCHING, change(1));
            heard.await("applied 1");
            awaitStepsOf(1, 0);
            heard.awaitUntil(
                    () -> mode != JobProgram.Mode.AFE || Files.exists(log.resolve("checkpoint")),
                    "a checkpoint, from which a job goes on that had changed in place");

            int port = freePort();
            second.start(ID, program, slots("1"), BATCHING, change(2), world(1, 1, port));
            first.resize(ID, slots("0"), BATCHING, change(2), world(0, 1, port));
            other.await("applied 2");
            heard.await("applied 2");
            awaitStepsOf(2, 0);
            long before = steps().lastStep();

            long killed = since();
            OsProcess.carrying("CUDA_VISIBLE_DEVICES", "1").stream()
                    .filter(others()::contains)
                    .forEach(OsProcess::kill);
            awaitStepsOf(2, killed);
            System.out.printf("%s: steps of both %.1f s after a kill%n", mode, (since() - killed) / 1e9);

            port = freePort();
            first.resize(ID, slots("0"), BATCHING, change(3), world(0, 2, port));
            second.resize(ID, slots("1,2"), BATCHING, change(3), world(1, 2, port));
            heard.await("applied 3");
            awaitStepsOf(3, 0);

            long shrunk = since();
            second.stop(ID, change(4));
            other.await("exited 0");
            Thread.sleep(1500); // the first hears of it later
            first.resize(ID, slots("0"), BATCHING, change(4));
            heard.await("applied 4");
            awaitStepsOf(1, shrunk);
            assertThat(steps().lastStep()).isGreaterThan(before);
            first.stop(ID, change(5));
            heard.await("exited 0");
        }

        assertThat(heard.lines()).noneMatch(line -> line.startsWith("failed") || line.contains("forced"));
        assertThat(other.lines()).contains("bound gpu1 by 2", "bound gpu2 by 3", "released gpu1 by 4");
        assertThat(other.lines()).noneMatch(line -> line.startsWith("failed"));
        assertThat(steps().entries().stream().filter(each -> each.step() == 0).map(StepLog.Entry::world))
                .as("it never began again")
                .containsOnly(1);
        assertThat(processes()).isEmpty();
        assertThat(others()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AFE")
    void aJobOverTwoMachinesFinishes(JobProgram.Mode mode) throws Exception {
        JobProgram program = new ExampleJob(log).epochs(1).mode(mode).program();
        int port = freePort();
        try (var first = JobHost.open(state, heard);
                var second = JobHost.open(otherState, other)) {
            first.start(ID, program, slots("0"), BATCHING, change(1), world(0, 1, port));
            second.start(ID, program, slots("1"), BATCHING, change(1), world(1, 1, port));
            heard.await("exited 0");
            assertThat(other.lines()).noneMatch(line -> line.startsWith("exited"));

            second.stop(ID, change(2));
            other.await("exited 0");
        }

        assertThat(other.lines()).contains("released gpu1 by 2");
        assertThat(steps().schedule().stream().mapToInt(List::size).sum()).isEqualTo(ExampleJob.SAMPLES);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AFE")
    void theFirstMachineLeavesAndTheOtherGoesOnFromWhatItWroteLast(JobProgram.Mode mode) throws Exception {
        JobProgram program = new ExampleJob(log).mode(mode).program();
        int port = freePort();
        try (var first = JobHost.open(state, heard);
                var second = JobHost.open(otherState, other)) {
            first.start(ID, program, slots("0"), BATCHING, change(1), world(0, 1, port));
            second.start(ID, program, slots("1"), BATCHING, change(1), world(1, 1, port));
            awaitStepsOf(2, 0);

            long left = since();
            second.resize(ID, slots("1"), BATCHING, change(2));
            first.stop(ID, change(2));
            heard.await("exited 0");
            other.await("applied 2");
            awaitStepsOf(1, left);
            second.stop(ID, change(3));
            other.await("exited 0");
        }

        assertThat(steps().stepsDoneAgain()).isZero();
        assertThat(heard.lines()).contains("released gpu0 by 2");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AFE")
    void anotherNodeProcessFindsItsPartAndTheFirstMachineMayDie(JobProgram.Mode mode) throws Exception {
        JobProgram program = new ExampleJob(log).mode(mode).program();
        int port = freePort();
        try (var second = JobHost.open(otherState, other)) {
            try (var first = JobHost.open(state, heard)) {
                first.start(ID, program, slots("0"), BATCHING, change(1), world(0, 1, port));
                second.start(ID, program, slots("1"), BATCHING, change(1), world(1, 1, port));
                heard.await("applied 1");
                awaitStepsOf(2, 0);
            }
            long reopened = since();
            var again = JobHost.open(state, heard);
            awaitStepsOf(2, reopened);
            assertThat(again.running().get(0).occupied()).extracting(Slot::gpu).containsExactly(new GpuId("gpu0"));
            again.close();
            processes().forEach(OsProcess::kill); // with all that runs there

            long alone = since();
            second.resize(ID, slots("1"), BATCHING, change(2));
            other.await("applied 2");
            awaitStepsOf(1, alone);
            second.stop(ID, change(3));
            other.await("exited 0");
        }
    }
}
