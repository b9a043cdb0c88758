package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** A driver that logs the actions for each order, executes nothing, and reports success. */
public final class DryRun implements Driver {
    private final Function<Order, List<String>> plan;
    private final DriverListener driverListener;
    private final Consumer<String> out;

    /** @param plan the actions for an order, one a line */
    public DryRun(Function<Order, List<String>> plan, DriverListener driverListener, Consumer<String> out) {
        this.plan = plan;
        this.driverListener = driverListener;
        this.out = out;
    }

    @Override
    public void take(Order order) {
        plan(order).forEach(line -> out.accept("would " + line));
        DriverEvents.allOf(order).forEach(driverListener::tell);
    }

    @Override
    public List<String> plan(Order order) {
        return plan.apply(order);
    }

    @Override
    public List<String> complaints() {
        return List.of();
    }

    @Override
    public void close() {}
}
