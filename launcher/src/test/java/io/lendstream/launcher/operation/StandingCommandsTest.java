package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.ControlCommand.Kind;
import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StandingCommandsTest {
    private static final Instant NIGHT = Instant.parse("2026-01-01T02:00:00Z");
    private static final DomainId EAST = new DomainId("east");

    private final StandingCommands commands = new StandingCommands();

    private void order(Kind kind, String issuer, String reason, int minute) {
        commands.take(new ControlCommand(
                EAST, "id", NIGHT.plusSeconds(60L * minute), issuer, kind, Optional.empty(), List.of(), reason));
    }

    @Test
    void aFreezeIsShownWithItsUserReasonTimeAndEnd() {
        order(Kind.FREEZE, "alice", "rack 3", 0);
        order(Kind.FREEZE, "bob", "to be sure", 5);

        assertThat(commands.finding().line())
                .isEqualTo(
                        "warn commands: domain east: frozen by alice since 2026-01-01 02:00:00 UTC until 'lendstream thaw'; reason: rack 3; end it when the reason has passed");
        assertThat(commands.lending(EAST, true)).isEqualTo("frozen");
        assertThat(commands.lending(new DomainId("west"), true)).isEqualTo("on");
    }

    @Test
    void aThawEndsFreezeAndReclaimAllAndNotAdvisoryMode() {
        order(Kind.FREEZE, "alice", "rack 3", 0);
        order(Kind.RECLAIM_ALL, "bob", "", 1);
        order(Kind.ADVISORY_ON, "carol", "", 2);

        assertThat(commands.lines())
                .containsExactlyInAnyOrder(
                        "domain east: frozen by alice since 2026-01-01 02:00:00 UTC until 'lendstream thaw'; reason: rack 3",
                        "domain east: lending stopped by bob since 2026-01-01 02:01:00 UTC until 'lendstream thaw'; no reason given",
                        "domain east: decisions made advice by carol since 2026-01-01 02:02:00 UTC until 'lendstream advisory off'; no reason given");
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
    void aSchedulerThatMayNotLendIsOffWithAnyCommand() {
        order(Kind.FREEZE, "alice", "", 0);

        assertThat(commands.lending(EAST, false)).isEqualTo("off");
    }
}
