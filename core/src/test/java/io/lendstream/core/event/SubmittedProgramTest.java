package io.lendstream.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SubmittedProgramTest {
    private static final SubmittedProgram TRAIN =
            new SubmittedProgram(List.of("python3", "train.py", ""), "/srv/bert", ProgramMode.RESTART);

    private static TrainingJob job() {
        return Scenario.of("deepboot").jobRecord("bert", 1, true);
    }

    private static TrainingJob bringing(SubmittedProgram program) {
        return job().ranBy(new TrainingJob.Runner(SubmittedProgram.DRIVER, Optional.empty(), Optional.of(program)));
    }

    private static Lease lease(Scenario story) {
        return story.leases().get(0);
    }

    private static void assertRefused(SubmittedProgram program, String message) {
        assertThatThrownBy(() -> Limits.check(bringing(program)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    private static SubmittedProgram of(String... command) {
        return new SubmittedProgram(List.of(command), "/", ProgramMode.AFE);
    }

    @Test
    void aCommandHasAProgramAndAnAbsoluteDirectory() {
        assertThatCode(() -> Limits.check(bringing(TRAIN))).doesNotThrowAnyException();
        assertRefused(of(), "command has no program, but must start with one; name it, such as python3");
        assertRefused(of("", "x"), "command has no program, but must start with one; name it, such as python3");
        assertRefused(
                new SubmittedProgram(List.of("ls"), "srv/bert", ProgramMode.AFE),
                "directory is 'srv/bert', but must be an absolute path on the machine that runs the job, such as /srv/bert");
        assertRefused(of("ls", "a\0b"), "command has a NUL character, which no process can get; remove it");
        assertRefused(
                new SubmittedProgram(List.of("ls"), "/a\0", ProgramMode.AFE),
                "directory has a NUL character, which no process can get; remove it");
    }

    @Test
    void aCommandIsBounded() {
        List<String> most = Collections.nCopies(64, "x");
        assertThatCode(() -> Limits.check(bringing(new SubmittedProgram(most, "/", ProgramMode.AFE))))
                .doesNotThrowAnyException();
        assertRefused(
                new SubmittedProgram(Collections.nCopies(65, "x"), "/", ProgramMode.AFE),
                "command has 65 entries, but must have at most 64; put the others into a script");

        assertThatCode(() -> Limits.check(bringing(of("x".repeat(4095), "\u00e9".repeat(2048)))))
                .doesNotThrowAnyException();
        assertRefused(
                of("x".repeat(4096), "\u00e9".repeat(2048)),
                "command and directory have 8193 bytes, but must have at most 8192 together; put long arguments into a file");
    }

    /** An actuator of an earlier version does not see the program: the driver keeps it from running another one. */
    @Test
    void theDriverTellsWhetherAJobBringsItsProgram() {
        TrainingJob bringing = bringing(TRAIN);
        assertThatThrownBy(() -> Limits.check(
                        bringing.ranBy(new TrainingJob.Runner("process", Optional.empty(), bringing.program()))))
                .hasMessage(
                        "the driver of bert is process, but each job with a program has driver process-command, and no other job has it; change the driver, or the program");
        assertThatThrownBy(() -> Limits.check(bringing.withoutProgram()))
                .hasMessageStartingWith("the driver of bert is process-command, but");
        assertThatThrownBy(() -> Limits.check(bringing.adopting(new AdoptionSelector(Map.of("command", "*train*")))))
                .hasMessage("bert has program and adopt, but a job is started or taken over; leave one out");
    }

    @Test
    void theSchedulerDecidesTheSameAndKeepsNoProgram() {
        Scenario without = Scenario.of("deepboot").node("n", Pool.TRAINING, 2).tell(job());
        Scenario with = Scenario.of("deepboot").node("n", Pool.TRAINING, 2).tell(bringing(TRAIN));

        TrainingJob kept = with.state().jobs().require(job().job()).spec();
        assertThat(kept.program()).isEmpty();
        Duration planned = Duration.ofMinutes(2);
        assertThat(with.after(planned).leases())
                .isEqualTo(without.after(planned).leases())
                .anyMatch(lease -> lease.owner().holder().isPresent());
    }

    /** Two refused jobs in a row take no GPU out of service. */
    @Test
    void aCommandThatDoesNotStartDoesNotCountAgainstItsGpu() {
        Scenario story = Scenario.of("deepboot").node("n", Pool.TRAINING, 1).tell(bringing(TRAIN));
        for (int failure = 0; failure < 3; failure++) {
            for (int second = 0; second < 300 && !lease(story).owner().isBinding(); second++) {
                story.after(Duration.ofSeconds(1));
            }
            Lease lease = lease(story);
            DecisionId decision = lease.owner().asBinding().orElseThrow().decision();
            story.tell(story.report(
                    decision,
                    Outcome.FAILED,
                    List.of(lease.gpuId()),
                    lease.owner().holder()));
        }

        assertThat(lease(story).owner().asQuarantined()).isEmpty();
    }
}
