package io.lendstream.simulator.published;

import io.lendstream.core.afe.RescaleCosts;
import java.time.Duration;

/** How long a training job pauses when its GPUs change. */
record Pauses(PublishedSettings.Timing timing, boolean afe) {
    private static final int POLLUX_SECONDS = 30;

    int seconds(RescaleCosts costs, int from, int to) {
        Duration pause = switch (timing) {
            case DEEPBOOT -> costs.delay(from, to, afe);
            case POLLUX -> Duration.ofSeconds(POLLUX_SECONDS);
        };
        return (int) pause.toSeconds();
    }
}
