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
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The reports of an actuator on the topic.
 *
 * @param reports its reports by time, without regular ones. If they are read from the beginning, there are also
 *     stocks, of {@link ToldTenants}, as the topics may not have the decisions of all tenants any more
 * @param end the next offset of each {@code topic-partition}
 */
record OwnReports(List<ActuationReport> reports, Map<String, Long> end) {
    /** These say what there is, and answer no decision. */
    static final Set<Outcome> REGULAR = Set.of(Outcome.HOLDS, Outcome.FOUND);

    private static final Duration POLL = Duration.ofMillis(200);

    OwnReports {
        reports = List.copyOf(reports);
        end = Map.copyOf(end);
    }

    /**
     * Reads the reports.
     *
     * @param reader a reader that has not started; it is not closed
     * @param since the next offset of each {@code topic-partition}
     * @param stopped whether to stop, with the reports read so far
     */
    static OwnReports read(RecordReader reader, String actuator, Map<String, Long> since, BooleanSupplier stopped) {
        var own = new ArrayList<ActuationReport>();
        var tenants = new ToldTenants();
        reader.handing(
                TopicCatalogue.ACTUATION_REPORTS,
                received -> received.value()
                        .filter(report -> report.actuator().equals(actuator))
                        .ifPresent(report -> {
                            if (!REGULAR.contains(report.outcome())) {
                                own.add(report);
                            }
                            if (since.isEmpty()) {
                                tenants.take(report).ifPresent(own::add);
                            }
                        }));
        reader.start(since);
        readAll(reader, stopped);
        own.sort(Comparator.comparing(ActuationReport::at));
        return new OwnReports(own, reader.positions());
    }

    /**
     * Whether reports on the topic contradict a saved state: another instance has reported since, and the state has
     * reports of its own that are not on the topic. Otherwise it is the newest state, or an earlier one from which the
     * topics lead on.
     *
     * @param reader a reader that has not started; it is closed
     */
    static boolean contradict(ActuatorState saved, RecordReader reader, BooleanSupplier stopped) {
        var outbox = new ReportOutbox();
        outbox.restore(saved.outbox());
        try (reader) {
            OwnReports own = read(reader, saved.actuator(), saved.reports(), stopped);
            boolean byAnother = !outbox.reconcile(own.reports(), own.end()).isEmpty();
            return !stopped.getAsBoolean()
                    && byAnother
                    && !outbox.contents().reports().isEmpty();
        }
    }

    /** Reads all records that existed at the start, or until it is stopped. */
    static void readAll(RecordReader reader, BooleanSupplier stopped) {
        while (!reader.hasCaughtUp() && !stopped.getAsBoolean()) {
            reader.poll(POLL);
        }
    }
}
