package io.lendstream.actuator;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * The reports that the broker has not acknowledged, in order. The actuator's thread adds reports, another thread
 * sends them.
 *
 * <p>Its size is limited. A newer ownership report replaces an older one. Beyond the limit the oldest report is
 * dropped and counted. Ownership is reported again every minute, so the scheduler still receives the current state.
 */
final class ReportOutbox {
    static final int MOST_REPORTS = 100_000;
    static final int MOST_PROGRESS = 10_000;

    private final int mostReports;
    private final int mostProgress;
    private final Deque<ActuationReport> reports = new ArrayDeque<>();
    private final Deque<ActuationReport> held = new ArrayDeque<>();
    private final Deque<TrainingProgress> progress = new ArrayDeque<>();
    private final List<ActuatorDescription> descriptions = new ArrayList<>();
    private final TreeMap<String, Long> positions = new TreeMap<>();
    private Batch sending = Batch.EMPTY;
    private boolean open;
    private long droppedReports;
    private long droppedProgress;

    /** The batch that is being sent. */
    record Batch(
            List<ActuationReport> reports, List<TrainingProgress> progress, List<ActuatorDescription> descriptions) {
        static final Batch EMPTY = new Batch(List.of(), List.of(), List.of());

        boolean isEmpty() {
            return reports.isEmpty() && progress.isEmpty() && descriptions.isEmpty();
        }
    }

    /**
     * The part of the outbox that is saved for a restart.
     *
     * @param reports unacknowledged reports, in order, without ownership reports
     * @param positions acknowledged positions in the topic, by {@code topic-partition}
     */
    record Contents(List<ActuationReport> reports, Map<String, Long> positions) {
        Contents {
            reports = List.copyOf(reports);
            positions = Map.copyOf(positions);
        }
    }

    /** Identifies a report on the topic; texts and durations may have been cut there. */
    private record Identity(
            DecisionId decision, Outcome outcome, List<GpuId> gpus, Optional<Tenant> tenant, Instant at) {
        static Identity of(ActuationReport report) {
            return new Identity(
                    report.decision(),
                    report.outcome(),
                    report.gpus(),
                    report.tenant(),
                    report.at().truncatedTo(ChronoUnit.MILLIS));
        }
    }

    ReportOutbox() {
        this(MOST_REPORTS, MOST_PROGRESS);
    }

    ReportOutbox(int mostReports, int mostProgress) {
        this.mostReports = mostReports;
        this.mostProgress = mostProgress;
    }

    /** The reports of an earlier run; none is sent until {@link #reconcile}. */
    synchronized void restore(Contents contents) {
        reports.addAll(contents.reports());
        positions.putAll(contents.positions());
    }

    /** Adds reports that are not sent before {@link #release}. */
    synchronized void add(List<ActuationReport> more) {
        if (more.stream().anyMatch(ReportOutbox::isRegular)) {
            held.removeIf(report -> isReplaced(report, more));
            var kept = new ArrayList<ActuationReport>();
            int underWay = sending.reports().size();
            for (ActuationReport report : reports) {
                if (underWay > 0 || !isReplaced(report, more)) {
                    kept.add(report);
                }
                underWay--;
            }
            reports.clear();
            reports.addAll(kept);
        }
        held.addAll(more);
        while (reports.size() + held.size() > mostReports
                && reports.size() > sending.reports().size()) {
            dropFirstReport();
        }
        while (held.size() > mostReports) {
            held.removeFirst();
            droppedReports++;
        }
    }

    /** The oldest report that is not being sent. */
    private void dropFirstReport() {
        var first = new ArrayList<ActuationReport>();
        for (int i = 0; i < sending.reports().size(); i++) {
            first.add(reports.removeFirst());
        }
        reports.removeFirst();
        droppedReports++;
        for (int i = first.size() - 1; i >= 0; i--) {
            reports.addFirst(first.get(i));
        }
    }

    synchronized void add(TrainingProgress more) {
        progress.addLast(more);
        if (progress.size() > mostProgress) {
            progress.removeFirst();
            droppedProgress++;
        }
        notifyAll();
    }

    synchronized void add(ActuatorDescription description) {
        descriptions.add(description);
        notifyAll();
    }

    /** Allows sending the added reports. */
    synchronized void release() {
        reports.addAll(held);
        held.clear();
        notifyAll();
    }

