package io.lendstream.actuator;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Origin;

/** A decision that was read and is not taken up yet. */
record PendingDecision(Decision decision, Origin origin) {
    String partition() {
        return origin.topic() + "-" + origin.partition();
    }
}
