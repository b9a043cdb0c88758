package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.event.TrainingProgress;

/** Hears what a driver has to tell, from any thread. */
public interface DriverListener {
    /** Hears nothing. */
    DriverListener DEAF = new DriverListener() {
        @Override
        public void tell(DriverEvent driverEvent) {}

        @Override
        public void tell(TrainingProgress progress) {}
    };

    void tell(DriverEvent driverEvent);

    /** What a job says of its training. */
    void tell(TrainingProgress progress);
}
