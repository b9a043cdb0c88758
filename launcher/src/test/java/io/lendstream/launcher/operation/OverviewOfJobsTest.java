package io.lendstream.launcher.operation;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the overview has of jobs. */
class OverviewOfJobsTest {
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 1)
            .node("infer", Pool.INFERENCE, 2)
            .service("chat", 1)
            .settled()
            .job("bert", 1);

    /** Neither a declared profile nor the usual one is a measurement. */
    @Test
    void theGoodputIsKnownByStepsEstimatedByAProfileOrUnknown() {
        Scenario declared =
                Scenario.of("deepboot").node("train", Pool.TRAINING, 2).job("bert", 1);
        declared.tell(declared.jobRecord("gpt", 1, false).with(TrainingJob.Traits.ofFixedSize(1)));
        for (int i = 0; i < 20 && declared.count("training") < 2; i++) {
            declared.after(ofSeconds(15)).settled();
        }

        assertThat(StoryOverview.of(declared, false).lines(declared.now(), false))
                .anyMatch(line -> line.matches("  bert .* goodput .* \\(estimated by its profile: no step reported\\)"))
                .anyMatch(line -> line.matches("  gpt .* goodput unknown \\(no profile, and no step reported\\)"));
        JsonNode jobs = StoryOverview.of(declared, false).json(declared.now()).get("jobs");
        assertThat(jobs.get(0).get("goodput").asText()).isEqualTo("estimated");
        assertThat(jobs.get(1).get("goodput").asText()).isEqualTo("unknown");
        assertThat(jobs.get(1).has("goodputSamplesPerSecond")).isFalse();

        declared.progress("bert", JobPhase.RUNNING);
        assertThat(StoryOverview.of(declared, false)
                        .json(declared.now())
                        .at("/jobs/0/goodput")
                        .asText())
                .isEqualTo("measured");
    }

    /** The reason of a job whose machine refuses commands: the job has ended, and is not among the jobs. */
    @Test
    void aRefusedCommandIsAnAlarm() {
        String why =
                "job bert brings its own command, but actuator.process.submitted-commands is false on this machine";
        ActuationReport plain = story.report(
                new DecisionId(Scenario.DOMAIN, 1, 1),
                Outcome.FAILED,
                List.of(),
                Optional.of(new Tenant.Job(new JobId("bert"))));
        story.progress("bert", JobPhase.FAILED);
        Overview overview = StoryOverview.of(story, false);

        overview.tell(new ActuationReport(
                plain.domain(),
                plain.decision(),
                "gpu-7",
                story.now(),
                Outcome.FAILED,
                List.of(),
                plain.tenant(),
                plain.timings(),
                why,
                plain.placements()));

        assertThat(overview.lines(story.now(), false))
                .anyMatch(line -> line.contains("job bert: not started by actuator gpu-7") && line.endsWith(why));
        assertThat(overview.json(story.now()).get("alarms"))
                .anyMatch(alarm -> alarm.asText().endsWith(why));
    }
}
