package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Origin;
import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StandingCommandsTest {
    private static final Instant NIGHT = Instant.parse("2026-01-01T02:00:00Z");
    private static final DomainId EAST = new DomainId("east");

    private final StandingCommands commands = new StandingCommands();

    private void order(Kind kind, String issuer, String reason, int minute) {
        order(kind, issuer, reason, minute, "lendstream.control");
    }

    private void order(Kind kind, String issuer, String reason, int minute, String topic) {
        Instant at = NIGHT.plusSeconds(60L * minute);
        commands.take(
                new DomainEvent(
                        EAST,
                        1,
                        10 + minute,
                        at,
                        Optional.of(new Origin(topic, 0, minute)),
                        new ControlCommand(EAST, "id", at, issuer, kind, Optional.empty(), List.of(), reason)),
                TopicCatalogue.standard());
    }

    @Test
    void aFreezeIsShownWithItsUserReasonTimeAndEnd() {
        order(Kind.FREEZE, "alice", "rack 3", 0);
        order(Kind.FREEZE, "bob", "to be sure", 5);

        assertThat(commands.finding().line())
                .isEqualTo(
                        "warn commands: domain east: frozen by alice (not authenticated) since 2026-01-01 02:00:00 UTC until 'lendstream thaw'; reason: rack 3; end it when the reason has passed");
        assertThat(commands.lending(EAST, true)).isEqualTo("frozen");
        assertThat(commands.lending(new DomainId("west"), true)).isEqualTo("on");
    }

    @Test
    void aCommandWithoutReasonHasNoReasonThatPasses() {
        order(Kind.FREEZE, "alice", "", 0);

        assertThat(commands.finding().line()).endsWith("until 'lendstream thaw'; no reason given");
    }

    @Test
    void aThawEndsFreezeAndReclaimAllAndNotAdvisoryMode() {
        order(Kind.FREEZE, "alice", "rack 3", 0);
        order(Kind.RECLAIM_ALL, "bob", "", 1);
        order(Kind.ADVISORY_ON, "carol", "", 2);

        assertThat(commands.lines())
                .containsExactlyInAnyOrder(
                        "domain east: frozen by alice (not authenticated) since 2026-01-01 02:00:00 UTC until 'lendstream thaw'; reason: rack 3",
                        "domain east: lending stopped by bob (not authenticated) since 2026-01-01 02:01:00 UTC until 'lendstream thaw'; no reason given",
                        "domain east: decisions made advice by carol (not authenticated) since 2026-01-01 02:02:00 UTC until 'lendstream advisory off'; no reason given");
        assertThat(commands.lending(EAST, true)).isEqualTo("stopped");

        order(Kind.THAW, "dave", "", 3);

        assertThat(commands.lines())
                .singleElement()
                .asString()
                .startsWith("domain east: decisions made advice by carol");
        assertThat(commands.lending(EAST, true)).isEqualTo("on");

        order(Kind.ADVISORY_OFF, "dave", "", 4);

        assertThat(commands.finding().line())
                .isEqualTo("ok   commands: no freeze, reclaim-all or advisory mode is in force");
    }

    @Test
    void theLogOrdersCommandsInWhateverOrderTheyAreRead() {
        order(Kind.THAW, "dave", "", 3);
        order(Kind.FREEZE, "bob", "", 2);
        order(Kind.FREEZE, "alice", "", 1);

        assertThat(commands.lines()).isEmpty();

        order(Kind.FREEZE, "carol", "", 5);
        order(Kind.FREEZE, "erin", "", 4);

        assertThat(commands.lines()).singleElement().asString().contains("frozen by erin");
    }

    @Test
    void theGroupOfAUserIsNamed() {
        order(Kind.FREEZE, "alice", "rack 3", 0, "lendstream.control.oncall");

        assertThat(commands.lines())
                .containsExactly(
                        "domain east: frozen by alice (group oncall, topic lendstream.control.oncall) since 2026-01-01 02:00:00 UTC until 'lendstream thaw'; reason: rack 3");
    }

    @Test
    void aSchedulerThatMayNotLendIsOffWithAnyCommand() {
        order(Kind.FREEZE, "alice", "", 0);

        assertThat(commands.lending(EAST, false)).isEqualTo("off");
    }
}
