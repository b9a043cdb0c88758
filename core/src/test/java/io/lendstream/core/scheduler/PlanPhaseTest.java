package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import org.junit.jupiter.api.Test;

/** Domains that one process looks after plan one after the other, not all at once. */
class PlanPhaseTest {
    private static final Scheduler SCHEDULER = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);

    @Test
    void trainingIsPlannedSoLongAfterTheMultiplesOfThePeriod() {
        Scenario story = new Scenario(SCHEDULER.planningAt(ofSeconds(15)));
        story.node("train", Pool.TRAINING, 8).job("a", 4).settled();
        assertThat(story.state().nextPlanAt()).contains(Scenario.START.plusSeconds(15));

        story.after(ofSeconds(14)).settled();
        assertThat(story.job("a").gpus()).isZero();
        story.after(ofSeconds(1)).settled();
        assertThat(story.job("a").gpus()).isPositive();

        story.job("b", 4).settled();
        assertThat(story.state().nextPlanAt()).contains(Scenario.START.plusSeconds(75));
    }

    @Test
    void theLogSaysWhen() {
        SchedulerSettings settings = SchedulerSettings.DEFAULTS.withPlanPhase(ofSeconds(15));

        assertThat(settings.toMap()).containsEntry("plan-phase", "PT15S");
        assertThat(SchedulerSettings.of(settings.toMap())).isEqualTo(settings);
        assertThat(SchedulerSettings.DEFAULTS.toMap()).doesNotContainKey("plan-phase");
        assertThatThrownBy(() -> settings.withPlanPhase(ofSeconds(-1)))
                .hasMessage("plan-phase must not be negative, but was PT-1S");
    }
}
