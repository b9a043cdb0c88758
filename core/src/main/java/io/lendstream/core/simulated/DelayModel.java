package io.lendstream.core.simulated;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.repartition.RepartitionTimes;
import java.time.Duration;

/** The simulated times and failures of changes. Equal facts give equal timings. */
@FunctionalInterface
public interface DelayModel {
    /** How a change of a tenant goes. */
    ChangeTiming changeTiming(ChangeFacts facts);

    /**
     * How changing the MIG instances of a GPU goes. Instances are destroyed and created one after the other.
     *
     * @param going how many instances are destroyed
     * @param coming how many instances are created
     * @param switches whether the GPU enters or leaves MIG mode
     */
    default ChangeTiming recut(int going, int coming, boolean switches) {
        RepartitionTimes usual = RepartitionTimes.DEFAULT;
        Duration cuts = usual.destroy().multipliedBy(going).plus(usual.create().multipliedBy(coming));
        Duration all = switches ? cuts.plus(usual.switchMode()) : cuts;
        return new ChangeTiming(Duration.ZERO, Duration.ZERO, all, ChangeTiming.FailureMode.NONE);
    }

    /** Whether the steps of a decision about a tenant are never reported. */
    default boolean isSilent(DecisionId decision, Tenant tenant) {
        return false;
    }
}
