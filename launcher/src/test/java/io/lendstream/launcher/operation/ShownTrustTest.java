package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.launcher.cli.UserError;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ShownTrustTest {
    private final Scenario story = new Scenario(
                    new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(Map.of("first-trust", "advise"))))
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1)
            .settled();

    private ShownTrust shown() {
        ShownTrust shown = new ShownTrust(Optional.empty());
        story.log().forEach(shown::take);
        return shown;
    }

    @Test
    void showsTheLevelAndWhyItMustNotRiseYet() {
        Instant at = Scenario.START.plus(Duration.ofDays(1));

        List<String> lines = shown().lines(at);

        assertThat(lines.get(0))
                .isEqualTo(
                        "domain test: advise since 2026-01-01 00:00:00 UTC, by scheduler.first-trust: decisions are only advice");
        assertThat(lines.get(1)).isEqualTo("  1 day without a late reclaim");
        assertThat(lines.get(2))
                .startsWith("  next: one, not yet: 3 days without a late reclaim are needed")
                .contains("wait until 2026-01-04T00:00:00Z");
        JsonNode json = shown().json(at).path("domains").get(0);
        assertThat(json.path("level").asText()).isEqualTo("advise");
        assertThat(json.path("mayRise").asBoolean()).isFalse();
        assertThat(json.path("secondsWithoutLateReclaim").asLong()).isEqualTo(86_400);
    }

    @Test
    void showsTheCommandThatRaisesIt() {
        assertThat(shown().lines(Scenario.START.plus(Duration.ofDays(3))))
                .last()
                .isEqualTo("  next: 'lendstream trust one --service S --domain test --reason TEXT' is possible now");
    }

    @Test
    void theLevelIsReadFromASnapshot() {
        Instant at = Scenario.START.plus(Duration.ofDays(1));
        ShownTrust after = new ShownTrust(Optional.empty());

        after.begin(new Snapshot(start(0), story.state(), "test"));

        assertThat(after.lines(at)).isEqualTo(shown().lines(at));
    }

    @Test
    void showsADomainWithoutALevelAsAll() {
        ShownTrust shown = new ShownTrust(Optional.empty());
        Scenario.of("deepboot").node("infer", Pool.INFERENCE, 1).log().forEach(shown::take);

        assertThat(shown.lines(Scenario.START))
                .singleElement()
                .asString()
                .startsWith("domain test: all, without a record");
    }

    @Test
    void aDomainWithoutALogIsAnError() {
        ShownTrust none = new ShownTrust(Optional.of(new DomainId("east")));

        assertThatThrownBy(() -> none.lines(Scenario.START))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("domain 'east' has no log");
    }

    private SchedulerStarted start(int place) {
        return story.log().stream()
                .flatMap(event -> event.event().asStarted().stream())
                .toList()
                .get(place);
    }

    private Optional<String> seen(SeenTrust trust) {
        return trust.level(Scenario.DOMAIN);
    }

    @Test
    void theLevelIsSeenFromStartsAndFromTheAnswersToOrders() {
        SeenTrust trust = new SeenTrust();
        assertThat(seen(trust)).isEmpty();
        assertThat(trust.finding(Set.of(Scenario.DOMAIN)).line())
                .contains("warn", "unknown", "domain test", "'lendstream trust'");

        trust.take(start(0));
        assertThat(seen(trust)).contains("advise");
        assertThat(trust.finding(Set.of(Scenario.DOMAIN)).line()).contains("warn", "the level of trust is advise");

        Decision refused = story.trust(TrustLevel.SHARE, false).last().get(0);
        trust.take(refused);
        assertThat(seen(trust)).contains("advise");
        Decision followed = story.trust(TrustLevel.SHARE, true).last().get(0);
        trust.take(followed);
        trust.take(refused);
        assertThat(seen(trust)).contains("share");
        assertThat(trust.finding(Set.of(Scenario.DOMAIN)).line()).contains("domain test: share");

        SeenTrust later = new SeenTrust();
        story.takenOverBy(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS));
        later.take(start(1));
        later.take(refused);
        assertThat(seen(later)).as("a start carries the level").contains("share");
    }

    @Test
    void theOrderIsShownWithItsLevel() {
        story.trust(TrustLevel.ONE_SERVICE, true, "chat");
        ControlCommand order = story.log().stream()
                .flatMap(event -> event.event().asCommand().stream())
                .findFirst()
                .orElseThrow();

        assertThat(EventText.order(order)).isEqualTo("trust one chat, anyway (for the test)");
    }
}
