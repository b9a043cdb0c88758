package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import java.util.List;
import java.util.Optional;

/**
 * Executes orders about tenants and GPUs. Orders come from one thread, and {@link #take} must return at once; results
 * go to an {@link DriverListener}. An order may be repeated, and the latest order for a tenant counts.
 */
public interface Driver extends AutoCloseable {
    void take(Order order);

    /** The exact actions for an order, one a line; nothing is executed. */
    List<String> plan(Order order);

    /** Whether the driver observes processes itself, and reports running ones soon after an order to keep them. */
    default boolean seesWhatRuns() {
        return false;
    }

    /** Finds what the driver could take over; empty for a driver that takes nothing over. */
    default Optional<TenantFinder> finder() {
        return Optional.empty();
    }

    /** Why the driver cannot work here, with the way out; empty without a problem. */
    List<String> complaints();

    /** Settings that work but are not safe, with the way out. */
    default List<String> warnings() {
        return List.of();
    }

    /** Closes the driver; tenants continue to run. */
    @Override
    void close();
}
