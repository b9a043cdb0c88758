package io.lendstream.core.actuation;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.GpuId;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * A driver without a clock of its own, such as a simulated one. It gets each order when it is given, and says at which
 * time it will report what. The {@link Actuation} takes its events when their times come.
 */
public interface InStepDriver extends ChangeDriver {
    /**
     * Takes an order.
     *
     * @param subject the known facts about the subject of the order
     */
    void take(Order order, OrderSubject subject, Instant now);

    /** The next event. */
    Optional<ExpectedEvent> next();

    /** Removes and returns the next event. */
    DriverEvent takeNext();

    /** These units are gone with all that ran on them. Nothing is reported of them any more. */
    void lose(Collection<GpuId> units);

    /** Two units have each other's names from now on. */
    default void exchange(NameExchange names) {}

    /** Whether a report reaches the scheduler. A simulation may lose some. */
    default boolean delivers(ActuationReport report) {
        return true;
    }

    /** The events that are still to come, for {@link ActuationSnapshot}. */
    List<ExpectedEvent> expected();

    /**
     * Goes on after a restart.
     *
     * @param holdings the units on which tenants run, start, or are being stopped
     * @param places the last order about each tenant
     */
    void restore(Collection<Holding> holdings, Collection<Order.Place> places, Collection<ExpectedEvent> expected);

    @Override
    default Optional<InStepDriver> inStep() {
        return Optional.of(this);
    }
}
