package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Executes orders about tenants and GPUs. Orders come from one thread, and {@link #take} must return at once; results
 * go to an {@link DriverListener}. An order may be repeated, and the latest order for a tenant counts.
 */
public interface Driver extends AutoCloseable {
    void take(Order order);

    /**
     * Called once, after the orders that stand from an earlier run: the driver forgets what it had taken over for
     * others than these tenants, and does not end it.
     */
    default void resumed(Set<Tenant> placed) {}

    /**
     * From now on the driver starts something only while this is true, asked before each try; it drops other orders to
     * start something, also waiting ones, without an event. It still ends tenants, and takes units from them.
     */
    default void startOnlyWhile(BooleanSupplier mayStart) {}

    /** Whether the driver has dropped orders since the last call, so that all that stand must be given again. */
    default boolean hasDroppedOrders() {
        return false;
    }

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
