package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Deed;
import io.lendstream.core.event.TrainingProgress;

/** Hears what a driver has to tell, from any thread. */
public interface Ear {
    /** Hears nothing. */
    Ear DEAF = new Ear() {
        @Override
        public void tell(Deed deed) {}

        @Override
        public void tell(TrainingProgress progress) {}
    };

    void tell(Deed deed);

    /** What a job says of its training. */
    void tell(TrainingProgress progress);
}
