package io.lendstream.core.actuation;

import io.lendstream.core.repartition.RepartitionTimes;
import java.time.Duration;

/** How long carrying out decisions takes, and what goes wrong. Equal undertakings take equal courses. */
@FunctionalInterface
public interface DelayModel {
    Course course(Undertaking undertaking);

    /** How long it takes to cut a GPU anew, if so many of its instances go and so many come, one after the other. */
    default Duration recut(int going, int coming) {
        RepartitionTimes usual = RepartitionTimes.DEFAULT;
        return usual.destroy().multipliedBy(going).plus(usual.create().multipliedBy(coming));
    }
}
