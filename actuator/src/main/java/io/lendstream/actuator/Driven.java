package io.lendstream.actuator;

import io.lendstream.actuator.driver.ClusterLookup;
import io.lendstream.actuator.driver.Driver;
import io.lendstream.actuator.driver.DriverListener;
import io.lendstream.core.actuation.ChangeDriver;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.SubmittedProgram;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.Tenant;
import java.util.Locale;
import java.util.Optional;

/**
 * Actuation by a real driver, whose delays are not known in advance. Jobs for another driver are refused.
 *
 * @param outside whether orders go to an external system, which can change batching; processes cannot
 * @param abilities what the driver can do, as the scheduler is to plan
 */
record Driven(DriverKind kind, boolean outside, Abilities abilities, Maker maker)
        implements DriverChoice, ChangeDriver {
    /** Creates the driver, when its listener exists. */
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
        return job.map(any -> any.driver().equals(driverOf(any))).orElse(true);
    }

    /** The driver that a job must name to run here. */
    private String driverOf(TrainingJob job) {
        return kind == DriverKind.PROCESS && job.program().isPresent()
                ? SubmittedProgram.DRIVER
                : kind.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean batches() {
        return outside;
    }
}
