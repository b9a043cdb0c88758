package io.lendstream.actuator.jobs;

import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;

/** Logs a repeated error once a minute; the first time with its stack trace. For one thread. */
final class ErrorLog {
    private static final long AGAIN_NANOS = 60_000_000_000L;
    private static final int MOST = 1000;

    private final Logger log;
    private final Map<String, Seen> seen = new HashMap<>();

    private static final class Seen {
        long loggedNanos;
        long silent;
    }

    ErrorLog(Logger log) {
        this.log = log;
    }

    /** @param what description of the failure, which also distinguishes errors */
    void error(String what, Exception cause) {
        long now = System.nanoTime();
        if (seen.size() >= MOST) {
            seen.clear();
        }
        Seen before = seen.get(what);
        if (before == null) {
            before = new Seen();
            before.loggedNanos = now;
            seen.put(what, before);
            log.error("{}", what, cause);
        } else if (now - before.loggedNanos >= AGAIN_NANOS) {
            log.error("{} ({} more times): {}", what, before.silent + 1, cause.toString());
            before.loggedNanos = now;
            before.silent = 0;
        } else {
            before.silent++;
        }
    }
}
