package io.lendstream.core.actuation;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.Tenant;
import java.util.Optional;

/** The abilities of the driver that carries out accepted decisions. */
public interface ChangeDriver {
    /**
     * Whether it starts and stops a tenant. A decision about any other tenant is refused.
     *
     * @param job the submission if the tenant is a job that is known
     */
    boolean runs(Tenant tenant, Optional<TrainingJob> job);

    /** What it can do, as the scheduler is to plan. */
    Abilities abilities();

    /** Whether it changes the MIG instances of GPUs. */
    default boolean cuts() {
        return abilities().mig();
    }

    /** Whether it changes how services batch. */
    boolean batches();

    /** This driver if it works in the time of the actuation; empty if its events come from outside. */
    default Optional<InStepDriver> inStep() {
        return Optional.empty();
    }
}
