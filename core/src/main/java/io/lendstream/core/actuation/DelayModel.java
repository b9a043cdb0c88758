package io.lendstream.core.actuation;

import io.lendstream.core.repartition.RepartitionTimes;
import java.time.Duration;

/** How long carrying out decisions takes, and what goes wrong. Equal undertakings take equal courses. */
@FunctionalInterface
public interface DelayModel {
    Course course(Undertaking undertaking);

    /**
     * How long it takes to cut a GPU anew, if so many of its instances go and so many come, one after the other.
     *
     * @param switches whether it enters or leaves MIG mode
     */
    default Duration recut(int going, int coming, boolean switches) {
        RepartitionTimes usual = RepartitionTimes.DEFAULT;
        Duration cuts = usual.destroy().multipliedBy(going).plus(usual.create().multipliedBy(coming));
        return switches ? cuts.plus(usual.switchMode()) : cuts;
    }
}
