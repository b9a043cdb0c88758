package io.lendstream.actuator;

import io.lendstream.core.actuation.ChangeDriver;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.simulated.DelayModel;
import io.lendstream.core.simulated.SimulatedDriver;

/** The configured way to execute decisions: simulated, or by a driver. */
sealed interface DriverChoice permits DriverChoice.Simulated, Driven {
    /** The driver for the actuation. A simulated one starts without any tenants. */
    ChangeDriver changeDriver();

    /** Nothing real runs. */
    record Simulated(DelayModel delays, Abilities abilities) implements DriverChoice {
        @Override
        public ChangeDriver changeDriver() {
            return new SimulatedDriver(delays, abilities);
        }
    }
}
