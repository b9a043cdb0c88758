package io.lendstream.actuator;

import io.lendstream.actuator.driver.ClusterLookup;
import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.core.actuation.ChangeFacts;
import io.lendstream.core.actuation.ChangeTiming;
import io.lendstream.core.actuation.DelayModel;
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
        Driver make(ClusterLookup surroundings, DriverListener driverListener);
    }

    @Override
    public ChangeTiming changeTiming(ChangeFacts facts) {
        boolean isOurs = facts.job()
                .map(TrainingJob::driver)
                .map(driver -> driver.equals(kind.name().toLowerCase(Locale.ROOT)))
                .orElse(true);
        return isOurs ? ChangeTiming.DRIVEN : ChangeTiming.NONE;
    }

    @Override
    public ChangeTiming recut(int going, int coming, boolean switches) {
        return outside ? ChangeTiming.DRIVEN : ChangeTiming.NONE;
    }

    @Override
    public ChangeTiming batching() {
        return outside ? ChangeTiming.DRIVEN : ChangeTiming.NONE;
    }
}
