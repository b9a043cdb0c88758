package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.event.TrainingProgress;

/** Receives a driver's events, from any thread. */
public interface DriverListener {
    /** Hears nothing. */
    DriverListener DEAF = new DriverListener() {
        @Override
        public void tell(DriverEvent driverEvent) {}

        @Override
        public void tell(TrainingProgress progress) {}
    };

    void tell(DriverEvent driverEvent);

    /** Reports a job's training progress. */
    void tell(TrainingProgress progress);
}
