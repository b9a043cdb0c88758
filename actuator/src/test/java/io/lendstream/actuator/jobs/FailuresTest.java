package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailuresTest {
    private static final GpuId GPU = new GpuId("gpu0");

    private final Failures failures = new Failures(1);

    @Test
    void startsAreTriedEverMoreSlowlyAndGivenUpAfterHalfAMinute() {
        long now = Long.MAX_VALUE - 5; // the clock of nanoseconds may pass its end
        List<Long> waits = new ArrayList<>();
        for (int tries = 1; tries < Failures.MOST_STARTS; tries++) {
            failures.unstarted(GPU, false, now);
            assertThat(failures.isGivenUp(GPU)).isFalse();
            long wait = 1;
            while (failures.mustWait(GPU, now + Duration.ofSeconds(wait).toNanos())) {
                wait++;
            }
            waits.add(wait);
            now += Duration.ofSeconds(wait).toNanos();
        }
        failures.unstarted(GPU, false, now);

        assertThat(waits).containsExactly(1L, 2L, 4L, 8L, 16L);
        assertThat(failures.isGivenUp(GPU)).isTrue();
    }

    @Test
    void whatCanNeverSucceedIsGivenUpAtOnce() {
        failures.unstarted(GPU, true, 0);

        assertThat(failures.isGivenUp(GPU)).isTrue();
    }

    @Test
    void aStartThatSucceedsEndsTheCountAndSoDoesTheNextChange() {
        for (int tries = 1; tries < Failures.MOST_STARTS; tries++) {
            failures.unstarted(GPU, false, 0);
        }
        failures.started(GPU);
        failures.unstarted(GPU, false, 0);
        assertThat(failures.isGivenUp(GPU)).isFalse();
        failures.unstarted(GPU, true, 0);

        failures.clear();

        assertThat(failures.isGivenUp(GPU)).isFalse();
        assertThat(failures.mustWait(GPU, 0)).isFalse();
    }

    @Test
    void workersThatEndInFailureAreCountedByThemselves() {
        assertThat(failures.ended(GPU)).isEqualTo(1);
        assertThat(failures.isGivenUp(GPU)).isFalse();
        assertThat(failures.ended(GPU)).isEqualTo(2);
        assertThat(failures.isGivenUp(GPU)).isTrue();
    }
}
