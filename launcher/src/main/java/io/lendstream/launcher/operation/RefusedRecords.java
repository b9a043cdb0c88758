package io.lendstream.launcher.operation;

import io.lendstream.core.event.ServiceName;
import java.time.Instant;
import java.util.List;

/**
 * The recently refused records of a topic.
 *
 * @param topic its name
 * @param records the number written to it in that time
 * @param letters the number of its dead letters in that time, of all services
 * @param latest the latest letters, oldest first; not always all
 */
record RefusedRecords(String topic, long records, long letters, List<Letter> latest) {
    /** The exception with which the scheduler refuses records of a stopped domain. */
    private static final String STOPPED = ".DomainStoppedException";

    RefusedRecords {
        latest = List.copyOf(latest);
    }

    /**
     * The headers of a dead letter.
     *
     * @param at the time when the record was written
     * @param service the service that refused it
     */
    record Letter(Instant at, String service, String errorClass, String message) {
        boolean isOfStoppedDomain() {
            return errorClass.endsWith(STOPPED);
        }
    }

    /** An estimate of the scheduler's share of the letters, from the latest. */
    long byScheduler() {
        long ours = latest.stream()
                .filter(letter -> letter.service().equals(ServiceName.SCHEDULER.toString()))
                .count();
        return latest.isEmpty() ? 0 : letters * ours / latest.size();
    }

    /** The reason of the last refusal. */
    String lastReason() {
        return latest.isEmpty() ? "unknown" : latest.get(latest.size() - 1).message();
    }
}
