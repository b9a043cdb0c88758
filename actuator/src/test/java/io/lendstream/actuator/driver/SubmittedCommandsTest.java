package io.lendstream.actuator.driver;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.ProgramMode;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that bring their command. */
class SubmittedCommandsTest {
    @TempDir
    private Path folder;

    private final RecordingListener heard = new RecordingListener();
    private final Map<String, String> environment =
            Map.of("PATH", System.getenv("PATH"), "LENDSTREAM_KAFKA_SASL_JAAS_CONFIG", "password=broker");
    private TrainingJob submitted = job("own", ProgramMode.RESTART);
    private Optional<ProcessDriver> driver = Optional.empty();

    private static TrainingJob job(String application, ProgramMode mode) {
        SubmittedProgram program =
                new SubmittedProgram(List.of("sh", "-c", "env > env.new && mv env.new env; exit 3"), "/", mode);
        return new TrainingJob(
                        Orders.JOB.job(),
                        new DomainId("d"),
                        Orders.BY,
                        application,
                        new TrainingJob.Scaling(1, 1, 1, false),
                        TrainingJob.Precedence.USUAL,
                        TrainingJob.Traits.ofFixedSize(1),
                        "process",
                        Optional.empty())
                .ranBy(new TrainingJob.Runner(SubmittedProgram.DRIVER, Optional.empty(), Optional.of(program)));
    }

    /** The same job in a directory of this test, in which its command writes a file. */
    private TrainingJob inFolder(TrainingJob job) {
        SubmittedProgram program = job.program().orElseThrow();
        return job.ranBy(new TrainingJob.Runner(
                job.driver(),
                Optional.empty(),
                Optional.of(new SubmittedProgram(program.command(), folder.toString(), program.mode()))));
    }

    @BeforeEach
    void files() throws IOException {
        Files.createDirectories(folder.resolve("programs/jobs"));
        submitted = inFolder(submitted);
    }

    @AfterEach
    void close() {
        driver.ifPresent(ProcessDriver::close);
    }

    private final class Known implements ClusterLookup {
        @Override
        public Optional<TrainingJob> job(JobId job) {
            return Optional.of(submitted).filter(known -> known.job().equals(job));
        }

        @Override
        public Optional<Device> device(GpuId unit) {
            return Optional.empty();
        }
    }

    private Programs programs(boolean takesSubmitted) {
        return new Programs(folder.resolve("programs"), takesSubmitted);
    }

    private void starts(boolean takesSubmitted) {
        ProcessDriver opened = new ProcessDriver(
                programs(takesSubmitted),
                folder.resolve("state"),
                CleanEnvironment.of(environment, List.of()),
                Optional.empty(),
                new Known(),
                heard,
                InstantSource.system());
        driver = Optional.of(opened);
        opened.take(Orders.place(1, Orders.JOB, Orders.gpus("GPU-a"), List.of()));
    }

    /** The reason with which its GPU is given back; the job has failed then. */
    private String reason() {
        await().atMost(ofSeconds(20))
                .pollInterval(ofMillis(20))
                .until(() -> heard.deeds().stream().anyMatch(DriverEvent.InForce.class::isInstance)
                        && heard.progress().stream()
                                .map(TrainingProgress::phase)
                                .anyMatch(JobPhase::isOver));
        assertThat(heard.progress()).extracting(TrainingProgress::phase).last().isEqualTo(JobPhase.FAILED);
        return heard.deeds().stream()
                .filter(DriverEvent.Stopped.class::isInstance)
                .map(DriverEvent.Stopped.class::cast)
                .filter(stopped -> stopped.units().equals(Orders.gpus("GPU-a")))
                .map(DriverEvent.Stopped::reason)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aCommandRunsInItsDirectoryWithTheEnvironmentOfAllJobs() throws Exception {
        starts(true);

        Path seen = folder.resolve("env");
        await().atMost(ofSeconds(20)).until(() -> Files.exists(seen));
        assertThat(Files.readAllLines(seen))
                .contains("CUDA_VISIBLE_DEVICES=GPU-a", "LENDSTREAM_JOB=job", "LENDSTREAM_TENANT=lendstream/d/job/job")
                .noneMatch(line -> line.contains("password"));
    }

    @Test
    void withoutTheSettingNothingIsRunAndTheJobFailsWithTheReason() {
        starts(false);

        assertThat(reason())
                .isEqualTo(
                        "job job brings its own command, but actuator.process.submitted-commands is false on this machine; set it to true, or declare a job without a command whose application has a file in %s",
                        folder.resolve("programs/jobs"));
        assertThat(heard.deeds()).noneMatch(DriverEvent.Started.class::isInstance);
        assertThat(heard.deeds()).as("counts against the GPU").noneMatch(DriverEvent.Failed.class::isInstance);
        assertThat(folder.resolve("env")).doesNotExist();
    }

    @Test
    void aFileOfItsApplicationOnTheMachineIsAnError() throws Exception {
        Files.writeString(folder.resolve("programs/jobs/own.json"), """
                {"mode": "restart", "command": ["sh", "-c", "touch env"], "directory": "%s"}
                """.formatted(folder));
        starts(true);

        assertThat(reason())
                .isEqualTo(
                        "job job brings its own command, but this machine has jobs/own.json for its application; choose another application, or declare the job without a command");
        assertThat(folder.resolve("env")).doesNotExist();
    }

    @Test
    void aModeOfALaterVersionIsNotGuessed() {
        submitted = job("own", ProgramMode.UNKNOWN);
        starts(true);

        assertThat(reason())
                .isEqualTo("the mode of the command of job job is of a later version; update this actuator");
    }

    @Test
    void aDryRunSaysWhatWouldBeRun() {
        var order = Orders.place(1, Orders.JOB, Orders.gpus("GPU-a"), List.of());

        assertThat(new ProcessPlan(programs(true), Optional.empty(), new Known()).of(order))
                .containsExactly(
                        "run job job (restart) as 1 worker of [sh, -c, env > env.new && mv env.new env; exit 3] in %s, CUDA_VISIBLE_DEVICES of each [GPU-a]"
                                .formatted(folder));
        assertThat(new ProcessPlan(programs(false), Optional.empty(), new Known()).of(order))
                .singleElement()
                .asString()
                .startsWith("fail d/1/1: job job brings its own command, but actuator.process.submitted-commands");
    }
}
