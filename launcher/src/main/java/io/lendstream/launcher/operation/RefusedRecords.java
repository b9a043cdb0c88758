package io.lendstream.launcher.operation;

import io.lendstream.core.event.ServiceName;
import java.time.Instant;
import java.util.List;

/**
 * What was refused of a topic lately.
 *
 * @param topic its name
 * @param records that were written to it meanwhile
 * @param letters that came to its dead letters meanwhile, of all services
 * @param latest the latest of the letters, oldest first; not always all
 */
record RefusedRecords(String topic, long records, long letters, List<Letter> latest) {
    /** As the scheduler names the exception by which it refuses records of a domain that is stopped. */
    private static final String STOPPED = ".DomainStoppedException";

    RefusedRecords {
        latest = List.copyOf(latest);
    }

    /**
     * A dead letter's headers.
     *
     * @param at when the record was written
     * @param service that refused it
     */
    record Letter(Instant at, String service, String errorClass, String message) {
        boolean isOfStoppedDomain() {
            return errorClass.endsWith(STOPPED);
        }
    }

    /** How many of the letters are the scheduler's, judged by the latest. */
    long byScheduler() {
        long ours = latest.stream()
                .filter(letter -> letter.service().equals(ServiceName.SCHEDULER.toString()))
                .count();
        return latest.isEmpty() ? 0 : letters * ours / latest.size();
    }

    /** Why the last was refused. */
    String lastReason() {
        return latest.isEmpty() ? "unknown" : latest.get(latest.size() - 1).message();
    }
}
