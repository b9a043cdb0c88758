package io.lendstream.launcher.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScreenTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final LiveState.Snapshot MOMENT = new LiveState.Snapshot(
            Optional.of(START),
            Optional.of(START.plusSeconds(3661)),
            Map.of("training", 500, "lent", 250, "serving", 250),
            250,
            Duration.ofMinutes(90),
            List.of(new LiveState.ServiceLine(
                    new ServiceId("chat"), 12.5, 3, 4, Optional.of(13.0), Optional.of(20.25))),
            Map.of("running", 2, "done", 1),
            Map.of("lend", 7, "reclaim", 5, "release", 2),
            List.of(new Decision(
                    new DecisionId(new DomainId("demo"), 1, 1),
                    START.plusSeconds(3600),
                    START.plusSeconds(3660),
                    false,
                    new Reason("demand", "a long reason ".repeat(20).strip(), Map.of(), List.of()),
                    new Action.Serve(new ServiceId("chat"), List.of(new GpuId("g0")), false))),
            List.of());

    /** A moment with fewer lines. */
    private static final LiveState.Snapshot LATER = new LiveState.Snapshot(
            MOMENT.started(),
            Optional.of(START.plusSeconds(3662)),
            Map.of("training", 500, "free", 500),
            0,
            Duration.ofMinutes(90),
            List.of(),
            Map.of("done", 3),
            Map.of("lend", 7, "reclaim", 7),
            List.of(),
            List.of());

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    private Screen screen(boolean terminal, int width) {
        return new Screen(new PrintStream(printed, true, UTF_8), terminal, "demo", width, 50);
    }

    @Test
    void noLineOfTheTableIsWiderThanTheTerminal() {
        assertThat(screen(true, 60).table(MOMENT, Duration.ofSeconds(30)))
                .allMatch(line -> line.length() <= 60)
                .anyMatch(line -> line.startsWith("  2026-01-01 01:00:00 serve    chat") && line.endsWith("…"))
                .anyMatch(line -> line.matches("GPUs +T+L+S+"));
    }

    @ParameterizedTest
    @CsvSource({"110,50", "60,50", "40,24", "40,6"})
    void aTerminalOfAnySizeShowsTheLastMomentAndNothingElseOfTheTable(int columns, int rows) {
        Terminal terminal = new Terminal(columns, rows);
        Screen screen = new Screen(new PrintStream(printed, true, UTF_8), true, "demo", columns, rows);
        printed.writeBytes("00:04  starting\n".getBytes(UTF_8));

        screen.show(MOMENT, Duration.ofSeconds(30));
        screen.show(LATER, Duration.ofSeconds(31));
        terminal.take(printed.toString(UTF_8));

        List<String> table = screen.table(LATER, Duration.ofSeconds(31)).stream()
                .map(String::stripTrailing)
                .toList();
        List<String> shown = terminal.lines();
        int first = shown.indexOf(table.get(0));
        assertThat(shown.subList(first, shown.size()))
                .containsExactlyElementsOf(table.subList(0, Math.min(table.size(), rows - 1)));
        assertThat(shown.subList(0, first)).isSubsetOf("00:04  starting");
    }

    @Test
    void withoutATerminalAMomentIsOneLine() {
        screen(false, 100).show(MOMENT, Duration.ofSeconds(30));

        assertThat(printed.toString(UTF_8).lines())
                .singleElement()
                .asString()
                .contains(
                        "2026-01-01 01:01:01 UTC (virtual)",
                        "lent 250",
                        "7 lends, 5 reclaims, 2 releases, 1.5 GPU-h lent");
    }

    @Test
    void aFewNodesShowEachGpuByItsIndex() {
        var nodes = List.of(
                new LiveState.NodeStrip(new NodeId("node-0"), List.of("training", "training")),
                new LiveState.NodeStrip(new NodeId("node-1"), List.of("lent", "serving")));
        var small = new LiveState.Snapshot(
                MOMENT.started(),
                MOMENT.now(),
                Map.of("training", 2, "lent", 1, "serving", 1),
                1,
                Duration.ZERO,
                List.of(),
                Map.of(),
                Map.of(),
                List.of(),
                nodes);

        assertThat(screen(true, 100).table(small, Duration.ofSeconds(30))).contains("GPUs       node-0 TT   node-1 LS");
        assertThat(screen(true, 30).table(small, Duration.ofSeconds(30)))
                .containsSubsequence("GPUs       node-0 TT", "           node-1 LS");
    }

    @Test
    void aSizeThatIsNoneIsNotBelieved() {
        assertThat(Screen.told(null, 110)).isEqualTo(110);
        assertThat(Screen.told("", 110)).isEqualTo(110);
        assertThat(Screen.told("0", 110)).isEqualTo(110);
        assertThat(Screen.told("200", 110)).isEqualTo(200);
    }
}
