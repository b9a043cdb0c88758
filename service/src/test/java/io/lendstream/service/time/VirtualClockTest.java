package io.lendstream.service.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VirtualClockTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final VirtualClock clock = new VirtualClock(Optional.empty());

    @Test
    void nothingIsDueBeforeTheEnvironmentHasNamedATime() {
        assertThat(clock.due()).isEmpty();

        clock.take(progress("scheduler", 5));

        assertThat(clock.due()).isEmpty();
    }

    @Test
    void whatTheEnvironmentNamesIsDueUntilItIsAnswered() {
        clock.take(progress("environment", 5));

        assertThat(clock.due()).contains(progress("environment", 5));

        clock.answer(NOON.plusSeconds(5));

        assertThat(clock.due()).isEmpty();

        clock.take(progress("environment", 10));

        assertThat(clock.due()).contains(progress("environment", 10));
    }

    @Test
    void othersAreLevelOnceTheyHaveAnsweredAllThatThisOneHas() {
        assertThat(clock.isLevelWith(ServiceName.SCHEDULER)).isTrue();

        clock.answer(NOON.plusSeconds(5));

        assertThat(clock.isLevelWith(ServiceName.SCHEDULER)).isFalse();

        clock.take(progress("scheduler", 5));

        assertThat(clock.isLevelWith(ServiceName.SCHEDULER)).isTrue();
    }

    @Test
    void anOlderWordDoesNotTurnTimeBack() {
        clock.take(progress("environment", 10));
        clock.take(progress("environment", 5));

        assertThat(clock.due()).contains(progress("environment", 10));
    }

    private static Progress progress(String service, long second) {
        return new Progress(service, new DomainId("d"), NOON.plusSeconds(second), Map.of(), Optional.empty());
    }
}
