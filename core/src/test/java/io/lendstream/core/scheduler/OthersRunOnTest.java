package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The process of an adopted job has ended, and its workers run on. */
class OthersRunOnTest {
    private static final GpuId GPU = new GpuId("n-g0");
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final String USER = "process/4711-99";
    private static final FoundTenant RUNS =
            new FoundTenant(new NodeId("n"), USER, List.of(BERT), Optional.empty(), "train.py");

    private final Scenario story = new Scenario(new Scheduler(
            Policies.parse("deepboot"),
            SchedulerSettings.of(
                    Map.of("heed-users", "true", "quarantine-evidence", "PT10M", "strict-users", "true"))));
    private List<String> users = List.of(USER);
    private long samples;

    private void look(List<FoundTenant> found) {
        samples++;
        story.after(ofSeconds(20));
        story.tell(new GpuTelemetry(
                new NodeId("n"),
                Scenario.DOMAIN,
                "boot-1",
                samples,
                story.now(),
                List.of(GpuSample.of(GPU).build().withUsers(users))));
        story.found("actuator", found);
    }

    private void report(Outcome outcome, DecisionId decision, List<FoundTenant> behind) {
        story.tell(new ActuationReport(
                        Scenario.DOMAIN,
                        decision,
                        "actuator",
                        story.now(),
                        outcome,
                        List.of(GPU),
                        Optional.of(BERT),
                        Timings.NONE,
                        "for the test")
                .leaving(behind));
    }

    private Decision last() {
        return story.decisions().get(story.decisions().size() - 1);
    }

    private DecisionId adopted() {
        story.node("n", Pool.TRAINING, 1).actuator("actuator", Abilities.USUAL, "n");
        story.tell(story.jobRecord("bert", 1, false).adopting(new AdoptionSelector(Map.of("command", "*train.py*"))));
        for (int i = 0; i < 4; i++) {
            look(List.of(RUNS));
        }
        DecisionId adoption = last().id();
        report(Outcome.BOUND, adoption, List.of());
        report(Outcome.APPLIED, adoption, List.of());
        look(List.of());
        story.progress("bert", JobPhase.RUNNING);
        assertThat(story.owner("n-g0").label()).isEqualTo("training");
        users = List.of("process/5000-99");
        story.after(ofSeconds(1));
        return adoption;
    }

    private void isQuarantined() {
        assertThat(story.owner("n-g0").asQuarantined().orElseThrow().reason())
                .startsWith("job bert has left it, and others run on there");
        assertThat(story.owner("n-g0").asVacating())
                .as("until nothing runs there")
                .isPresent();
    }

    @Test
    void theirGpuIsNotFree() {
        report(Outcome.RELEASED, adopted(), List.of(RUNS));

        isQuarantined();
    }

    @Test
    void norIsItIfTheEndOfTheJobIsKnownBefore() {
        DecisionId adoption = adopted();
        story.progress("bert", JobPhase.FAILED);
        assertThat(story.owner("n-g0").label()).isEqualTo("releasing");
        DecisionId reclaim = last().id();

        report(Outcome.RELEASED, adoption, List.of(RUNS));
        report(Outcome.RELEASED, reclaim, List.of());

        isQuarantined();
    }

    @Test
    void oneThatNothingRunsOnIsFree() {
        report(Outcome.RELEASED, adopted(), List.of());

        assertThat(story.owner("n-g0").label()).isEqualTo("free");
    }
}
