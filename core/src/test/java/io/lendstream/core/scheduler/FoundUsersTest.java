package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A foreign GPU is free once its users have gone by the account of agent and actuator. */
class FoundUsersTest {
    private static final String USER = "process/4711-99";
    private static final GpuId FIRST = new GpuId("n-g0");
    private static final GpuId SECOND = new GpuId("n-g1");

    private Scenario story = story(Map.of("heed-users", "true", "remember-users", "true"));
    private final Map<GpuId, List<String>> users = new HashMap<>();
    private Optional<List<String>> found = Optional.empty();
    private long samples;

    private static Scenario story(Map<String, String> settings) {
        return new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(settings)));
    }

    private void watched(Duration time) {
        for (long second = 20; second <= time.toSeconds(); second += 20) {
            story.after(ofSeconds(20));
            look();
        }
    }

    private void look() {
        samples++;
        List<GpuSample> all = story.state().gpus().stream()
                .map(GpuState::gpuId)
                .map(gpu -> GpuSample.of(gpu).build().withUsers(users.getOrDefault(gpu, List.of())))
                .toList();
        story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), all));
        found.ifPresent(names -> story.found(
                "finder",
                names.stream()
                        .map(name -> new FoundTenant(new NodeId("n"), name, List.of(), Optional.empty(), ""))
                        .toList()));
    }

    private void used(GpuId... gpus) {
        story.node("n", Pool.TRAINING, 2).actuator("finder", Abilities.USUAL, "n");
        for (GpuId gpu : gpus) {
            users.put(gpu, List.of(USER));
        }
        look();
        watched(ofMinutes(1));
        assertThat(label(FIRST)).isEqualTo("foreign");
    }

    private String label(GpuId gpu) {
        return story.state().gpus().require(gpu).owner().label();
    }

    private ForeignUse use() {
        return story.state().gpus().require(FIRST).owner().asForeign().orElseThrow();
    }

    @Test
    void aUserThatAnActuatorStillFindsHasNotGone() {
        found = Optional.of(List.of(USER));
        used(FIRST);
        users.clear();

        watched(ofMinutes(11));

        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(use().foundBy()).contains("finder");
        assertThat(use().outlook())
                .isEqualTo(
                        "used by process/4711-99, which Lendstream did not place; agents show nothing there now, but actuator finder still finds one of them: it is free at %s if that ends before, or after a reset",
                        Wording.time(use().freeAt().orElseThrow()));
        found = Optional.of(List.of("process/1-1"));
        watched(ofSeconds(140));
        assertThat(label(FIRST)).isEqualTo("free");
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    /** Its root may live for weeks. While agents show it there, the operator cannot free the unit either. */
    @Test
    void anOperatorFreesAGpuWhoseUserAnActuatorStillFinds() {
        found = Optional.of(List.of(USER));
        used(FIRST);
        story.control(ControlCommand.Kind.RESET, FIRST);
        watched(ofSeconds(40));
        assertThat(label(FIRST)).isEqualTo("foreign");
        users.clear();
        watched(ofMinutes(11));
        assertThat(label(FIRST)).isEqualTo("foreign");

        story.control(ControlCommand.Kind.RESET, FIRST);
        watched(ofSeconds(140));

        assertThat(label(FIRST)).isEqualTo("free");
        assertThat(story.verdict().violations()).isEqualTo(List.of());
    }

    @Test
    void aUserThatComesBackIsShownAsBefore() {
        found = Optional.of(List.of(USER));
        used(FIRST);
        users.clear();
        watched(ofMinutes(4));
        users.put(FIRST, List.of(USER));

        watched(ofSeconds(20));

        assertThat(use()).isEqualTo(ForeignUse.by(List.of(USER)));
    }

    @Test
    void whereNoActuatorLooksTheWordOfTheAgentSuffices() {
        used(FIRST);
        users.clear();

        watched(ofSeconds(140));

        assertThat(label(FIRST)).isEqualTo("free");
    }

    @Test
    void aUserThatAgentsShowElsewhereOnTheNodeHasLeftThisGpu() {
        found = Optional.of(List.of(USER));
        used(FIRST, SECOND);
        users.remove(FIRST);

        watched(ofSeconds(140));

        assertThat(label(FIRST)).isEqualTo("free");
        assertThat(label(SECOND)).isEqualTo("foreign");
    }

    @Test
    void aUserThatLeavesTwoGpusAtOnceIsOnNeither() {
        found = Optional.of(List.of(USER));
        used(FIRST, SECOND);
        users.clear();
        watched(ofMinutes(5));
        assertThat(label(FIRST)).isEqualTo("foreign");
        assertThat(label(SECOND)).isEqualTo("foreign");
    }

    @Test
    void anActuatorThatIsSilentKeepsNothing() {
        found = Optional.of(List.of(USER));
        used(FIRST);
        users.clear();
        found = Optional.empty();

        watched(ofMinutes(5));

        assertThat(label(FIRST)).isEqualTo("free");
    }

    @Test
    void beforeTheSettingTheWordOfTheAgentSufficed() {
        story = story(Map.of("heed-users", "true"));
        found = Optional.of(List.of(USER));
        used(FIRST);
        users.clear();

        watched(ofSeconds(140));

        assertThat(label(FIRST)).isEqualTo("free");
    }
}
