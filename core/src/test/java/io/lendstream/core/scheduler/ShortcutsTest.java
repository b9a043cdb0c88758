package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.catalogue.Policies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A step that leaves phases out, as {@link WorkDue} says, decides what one decides that leaves out none. */
@Tag("long")
class ShortcutsTest {
    private static final long HISTORIES = Long.getLong("histories", 300);

    @Test
    void shortcutsDecideWhatAllPhasesDecide() throws IOException {
        Map<ShortcutOracle.Deferral, Integer> deferrals = new EnumMap<>(ShortcutOracle.Deferral.class);
        Set<String> policies = new TreeSet<>();
        long compared = 0;
        long leftOut = 0;
        for (long seed = 1; seed <= HISTORIES; seed++) {
            RandomHistory history = RandomHistory.of(seed);
            ShortcutOracle oracle = new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT);

            assertThat(oracle.firstError(history.log())).as("seed %d", seed).isEmpty();
            oracle.deferrals().forEach((kind, times) -> deferrals.merge(kind, times, Integer::sum));
            policies.add(history.scheduler().policy().spec());
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
            assertThat(policies)
                    .containsExactlyInAnyOrderElementsOf(
                            Policies.all().stream().map(Policy::spec).toList());
        }
    }

    /** In this one, a small job could borrow a MIG instance that another job had left. */
    @Test
    void aPlanRestsNoLongerOnceAMigInstanceIsFree() {
        RandomHistory history = RandomHistory.of(9067);

        assertThat(new ShortcutOracle(history.scheduler(), WorkDue.BY_EVENT).firstError(history.log()))
                .isEmpty();
    }

    /** Shortcuts that go too far, each in one place. */
    static Stream<Arguments> tooFar() {
        return Stream.of(
                arguments(named("reports concern no service", new WorkDue() {
                    @Override
                    boolean concernsServices(Situation it) {
                        return it.step().event().asReport().isEmpty();
                    }
                })),
                arguments(named("services are always alone", new WorkDue() {
                    @Override
                    boolean isAlone(Situation it) {
                        return it.step().heard().isPresent();
                    }
                })),
                arguments(named("only ticks concern cuts", new WorkDue() {
                    @Override
                    boolean concernsCuts(Situation it) {
                        return it.step().event().isTick();
                    }
                })),
                arguments(named("reports concern nothing", new WorkDue() {
                    @Override
                    boolean mayDecide(Situation it) {
                        return it.step().event().asReport().isEmpty() && super.mayDecide(it);
                    }
                })),
                arguments(named("what is over waits for a tick", new WorkDue() {
                    @Override
                    boolean mayDecide(Situation it) {
                        return super.mayDecide(new Situation(it.scheduler(), it.step(), false));
                    }
                })),
                arguments(named("plans rest for ten minutes", new WorkDue() {
                    @Override
                    boolean isPlanDue(Situation it) {
                        return super.isPlanDue(it) && it.step().now().getEpochSecond() % 600 < 60;
                    }
                })));
    }

    @ParameterizedTest
    @MethodSource("tooFar")
    void aShortcutThatGoesTooFarIsFound(WorkDue wrong) {
        Optional<String> error = Optional.empty();
        for (long seed = 1; seed <= 100 && error.isEmpty(); seed++) {
            RandomHistory history = RandomHistory.of(seed);
            error = new ShortcutOracle(history.scheduler(), wrong).firstError(history.log());
        }
        assertThat(error).isPresent();
    }
}
