package io.lendstream.launcher.declare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.ProgramMode;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.launcher.cli.UserError;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class RunCommandTest {
    private static TrainingJob job(String... arguments) {
        RunCommand command = new RunCommand();
        new CommandLine(command).parseArgs(arguments);
        return (TrainingJob) command.object().record(Instant.EPOCH, Optional.empty());
    }

    @Test
    void itSaysBeforehandWhereARefusalIsSeen() {
        RunCommand command = new RunCommand();
        new CommandLine(command).parseArgs("--gpus", "2", "--name", "a", "--", "true");

        assertThat(command.submitted())
                .contains("job/a submitted: 2 GPUs in domain default")
                .anyMatch(line -> line.contains("actuator.process.submitted-commands is false by default"))
                .anyMatch(line -> line.contains("'describe' and 'lendstream top' show the reason"));
    }

    private static void assertRefused(String message, String... arguments) {
        assertThatThrownBy(() -> job(arguments)).isInstanceOf(UserError.class).hasMessage(message);
    }

    @Test
    void theCommandIsTakenAsItIs() {
        TrainingJob job = job("--gpus", "2", "--name", "a", "--", "sh", "-c", " exit 1 ", "", "--name", "3");

        assertThat(job.program())
                .contains(new SubmittedProgram(
                        List.of("sh", "-c", " exit 1 ", "", "--name", "3"),
                        Path.of("").toAbsolutePath().toString(),
                        ProgramMode.RESTART));
        assertThat(job.driver()).isEqualTo("process-command");
        assertThat(job.application()).isEqualTo("a");
        assertThat(job.domain().value()).isEqualTo("default");
        assertThat(job.scaling()).isEqualTo(new TrainingJob.Scaling(2, 2, 2, false));
    }

    @Test
    void aRangeMakesItElasticWithAUsualBatch() {
        TrainingJob job = job(
                "--gpus",
                "1-4",
                "--name",
                "a",
                "--mode",
                "afe",
                "--queue",
                "q",
                "--priority",
                "-3",
                "--application",
                "bert",
                "--directory",
                "/srv",
                "--domain",
                "east",
                "--",
                "true");

        assertThat(job.scaling()).isEqualTo(new TrainingJob.Scaling(1, 1, 4, true));
        assertThat(job.traits().batch().initial()).isEqualTo(4);
        assertThat(job.program().orElseThrow().mode()).isEqualTo(ProgramMode.AFE);
        assertThat(job.program().orElseThrow().directory()).isEqualTo("/srv");
        assertThat(job.queue().orElseThrow().value()).isEqualTo("q");
        assertThat(job.precedence().priority()).isEqualTo(-3);
        assertThat(job.application()).isEqualTo("bert");
        assertThat(job.domain().value()).isEqualTo("east");
        assertThat(job("--gpus", "1-4", "--name", "a", "--batch", "64", "--", "true")
                        .traits()
                        .batch()
                        .localMax())
                .isEqualTo(64);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --gpus     | 0   | --gpus is '0', but must be a number of GPUs such as 4, or a range such as 1-8, from 1 to 1000000. Change it.
                    --mode     | fsdp | --mode is 'fsdp', but must be restart or afe. Change it, or leave it out for restart.
                    --priority | x   | --priority is 'x', but must be a whole number from -1000000000 to 1000000000. Change it, or leave it out for 0.
                    --batch    | 0   | --batch is '0', but must be a whole number from 1 to 1000000000. Change it.
                    """)
    void anErrorNamesTheOption(String option, String value, String message) {
        Stream<String> usual = option.equals("--gpus") ? Stream.of() : Stream.of("--gpus", "1");

        assertRefused(
                message,
                Stream.of(usual, Stream.of(option, value, "--name", "a", "--", "true"))
                        .flatMap(any -> any)
                        .toArray(String[]::new));
    }

    @Test
    void aCommandIsNeededAndBounded() {
        assertRefused(
                "COMMAND is missing; add the program of the job after --, such as: -- python3 train.py",
                "--gpus",
                "1",
                "--name",
                "a",
                "--");
        assertRefused(
                "command has 65 entries, but must have at most 64; put the others into a script.",
                Stream.concat(Stream.of("--gpus", "1", "--name", "a", "--"), Collections.nCopies(65, "x").stream())
                        .toArray(String[]::new));
    }

    /** A file without the program again names the application's file on the machine. */
    @Test
    void theDriverFollowsTheProgram() {
        TrainingJob bringing = job("--gpus", "1", "--name", "a", "--", "true");
        ObjectReader reader = new ObjectReader();
        reader.read("a.yaml", """
                apiVersion: lendstream.io/v1
                kind: TrainingJob
                metadata: {name: a}
                spec: {application: bert, gpus: 1}
                """);
        TrainingJob plain = (TrainingJob) record(reader.objects().get(0), bringing);

        assertThat(plain.driver()).isEqualTo("process");
        assertThat(plain.program()).isEmpty();
        assertThat(ObjectText.yaml(DeclaredKinds.JOB.write(bringing)))
                .contains("  program:", "    command:", "      - \"true\"");
    }

    @SuppressWarnings("unchecked") // the file declares a job
    private static Object record(DeclaredObject<?> object, TrainingJob before) {
        return ((DeclaredObject<TrainingJob>) object).record(Instant.EPOCH, Optional.of(before));
    }
}
