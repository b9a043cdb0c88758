package io.lendstream.launcher.operation;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ObjectStatesTest {
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 1)
            .node("infer", Pool.INFERENCE, 2)
            .service("chat", 1)
            .settled()
            .job("bert", 1);

    private final ObjectStates states = all(Map.of());

    private static ObjectStates all(Map<JobId, Instant> written) {
        ObjectStates states = new ObjectStates(true, written);
        states.completeFrom(Scenario.START.minus(Duration.ofDays(7)));
        return states;
    }

    private String state(String job) {
        return state(story.job(job).spec());
    }

    private String state(Event declared) {
        for (GpuState gpu : story.state().gpus().values()) {
            states.take(gpu.lease(Scenario.DOMAIN, story.state().epoch()));
        }
        return states.of(declared).orElseThrow();
    }

    private Scenario started() {
        for (int i = 0; i < 20 && story.job("bert").gpus() < 1; i++) {
            story.rate("chat", 5).after(ofSeconds(15));
        }
        return story;
    }

    private TrainingProgress reported(JobPhase phase) {
        story.progress("bert", phase);
        return (TrainingProgress) story.log().get(story.log().size() - 1).event();
    }

    @Test
    void aJobIsQueuedThenStartsThenRuns() {
        assertThat(state("bert")).isEqualTo("queued");

        started();
        assertThat(state("bert")).isEqualTo("starting");

        story.settled();
        assertThat(state("bert")).as("without a report").isEqualTo("running");
        states.take(reported(JobPhase.RESCALING));
        assertThat(state("bert")).isEqualTo("rescaling");
    }

    @Test
    void aCancelledJobIsBeingDeletedUntilItsGpusAreReleased() {
        started().settled();

        states.take(reported(JobPhase.CANCELLED));
        assertThat(state("bert")).isEqualTo("deleting");

        story.settled();
        assertThat(state("bert")).isEqualTo("cancelled");
    }

    @Test
    void anEndStaysAndIsOnlyThatOfTheDeclaredJob() {
        TrainingProgress runs = reported(JobPhase.RUNNING);
        TrainingProgress ended = reported(JobPhase.FINISHED);
        states.take(ended);
        states.take(runs);
        assertThat(state("bert")).isEqualTo("finished");

        Instant later = story.now().plus(Duration.ofHours(25));
        Scenario again = Scenario.of("deepboot").after(Duration.between(Scenario.START, later));

        assertThat(states.of(again.jobRecord("bert", 1, false))).contains("queued");
    }

    @Test
    void anEndStaysInWhateverOrderReportsAreRead() {
        TrainingProgress cancelled = reported(JobPhase.CANCELLED);
        story.after(Duration.ofMinutes(10));
        states.take(reported(JobPhase.RUNNING));
        states.take(cancelled);

        assertThat(state("bert")).isEqualTo("cancelled");
    }

    @Test
    void aReporterWhoseClockIsBehindIsHeard() {
        TrainingJob job = story.job("bert").spec();
        TrainingProgress failed = reported(JobPhase.FAILED);
        states.take(new TrainingProgress(
                failed.job(),
                failed.domain(),
                job.submittedAt().minusSeconds(2),
                failed.phase(),
                failed.progress(),
                failed.totalProgress(),
                failed.parallelism(),
                failed.timing(),
                failed.gradient()));

        assertThat(states.of(job)).contains("failed");
    }

    @Test
    void withoutAGpuAJobIsQueuedOnlyIfNoReportCanBeMissing() {
        TrainingJob job = story.job("bert").spec();
        JobId name = job.job();
        assertThat(all(Map.of(name, Scenario.START)).of(job)).contains("queued");
        assertThat(all(Map.of(name, Scenario.START.minus(Duration.ofDays(8)))).of(job))
                .as("declared before the oldest report")
                .contains("unknown");

        ObjectStates cut = new ObjectStates(true, Map.of(name, Scenario.START));
        cut.take(reported(JobPhase.RUNNING));
        assertThat(cut.of(job)).as("later reports may be missing").contains("unknown");
        cut.take(reported(JobPhase.FINISHED));
        assertThat(cut.of(job)).contains("finished");
    }

    @Test
    void aServiceHasItsReplicas() {
        assertThat(state(story.serviceRecord("chat", 1))).isEqualTo("1 serving");
        assertThat(state(story.serviceRecord("code", 1))).isEqualTo("no replica");
    }

    @Test
    void withoutLeasesNothingIsKnown() {
        assertThat(ObjectStates.NONE.of(story.job("bert").spec())).isEqualTo(Optional.empty());
    }
}
