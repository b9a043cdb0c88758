package io.lendstream.actuator.jobs;

import static io.lendstream.actuator.jobs.ExampleJob.BATCHING;
import static io.lendstream.actuator.jobs.ExampleJob.ID;
import static io.lendstream.actuator.jobs.ExampleJob.change;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.id.GpuId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A PyTorch job on a real GPU, which all its workers share. Skipped on a machine without one. */
class GpuTrainingTest extends InJobDirectory {
    private Path log = Path.of("");
    private List<Slot> slots = List.of();

    @BeforeEach
    void findGpu() throws Exception {
        log = Files.createTempDirectory("afe");
        String uuid = PythonTorch.gpuOrSkip();
        // three names of one GPU, by which the test tells its workers apart
        slots = Stream.of(uuid, "0", uuid.substring(0, uuid.lastIndexOf('-')))
                .map(device -> new Slot(new GpuId("as-" + device), device))
                .toList();
    }

    @AfterEach
    void deleteLog() throws IOException {
        processes().forEach(OsProcess::kill);
        delete(log);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gloo", "nccl"})
    void growsTwiceShrinksLosesARankAndLearnsWhatAnUndisturbedRunDoes(String backend) throws Exception {
        try (var host = JobHost.open(state, heard)) {
            host.start(ID, new ExampleJob(log).onGpu(backend).program(), slots.subList(1, 2), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots.subList(0, 2), BATCHING, change(2));
            heard.await("applied 2");
            host.resize(ID, slots, BATCHING, change(3));
            heard.await("applied 3");
            assertThat(processesOnGpus()).containsAll(pids());
            workersIn(slots.get(0)).forEach(OsProcess::kill);
            heard.await("recovered without " + slots.get(0).gpu());
            int reported = heard.reports().size();
            heard.awaitUntil(
                    () -> heard.reports().stream().skip(reported).anyMatch(report -> report.replicas() == 3),
                    "a new worker that takes part");
            host.resize(ID, slots.subList(2, 3), BATCHING, change(4));
            heard.await("applied 4");
            heard.awaitStep(heard.reports().get(heard.reports().size() - 1).step() + 20);
            host.stop(ID, change(5));
            heard.await("exited 0");
            assertThat(processesOnGpus()).as("GPU memory is free").doesNotContainAnyElementsOf(pids());
        }

        assertThat(heard.lines()).noneMatch(line -> line.startsWith("failed"));
        StepLog steps = StepLog.read(log);
        assertThat(steps.entries().stream().map(StepLog.Entry::world)).contains(1, 2, 3);
        assertThat(steps.stepsDoneAgain()).as("steps lost in the crash").isLessThanOrEqualTo(1);
        assertThat(steps.ranksTookTheirShares()).isTrue();
        List<Double> losses = lossesOf(steps);
        assertThat(losses.get(0)).as("loss").isCloseTo(losses.get(1), within(1e-3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gloo", "nccl"})
    void largeTensorsAreSentWhileTheRankThatSendsThemTrains(String backend) throws Exception {
        try (var host = JobHost.open(state, heard)) {
            JobProgram program =
                    new ExampleJob(log).onGpu(backend).large().stepSeconds(0).program();
            host.start(ID, program, slots.subList(0, 2), BATCHING, change(1));
            heard.await("applied 1");
            host.resize(ID, slots, BATCHING, change(2));
            heard.await("applied 2");
            host.resize(ID, slots.subList(1, 2), BATCHING, change(3));
            heard.await("applied 3");
            host.stop(ID, change(4));
            heard.await("exited 0");
        }

        assertThat(heard.lines()).noneMatch(line -> line.startsWith("recovered") || line.startsWith("failed"));
        assertThat(StepLog.read(log).stepsDoneAgain()).isZero();
    }

    /** The loss of the job's last checkpoint, and that of one process on the CPU with the same samples. */
    private List<Double> lossesOf(StepLog steps) throws Exception {
        Path schedule = log.resolve("schedule.json");
        new ObjectMapper().writeValue(schedule.toFile(), steps.schedule());
        String checkpoint = log.resolve("checkpoint").toString();
        String shape = "%d %d".formatted(ExampleJob.SAMPLES, ExampleJob.FEATURES);
        List<Double> losses = PythonTorch.run(Stream.concat(
                                Stream.of("tests/undisturbed.py", schedule.toString(), checkpoint),
                                Stream.of((shape + " 1").split(" ", -1)))
                        .toList())
                .lines()
                .map(Double::parseDouble)
                .toList();
        System.out.printf("loss %.6f, undisturbed on the same samples %.6f%n", losses.get(0), losses.get(1));
        return losses;
    }

    private List<OsProcess> workersIn(Slot slot) {
        return OsProcess.carrying("CUDA_VISIBLE_DEVICES", slot.device()).stream()
                .filter(processes()::contains)
                .toList();
    }

    /** The processes of the example that have noted a step; the shell that waits for each has not. */
    private List<String> pids() throws IOException {
        try (Stream<Path> files = Files.list(log)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".jsonl"))
                    .map(name -> name.substring(0, name.indexOf('.')))
                    .toList();
        }
    }

    private static List<String> processesOnGpus() throws IOException {
        Process query = new ProcessBuilder("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader").start();
        return new String(query.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .map(String::strip)
                .toList();
    }
}
