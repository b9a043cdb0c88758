package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptionEnd;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The events for an order that is executed completely, or not at all. */
final class DriverEvents {
    /** Why a tenant stopped that is no child of the actuator, whose exit status the system does not tell it. */
    static final String ENDED_WITHOUT_STATUS = "ended; its exit status is not known because something else started it";

    /** What was ended without being asked to, and has left others that Lendstream does not touch. */
    static final String OTHERS_RUN_ON = "its process has ended; others that it started run on";

    private DriverEvents() {}

    /** Why something has ended that something else had started; empty if it was asked to. */
    static String reasonOf(AdoptionEnd end) {
        return switch (end) {
            case UNASKED -> ENDED_WITHOUT_STATUS;
            case OTHERS_RUN_ON -> OTHERS_RUN_ON;
            case ASKED, FORCED -> "";
        };
    }

    static List<DriverEvent> allOf(Order order) {
        List<DriverEvent> driverEvents = new ArrayList<>();
        if (order instanceof Order.Place place) {
            if (!place.leaving().isEmpty()) {
                driverEvents.add(new DriverEvent.Stopped(place.tenant(), place.leaving(), false, ""));
            }
            if (!place.units().isEmpty()) {
                driverEvents.add(new DriverEvent.Started(place.tenant(), place.units()));
            }
            driverEvents.add(new DriverEvent.InForce(place.tenant(), place.decision()));
        } else if (order instanceof Order.Force force) {
            driverEvents.add(new DriverEvent.Stopped(force.tenant(), force.units(), true, ""));
        } else if (order instanceof Order.Cut cut) {
            driverEvents.add(new DriverEvent.Cut(cut.decision(), cut.gpu(), true, ""));
        } else if (order instanceof Order.Batch batch) {
            Tenant service = new Tenant.Service(batch.batching().service());
            driverEvents.add(new DriverEvent.InForce(service, batch.decision()));
        }
        return driverEvents;
    }

    static Optional<DriverEvent> failureOf(Order order, String why) {
        if (order instanceof Order.Place place) {
            return Optional.of(new DriverEvent.Failed(place.tenant(), place.decision(), why));
        }
        if (order instanceof Order.Cut cut) {
            return Optional.of(new DriverEvent.Cut(cut.decision(), cut.gpu(), false, why));
        }
        if (order instanceof Order.Batch batch) {
            return Optional.of(
                    new DriverEvent.Failed(new Tenant.Service(batch.batching().service()), batch.decision(), why));
        }
        return Optional.empty();
    }
}
