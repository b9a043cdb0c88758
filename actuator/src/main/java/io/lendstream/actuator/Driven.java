package io.lendstream.actuator;

import io.lendstream.actuator.driver.ClusterLookup;
import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.core.actuation.ChangeDriver;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.Tenant;
import java.util.Locale;
import java.util.Optional;

/**
 * That a real driver carries decisions out: nobody knows beforehand how long it takes. Jobs for another driver are refused.
 *
 * @param outside whether somebody outside is asked, who may cut GPUs and change how services batch; processes can do neither
 */
record Driven(DriverKind kind, boolean outside, Maker maker) implements DriverChoice, ChangeDriver {
    /** Makes the driver once there is somebody to tell. */
    @FunctionalInterface
    interface Maker {
        Driver make(ClusterLookup surroundings, DriverListener driverListener);
    }

    @Override
    public ChangeDriver changeDriver() {
        return this;
    }

    @Override
    public boolean runs(Tenant tenant, Optional<TrainingJob> job) {
        return job.map(TrainingJob::driver)
                .map(driver -> driver.equals(kind.name().toLowerCase(Locale.ROOT)))
                .orElse(true);
    }

    @Override
    public boolean cuts() {
        return outside;
    }

    @Override
    public boolean batches() {
        return outside;
    }
}
