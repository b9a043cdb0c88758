package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.event.TrustOrder;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.fixtures.TrustedDomain;
import io.lendstream.core.history.LendingExplainer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TrustPreviewTest {
    private final TrustedDomain domain = new TrustedDomain();
    private final Scenario story = domain.story();

    /** Jobs that have lent GPUs at a level. */
    private void lent(TrustLevel level) {
        domain.jobs(level);
        domain.minutes(5);
    }

    private List<String> preview(TrustLevel level, boolean anyway) {
        return preview(level, anyway, story.now()).lines();
    }

    private TrustPreview preview(TrustLevel level, boolean anyway, Instant at) {
        LendingExplainer log = new LendingExplainer(Scenario.DOMAIN);
        story.log().forEach(log::take);
        ControlCommand order = new ControlCommand(
                        Scenario.DOMAIN,
                        "command",
                        at,
                        "tester",
                        ControlCommand.Kind.TRUST,
                        Optional.empty(),
                        List.of(),
                        "for the test")
                .ordering(new TrustOrder(level, Optional.empty(), anyway));
        return TrustPreview.of(log, order);
    }

    @Test
    void namesTheLoansThatTheOrderThenTakesBack() {
        lent(TrustLevel.ALL);
        assertThat(story.count("lent")).isGreaterThan(2);

        List<String> lines = preview(TrustLevel.SHARE, true);

        story.trust(TrustLevel.SHARE, true);
        List<String> done = story.last().stream()
                .filter(decision -> decision.reason().is(ReasonCode.TRUST) && decision.isReclaim())
                .map(Decision::action)
                .map(action -> "  " + EventText.of(action))
                .toList();
        assertThat(done).isNotEmpty();
        assertThat(lines.get(0))
                .isEqualTo("domain test: with trust share loans would be taken back, as beyond the level:");
        assertThat(lines.subList(1, lines.size())).isEqualTo(done);
    }

    @Test
    void namesThemByTheLogAsItIsThoughTheOrderComesLater() {
        lent(TrustLevel.ALL);
        List<String> soon = preview(TrustLevel.SHARE, true);

        TrustPreview late = preview(TrustLevel.SHARE, true, story.now().plusSeconds(600));

        assertThat(late.lines().get(0)).contains("beyond the level, by the last event of its log (");
        assertThat(late.lines().subList(1, late.lines().size())).isEqualTo(soon.subList(1, soon.size()));
        assertThat(late.isFollowed()).isTrue();
        assertThat(late.json().path("takenBack")).hasSize(soon.size() - 1);
    }

    @Test
    void saysThatNoLoanIsBeyondTheLevel() {
        lent(TrustLevel.SHARE);
        assertThat(story.count("lent")).isPositive();

        assertThat(preview(TrustLevel.ALL, true))
                .containsExactly("domain test: with trust all no loan would be taken back now");
    }

    @Test
    void saysWhyTheOrderWouldBeRefused() {
        assertThat(preview(TrustLevel.SHARE, false))
                .singleElement()
                .asString()
                .startsWith("domain test: trust share would be refused: ")
                .contains("it rises one step at a time");
    }

    @Test
    void anOrderIsGivenWithoutAPreviewThatTakesLongOrFails() throws Exception {
        TrustPreview good = preview(TrustLevel.SHARE, true, story.now());
        ControlCommand order = good.order();
        long now = System.nanoTime();
        CountDownLatch never = new CountDownLatch(1);

        TrustPreview late = TrustPreview.until(now + 1_000_000, order, () -> {
            never.await();
            return good;
        });
        never.countDown();
        TrustPreview failed = TrustPreview.until(now + Duration.ofMinutes(1).toNanos(), order, () -> {
            throw new IllegalStateException("the broker is away");
        });

        assertThat(late.lines()).singleElement().asString().contains("it is unknown", "the log is long");
        assertThat(failed.lines()).singleElement().asString().endsWith("the broker is away");
        assertThat(TrustPreview.until(now + Duration.ofMinutes(1).toNanos(), order, () -> good))
                .isEqualTo(good);
    }

    @Test
    void saysThatTheLogIsUnknown() {
        ControlCommand order = new ControlCommand(
                        Scenario.DOMAIN,
                        "command",
                        story.now(),
                        "tester",
                        ControlCommand.Kind.TRUST,
                        Optional.empty(),
                        List.of(),
                        "")
                .ordering(new TrustOrder(TrustLevel.SHARE, Optional.empty(), true));

        TrustPreview unknown = TrustPreview.of(new LendingExplainer(Scenario.DOMAIN), order);
        assertThat(unknown.isFollowed()).isFalse();
        assertThat(unknown.json().path("why").asText()).contains("no event");
        assertThat(unknown.lines())
                .containsExactly(
                        "domain test: with trust share it is unknown which loans would be taken back: the log has no event of the domain");
    }
}
