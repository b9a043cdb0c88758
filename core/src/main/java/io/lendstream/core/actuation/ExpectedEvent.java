package io.lendstream.core.actuation;

import java.time.Instant;

/**
 * An event that an {@link InStepDriver} will report, and its time. Of events of one time, starts come after stops, and
 * changes in force last.
 *
 * @param order separates events of one time: the one with the lower number is first
 */
public record ExpectedEvent(Instant at, long order, DriverEvent event) implements Comparable<ExpectedEvent> {
    private int rank() {
        return event instanceof DriverEvent.InForce ? 2 : event instanceof DriverEvent.Started ? 1 : 0;
    }

    /**
     * Whether it comes before a deadline has passed. At that very time, stops do. A start does unless the deadline is
     * that of a release, since a tenant that has not left is killed first.
     */
    boolean isBefore(PendingStep deadline) {
        int order = at.compareTo(deadline.due());
        return order < 0 || (order == 0 && (rank() == 0 || (rank() == 1 && !deadline.frees())));
    }

    @Override
    public int compareTo(ExpectedEvent other) {
        int byTime = at.compareTo(other.at);
        if (byTime == 0) {
            byTime = Integer.compare(rank(), other.rank());
        }
        return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
}
