package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CommitPaceTest {
    private final CommitPace pace = new CommitPace();

    @Test
    void theFirstIsDueAtOnce() {
        assertThat(pace.wait(1_000, false)).isZero();
        assertThat(pace.wait(1_000, true)).isZero();
    }

    @Test
    void whatDemandWaitsForFollowsSoonerThanTheRest() {
        pace.committed(1_000);

        assertThat(pace.wait(1_002, true)).isEqualTo(3);
        assertThat(pace.wait(1_002, false)).isEqualTo(23);
        assertThat(pace.wait(1_005, true)).isZero();
        assertThat(pace.wait(1_025, false)).isZero();
    }

    @Test
    void aClockThatIsSetBackHoldsNothingUp() {
        pace.committed(1_000_000);

        assertThat(pace.wait(0, true)).isEqualTo(5);
        assertThat(pace.wait(0, false)).isEqualTo(25);
    }
}
