package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import java.util.List;

/**
 * Brings about how things are ordered to be. Orders come from one thread, and {@link #take} must return at once; what comes of
 * them is told to an {@link DriverListener}. An order may be given again, and the last one about a tenant counts.
 */
public interface Driver extends AutoCloseable {
    void take(Order order);

    /** What it would do, exactly, a line each; nothing is done. */
    List<String> plan(Order order);

    /** Whether it sees itself what runs, and tells of it soon after it was ordered to keep it. */
    default boolean seesWhatRuns() {
        return false;
    }

    /** What keeps it from working here, with the way out; nothing where all is well. */
    List<String> complaints();

    /** What works, but is not safe, with the way out. */
    default List<String> warnings() {
        return List.of();
    }

    /** Lets go of what runs, which runs on. */
    @Override
    void close();
}
