package io.lendstream.core.policy;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ats.Ats;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of a change that a job reports counts for half of the declared one, in what every policy sees of the job. */
class MeasuredCostsTest {
    /** A job that starts, with 24 s and 3 s declared, and was measured to need 54 s. */
    private static Scenario measured(String policy) {
        Scenario story = new Scenario(new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS));
        story.node("train", Pool.TRAINING, 4).job("a", 4).after(ofSeconds(60));
        Decision start = story.decisions().get(0);
        Timings took = Timings.NONE.pausing(Optional.of(ofSeconds(54)));
        for (Outcome outcome : List.of(Outcome.BOUND, Outcome.APPLIED)) {
            story.tell(new ActuationReport(
                    Scenario.DOMAIN,
                    start.id(),
                    "actuator",
                    story.now(),
                    outcome,
                    story.job("a").allocation().gpus(),
                    Optional.of(new Tenant.Job(new JobId("a"))),
                    took,
                    ""));
        }
        return story;
    }

    private static ScheduledJob seen(Scenario story, boolean afe) {
        return seen(story, story.now(), afe, false);
    }

    @ParameterizedTest
    @ValueSource(strings = {"deepboot", "lendstream", "tiresias", "afs", "optimus", "lyra", "pollux", "clairvoyant"})
    void theViewOfEveryPolicyHasTheMeasuredCosts(String policy) {
        Scenario story = measured(policy);

        assertThat(seen(story, true).costs()).isEqualTo(new RescaleCosts(ofSeconds(39), ofSeconds(3)));
        assertThat(seen(story, false).costs()).isEqualTo(new RescaleCosts(ofSeconds(39), ofSeconds(39)));
    }

    /** The plans of deepboot, lendstream and pollux reckon with 10 s or 30 s for a change, as published. */
    @Test
    void aMeasuredCostReplacesThePublishedConstantIfCostsAreLearned() {
        Scenario story = measured("deepboot");
        Instant later = story.now().plusSeconds(100);
        double published = Ats.restartFactor(seen(story, later, true, false), later, ofSeconds(10));
        double age =
                Duration.between(story.job("a").spec().submittedAt(), later).toSeconds();

        assertThat(published).isEqualTo(age / (age + 10));
        assertThat(Ats.restartFactor(seen(story, later, true, true), later, ofSeconds(10)))
                .as("in place")
                .isEqualTo(age / (age + 3));
        assertThat(Ats.restartFactor(seen(story, later, false, true), later, ofSeconds(10)))
                .as("by a restart")
                .isEqualTo(age / (age + 39));
    }

    @Test
    void aCostThatIsOnlyDeclaredDoesNotReplaceIt() {
        Scenario story = Scenario.of("deepboot").node("train", Pool.TRAINING, 4).job("a", 4);

        assertThat(seen(story, story.now(), true, true).measuredChange()).isEmpty();
    }

    private static ScheduledJob seen(Scenario story, Instant now, boolean afe, boolean learns) {
        return new ScheduledJob(story.job("a"), now, 4, afe, ScheduledJob.Kinds.ALIKE, learns);
    }
}
