package io.lendstream.actuator;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Origin;

/** A received decision that has not been processed yet. */
record PendingDecision(Decision decision, Origin origin) {
    String partition() {
        return origin.topic() + "-" + origin.partition();
    }
}
