package io.lendstream.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OnExitTest {

    @Test
    void eachRestartWaitsTwiceAsLongUpToHalfAMinute() {
        var restart = new OnExit.Restart(100, Duration.ofSeconds(1));

        assertThat(restart.delayBefore(1)).isEqualTo(Duration.ofSeconds(1));
        assertThat(restart.delayBefore(2)).isEqualTo(Duration.ofSeconds(2));
        assertThat(restart.delayBefore(3)).isEqualTo(Duration.ofSeconds(4));
        assertThat(restart.delayBefore(100)).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void nothingIsRestartedANegativeNumberOfTimes() {
        assertThatThrownBy(() -> OnExit.restart(-1)).hasMessageContaining("restarts are -1");
    }
}
