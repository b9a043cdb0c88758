package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.LendingExplainer;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.launcher.cli.GpuNames;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ShownClaimsTest {
    private static final NodeId NODE = new NodeId("n");

    private static Scenario story(String heedUsers) {
        return new Scenario(new Scheduler(
                        Policies.parse("deepboot"), SchedulerSettings.of(Map.of("heed-users", heedUsers))))
                .node("n", Pool.TRAINING, 2)
                .actuator("actuator", Abilities.USUAL, "n");
    }

    private static ShownClaims shown(Scenario story) {
        LendingExplainer log = new LendingExplainer(Scenario.DOMAIN);
        story.log().forEach(log::take);
        return new ShownClaims(log, Instant.EPOCH, new GpuNames());
    }

    private static GpuSample usedBy(String gpu, String user) {
        return GpuSample.of(new GpuId(gpu)).build().withUsers(List.of(user));
    }

    private static Scenario declared() {
        Scenario story = story("true");
        for (String job : List.of("bert", "gpt")) {
            story.tell(story.jobRecord(job, 1, false).adopting(new AdoptionSelector(Map.of("command", "*" + job))));
        }
        return story;
    }

    /** A process that job bert claims, and one that nothing claims; job gpt finds nothing. */
    private static Scenario found() {
        Scenario story = declared().after(Duration.ofSeconds(6));
        story.tell(new GpuTelemetry(
                NODE,
                Scenario.DOMAIN,
                "boot-1",
                1,
                story.now(),
                List.of(usedBy("n-g0", "process/7-1"), usedBy("n-g1", "process/8-1"))));
        Tenant bert = new Tenant.Job(new JobId("bert"));
        return story.tell(ActuationReport.found(
                Scenario.DOMAIN,
                new DecisionId(Scenario.DOMAIN, 0, 0),
                "actuator",
                story.now(),
                List.of(new FoundTenant(NODE, "process/7-1", List.of(bert), Optional.empty(), "python3 bert"))));
    }

    @Test
    void listsWhatStaysForeignWithTheReasonAndWhatIsNotFound() {
        List<String> lines = shown(found()).lines("test");

        assertThat(lines.get(0)).startsWith("domain test (event ").endsWith("replayed from the beginning):");
        assertThat(lines.get(1)).isEqualTo("  stays foreign:");
        assertThat(lines.get(2))
                .startsWith(
                        "    process/7-1 on n (python3 bert) on n-g0: job bert: it was found, or got a GPU, only at")
                .endsWith("and is watched for 30 s first");
        assertThat(lines.get(3))
                .isEqualTo("    n-g1: used by process/8-1, which Lendstream did not place; no selector matches it");
        assertThat(lines.subList(4, 6))
                .isEqualTo(List.of("  declared, but nothing is found that matches:", "    job gpt: command=*gpt"));
        assertThat(lines).hasSize(6);
    }

    @Test
    void listsWhatWouldBeTakenOver() {
        Scenario story = found();
        LendingExplainer log = new LendingExplainer(Scenario.DOMAIN);
        story.log().forEach(log::take);
        Instant later = story.now().plus(Duration.ofSeconds(40));

        List<String> lines = new ShownClaims(log, later, new GpuNames()).lines("test");

        assertThat(lines.subList(1, 3))
                .isEqualTo(List.of(
                        "  would be taken over, as it is:", "    process/7-1 on n (python3 bert) on n-g0: job bert"));
    }

    @Test
    void givesToolsTheSame() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();

        shown(found()).put(json);

        assertThat(json.path("found").get(0).path("claimedBy").asText()).isEqualTo("job/bert");
        assertThat(json.path("found").get(0).path("clear").asBoolean()).isFalse();
        assertThat(json.path("found").get(0).path("gpus").get(0).asText()).isEqualTo("n-g0");
        assertThat(json.path("unfound").get(0).asText()).isEqualTo("job/gpt");
        assertThat(json.path("foreign").get(0).path("users").get(0).asText()).isEqualTo("process/8-1");
    }

    /** The last look is older than the declaration, which also another selector is. */
    @Test
    void saysWhatWasNotLookedForYet() {
        Scenario story = found();
        assertThat(shown(story).lines("test")).noneMatch(line -> line.contains("not looked yet"));

        story.after(Duration.ofSeconds(10))
                .tell(story.jobRecord("gpt", 1, false).adopting(new AdoptionSelector(Map.of("command", "*gpt2*"))));

        assertThat(shown(story).lines("test"))
                .containsSubsequence(
                        "  declared, but not looked yet (actuators report what they find within a minute; if it stays so, see 'lendstream doctor'):",
                        "    job gpt: command=*gpt2* (n)")
                .noneMatch(line -> line.contains("nothing is found"));
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        shown(story).put(json);
        assertThat(json.path("notLooked").get(0).asText()).isEqualTo("job/gpt");
        assertThat(json.path("unfound").get(0).asText()).isEqualTo("job/gpt");
    }

    /** No actuator has reported anything yet. */
    @Test
    void aNodeThatWasNeverLookedAtCounts() {
        Scenario story = declared();
        assertThat(shown(story).lines("test"))
                .as("no actuator looks there")
                .contains("  declared, but nothing is found that matches:");

        story.tell(new ActuatorDescription(
                "looking", Scenario.DOMAIN, story.now(), "process", List.of(NODE), Abilities.USUAL));

        assertThat(shown(story).lines("test"))
                .contains("    job bert: command=*bert (n)")
                .noneMatch(line -> line.contains("nothing is found"));
    }

    @Test
    void saysThatNothingIsTakenOverIfUsersAreNotHeeded() {
        assertThat(shown(story("false")).lines("test").get(1)).contains("scheduler.heed-users is false");
    }

    @Test
    void saysThatThereIsNothing() {
        Scenario story = story("true");
        story.tell(new GpuTelemetry(
                NODE,
                Scenario.DOMAIN,
                "boot-1",
                1,
                story.now(),
                List.of("n-g0", "n-g1").stream()
                        .map(gpu -> GpuSample.of(new GpuId(gpu)).build().withUsers(List.of()))
                        .toList()));

        assertThat(shown(story).lines("test").get(1))
                .isEqualTo("  no GPU is foreign, and nothing is found that could be taken over");
    }
}
