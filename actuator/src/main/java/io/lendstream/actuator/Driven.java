package io.lendstream.actuator;

import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.Ear;
import io.lendstream.actuator.driver.Surroundings;
import io.lendstream.core.actuation.Course;
import io.lendstream.core.actuation.DelayModel;
import io.lendstream.core.actuation.Undertaking;
import io.lendstream.core.event.TrainingJob;
import java.util.Locale;

/**
 * That a real driver carries decisions out: nobody knows beforehand how long it takes. Jobs for another driver are refused.
 *
 * @param outside whether somebody outside is asked, who may cut GPUs and change how services batch; processes can do neither
 */
record Driven(DriverKind kind, boolean outside, Maker maker) implements DelayModel {
    /** Makes the driver once there is somebody to tell. */
    @FunctionalInterface
    interface Maker {
        Driver make(Surroundings surroundings, Ear ear);
    }

    @Override
    public Course course(Undertaking undertaking) {
        boolean isOurs = undertaking
                .job()
                .map(TrainingJob::driver)
                .map(driver -> driver.equals(kind.name().toLowerCase(Locale.ROOT)))
                .orElse(true);
        return isOurs ? Course.DRIVEN : Course.NONE;
    }

    @Override
    public Course recut(int going, int coming, boolean switches) {
        return outside ? Course.DRIVEN : Course.NONE;
    }

    @Override
    public Course batching() {
        return outside ? Course.DRIVEN : Course.NONE;
    }
}
