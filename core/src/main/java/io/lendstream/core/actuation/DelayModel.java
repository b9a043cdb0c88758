package io.lendstream.core.actuation;

import io.lendstream.core.repartition.RepartitionTimes;
import java.time.Duration;

/** How long carrying out decisions takes, and what goes wrong. Equal undertakings take equal courses. */
@FunctionalInterface
public interface DelayModel {
    ChangeTiming changeTiming(ChangeFacts facts);

    /**
     * How cutting a GPU anew goes, if so many of its instances go and so many come, one after the other.
     *
     * @param switches whether it enters or leaves MIG mode
     */
    default ChangeTiming recut(int going, int coming, boolean switches) {
        RepartitionTimes usual = RepartitionTimes.DEFAULT;
        Duration cuts = usual.destroy().multipliedBy(going).plus(usual.create().multipliedBy(coming));
        Duration all = switches ? cuts.plus(usual.switchMode()) : cuts;
        return new ChangeTiming(Duration.ZERO, Duration.ZERO, all, ChangeTiming.FailureMode.NONE);
    }

    /** How a service's batching is changed. */
    default ChangeTiming batching() {
        return ChangeTiming.AT_ONCE;
    }
}