    /**
     * Removes the reports that are already on the topic, and allows sending the others.
     *
     * @param found this actuator's reports on the topic since the acknowledged positions, without ownership reports
     * @param end the end of the topic at that time
     * @return the found reports that were not in the outbox
     */
    synchronized List<ActuationReport> reconcile(List<ActuationReport> found, Map<String, Long> end) {
        sending = Batch.EMPTY;
        var times = new HashMap<Identity, Integer>();
        found.forEach(report -> times.merge(Identity.of(report), 1, Integer::sum));
        reports.removeIf(report -> {
            boolean isThere = times.getOrDefault(Identity.of(report), 0) > 0;
            if (isThere) {
                times.merge(Identity.of(report), -1, Integer::sum);
            }
            return isThere;
        });
        end.forEach((partition, offset) -> positions.merge(partition, offset, Math::max));
        open = true;
        notifyAll();
        var unknown = new ArrayList<ActuationReport>();
        for (ActuationReport report : found) {
            if (times.getOrDefault(Identity.of(report), 0) > 0) {
                times.merge(Identity.of(report), -1, Integer::sum);
                unknown.add(report);
            }
        }
        return unknown;
    }

    /** Waits until there are reports to send; returns whether there are. */
    synchronized boolean awaitSome(Duration patience) throws InterruptedException {
        return await(patience, () -> open && !(reports.isEmpty() && progress.isEmpty() && descriptions.isEmpty()));
    }

    private boolean await(Duration patience, BooleanSupplier condition) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    /** The oldest reports, which stay in the outbox until they are {@link #delivered}. */
    synchronized Batch next(int most) {
        var taken = new ArrayList<TrainingProgress>();
        while (taken.size() < most && !progress.isEmpty()) {
            taken.add(progress.removeFirst());
        }
        sending = new Batch(reports.stream().limit(most).toList(), List.copyOf(taken), List.copyOf(descriptions));
        descriptions.clear();
        return sending;
    }

    /**
     * Records that the broker has acknowledged the last batch.
     *
     * @param written positions up to which this actuator has written, by {@code topic-partition}
     */
    synchronized void delivered(Map<String, Long> written) {
        sending.reports().forEach(report -> reports.removeFirst());
        written.forEach((partition, end) -> positions.computeIfPresent(partition, (any, old) -> Math.max(old, end)));
        sending = Batch.EMPTY;
        notifyAll();
    }

    /** Records that the last batch was not sent, or that its fate is unknown. */
    synchronized void failed() {
        List<TrainingProgress> again = sending.progress();
        for (int i = again.size() - 1; i >= 0; i--) {
            progress.addFirst(again.get(i));
        }
        descriptions.addAll(0, sending.descriptions());
        sending = Batch.EMPTY;
    }

    /** Records that the last batch was not sent, and that descriptions never can be. */
    synchronized void failedWithoutDescriptions() {
        failed();
        descriptions.clear();
    }

    /** Records that the last batch can never be sent. */
    synchronized void refused() {
        droppedReports += sending.reports().size();
        droppedProgress += sending.progress().size();
        delivered(Map.of());
    }

    synchronized Contents contents() {
        var all = new ArrayList<ActuationReport>(reports);
        all.addAll(held);
        all.removeIf(ReportOutbox::isRegular);
        return new Contents(all, positions);
    }

    /** The acknowledged positions. */
    synchronized Map<String, Long> positions() {
        return new TreeMap<>(positions);
    }

    /** The number of queued records. */
    synchronized int size() {
        return reports.size() + held.size() + progress.size() + descriptions.size();
    }

    synchronized boolean isEmpty() {
        return size() == 0 && sending.isEmpty();
    }

    synchronized long droppedReports() {
        return droppedReports;
    }

    synchronized long droppedProgress() {
        return droppedProgress;
    }

    /** Waits until the outbox is empty; returns whether it is. */
    synchronized boolean awaitEmpty(Duration patience) throws InterruptedException {
        return await(patience, this::isEmpty);
    }

    private static boolean isRegular(ActuationReport report) {
        return OwnReports.REGULAR.contains(report.outcome());
    }

    /** Whether newer reports say the same kind of thing: all stocks together, or what is found in a domain. */
    private static boolean isReplaced(ActuationReport older, List<ActuationReport> newer) {
        return isRegular(older)
                && newer.stream()
                        .filter(report -> report.outcome() == older.outcome())
                        .anyMatch(report -> report.outcome() == Outcome.HOLDS
                                || report.domain().equals(older.domain()));
    }
}
