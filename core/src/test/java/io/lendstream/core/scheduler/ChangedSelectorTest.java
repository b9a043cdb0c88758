package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Tick;
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

/** A selector that was too wide is corrected before what it claims is taken over. */
class ChangedSelectorTest {
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final String USER = "process/4711-99";

    private Scenario story = story(true);
    private long samples;

    private static Scenario story(boolean strict) {
        return new Scenario(new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.of(Map.of("heed-users", "true", "strict-users", Boolean.toString(strict)))));
    }

    private void sample() {
        samples++;
        story.tell(new GpuTelemetry(
                new NodeId("n"),
                Scenario.DOMAIN,
                "boot-1",
                samples,
                story.now(),
                List.of(GpuSample.of(new GpuId("n-g0")).build().withUsers(List.of(USER)))));
    }

    private void find() {
        FoundTenant found = new FoundTenant(new NodeId("n"), USER, List.of(BERT), Optional.empty(), "python3 train.py");
        story.found("actuator", List.of(found));
    }

    private void declare(String command) {
        story.tell(story.jobRecord("bert", 1, false).adopting(new AdoptionSelector(Map.of("command", command))));
    }

    private void watched(int seconds) {
        for (int i = 0; i < seconds; i += 5) {
            story.after(ofSeconds(5));
            sample();
            story.tell(new Tick(Scenario.DOMAIN, story.now()));
        }
    }

    private long adoptions() {
        return story.decisions().stream()
                .filter(each -> each.action().asAdopt().isPresent())
                .count();
    }

    private void correctedAfter25Seconds() {
        story.node("n", Pool.TRAINING, 1).actuator("actuator", Abilities.USUAL, "n");
        declare("*python*");
        sample();
        find();
        watched(25);
        declare("*train.py --run 7*");
        watched(25);
    }

    @Test
    void whatTheOldSelectorFoundIsNotTakenOverByTheNewOne() {
        correctedAfter25Seconds();
        assertThat(adoptions()).isZero();

        find();
        watched(10);
        assertThat(adoptions()).as("it is still found").isOne();
    }

    @Test
    void theSameDeclarationChangesNothing() {
        story.node("n", Pool.TRAINING, 1).actuator("actuator", Abilities.USUAL, "n");
        declare("*python*");
        sample();
        find();
        watched(25);
        declare("*python*");
        watched(10);

        assertThat(adoptions()).isOne();
    }

    @Test
    void anOlderLogGoesOnAsItWas() {
        story = story(false);
        correctedAfter25Seconds();

        assertThat(adoptions()).isOne();
    }
}
