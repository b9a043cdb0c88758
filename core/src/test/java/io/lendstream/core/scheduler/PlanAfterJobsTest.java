package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A policy may plan sooner when a job comes or ends, but not whenever a replica comes or goes. */
class PlanAfterJobsTest {
    private static Scenario begun(String policy) {
        Scenario story = Scenario.of(policy).node("train", Pool.TRAINING, 4).node("infer", Pool.INFERENCE, 4);
        story.service("chat", 1).job("first", 2).settled();
        return story.after(ofSeconds(121)).settled();
    }

    private static Instant seconds(long seconds) {
        return Scenario.START.plusSeconds(seconds);
    }

    @Test
    void aJobThatComesIsPlannedAtTheNextMultiple() {
        Scenario story = begun("lendstream");
        assertThat(story.state().nextPlanAt()).contains(seconds(180));

        story.job("second", 2).settled();

        assertThat(story.state().nextPlanAt()).contains(seconds(125));
        story.after(ofSeconds(4)).settled();
        assertThat(story.job("second").gpus()).isPositive();
        assertThat(begun("deepboot").job("second", 2).settled().state().nextPlanAt())
                .contains(seconds(180));
    }

    @Test
    void aJobThatEndsIsPlannedAfterToo() {
        Scenario story = begun("lendstream");

        story.progress("first", JobPhase.FINISHED).settled();

        assertThat(story.state().nextPlanAt()).contains(seconds(125));
    }

    @Test
    void aReplicaThatComesWaitsForTheUsualPlan() {
        Scenario story = begun("lendstream");

        story.rate("chat", 15).settled();

        assertThat(story.state().nextPlanAt()).contains(seconds(180));
    }
}
