package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A step that leaves phases out, as {@link WorkDue} says, decides what one decides that leaves out none. */
class ShortcutsTest {
    private static final long HISTORIES = Long.getLong("histories", 300);

    @Test
    void shortcutsDecideWhatAllPhasesDecide() throws IOException {
        Map<ShortcutOracle.Deferral, Integer> deferrals = new EnumMap<>(ShortcutOracle.Deferral.class);
        long compared = 0;
        long leftOut = 0;
        for (long seed = 1; seed <= HISTORIES; seed++) {
            RandomHistory history = RandomHistory.of(seed);
            ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

            assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
            oracle.deferrals().forEach((kind, times) -> deferrals.merge(kind, times, Integer::sum));
            compared += oracle.compared();
            leftOut += oracle.leftOut();
        }
        String deferred = deferrals.entrySet().stream()
                .map(entry -> "\"%s\":%d".formatted(entry.getKey(), entry.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        Path measured = Path.of("target/measurements/shortcuts.json");
        Files.createDirectories(measured.getParent());
        Files.writeString(
                measured,
                "{\"histories\":%d,\"events\":%d,\"eventsWithPhasesLeftOut\":%d,\"deferred\":%s}%n"
                        .formatted(HISTORIES, compared, leftOut, deferred));
        assertThat(leftOut).as("of %d events", compared).isGreaterThan(compared / 5);
        assertThat(deferrals).containsKey(ShortcutOracle.Deferral.PLAN);
        if (HISTORIES >= 300) {
            assertThat(deferrals.keySet()).containsExactly(ShortcutOracle.Deferral.values());
        }
    }

    /** Shortcuts that go too far, each in one place. */
    enum Wrong {
        REPORTS_CONCERN_NO_SERVICE(new WorkDue() {
            @Override
            boolean concernsServices(Situation it) {
                return !it.step().isReport();
            }
        }),
        SERVICES_ARE_ALWAYS_ALONE(new WorkDue() {
            @Override
            boolean isAlone(Situation it) {
                return it.step().heard().isPresent();
            }
        }),
        ONLY_TICKS_CONCERN_CUTS(new WorkDue() {
            @Override
            boolean concernsCuts(Situation it) {
                return it.step().isTick();
            }
        }),
        REPORTS_CONCERN_NOTHING(new WorkDue() {
            @Override
            boolean mayDecide(Situation it) {
                return !it.step().isReport() && super.mayDecide(it);
            }
        }),
        WHAT_IS_OVER_WAITS_FOR_A_TICK(new WorkDue() {
            @Override
            boolean mayDecide(Situation it) {
                return super.mayDecide(new Situation(it.scheduler(), it.step(), false));
            }
        }),
        PLANS_REST_FOR_TEN_MINUTES(new WorkDue() {
            @Override
            boolean isPlanDue(Situation it) {
                return super.isPlanDue(it) && it.step().now().getEpochSecond() % 600 < 60;
            }
        });

        private final WorkDue work;

        Wrong(WorkDue work) {
            this.work = work;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aShortcutThatGoesTooFarIsFound(Wrong wrong) {
        Optional<String> error = Optional.empty();
        for (long seed = 1; seed <= 100 && error.isEmpty(); seed++) {
            RandomHistory history = RandomHistory.of(seed);
            error = new ShortcutOracle(history.scheduler(), wrong.work).firstError(history.log());
        }
        assertThat(error).isPresent();
    }
}
