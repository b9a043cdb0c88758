package io.lendstream.scheduler;

import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;

/** Logs a frequent warning at most so many times a minute, then how many lines were left out. */
final class PacedLog {
    private static final int MOST_LINES = 60;
    private static final Duration PERIOD = Duration.ofMinutes(1);

    private final Logger log;
    private Instant began = Instant.EPOCH;
    private int lines;
    private long leftOut;

    PacedLog(Logger log) {
        this.log = log;
    }

    void warn(Instant now, String line) {
        if (!now.isBefore(began.plus(PERIOD)) || now.isBefore(began)) {
            if (leftOut > 0) {
                log.warn("{} similar lines were left out since {}", leftOut, began);
            }
            began = now;
            lines = 0;
            leftOut = 0;
        }
        lines++;
        if (lines <= MOST_LINES) {
            log.warn("{}", line);
        } else {
            leftOut++;
        }
    }
}
