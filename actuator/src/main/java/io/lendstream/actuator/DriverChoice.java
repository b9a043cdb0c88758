package io.lendstream.actuator;

import io.lendstream.core.actuation.ChangeDriver;
import io.lendstream.core.simulated.DelayModel;
import io.lendstream.core.simulated.SimulatedDriver;

/** What carries decisions out, as configured. */
sealed interface DriverChoice permits DriverChoice.Simulated, Driven {
    /** The driver as the actuation knows it. A simulated one is new, and runs nothing. */
    ChangeDriver changeDriver();

    /** Nothing real runs. */
    record Simulated(DelayModel delays) implements DriverChoice {
        @Override
        public ChangeDriver changeDriver() {
            return new SimulatedDriver(delays);
        }
    }
}
