package io.lendstream.actuator;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * What an actuator has on the topic of reports.
 *
 * @param reports its own in the order of their times, without those of what each GPU holds
 * @param end the next offset of each {@code topic-partition}
 */
record OwnReports(List<ActuationReport> reports, Map<String, Long> end) {
    private static final Duration POLL = Duration.ofMillis(200);

    OwnReports {
        reports = List.copyOf(reports);
        end = Map.copyOf(end);
    }

    /**
     * Reads them.
     *
     * @param reader is not started yet, and is not closed
     * @param since the next offset of each {@code topic-partition}
     * @param stopped whether to give up, with what was read by then
     */
    static OwnReports read(RecordReader reader, String actuator, Map<String, Long> since, BooleanSupplier stopped) {
        var own = new ArrayList<ActuationReport>();
        reader.handing(
                TopicCatalogue.ACTUATION_REPORTS,
                received -> received.value()
                        .filter(report -> report.actuator().equals(actuator) && report.outcome() != Outcome.HOLDS)
                        .ifPresent(own::add));
        reader.start(since);
        readAll(reader, stopped);
        own.sort(Comparator.comparing(ActuationReport::at));
        return new OwnReports(own, reader.positions());
    }

    /** Reads until everything is read that was there at the start, or it is stopped. */
    static void readAll(RecordReader reader, BooleanSupplier stopped) {
        while (!reader.hasCaughtUp() && !stopped.getAsBoolean()) {
            reader.poll(POLL);
        }
    }
}
