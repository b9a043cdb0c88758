package io.lendstream.core.state;

import java.util.Optional;

/**
 * What was reported about a unit so far.
 *
 * @param failedBinds how often in a row it could not be bound
 * @param warmHits how often in a row its replica was needed again while protected
 * @param lastXid the XID error last reported for it; an old one that is still reported is no news
 * @param boundBy the actuator that last reported it bound: only it can know that no tenant runs there
 */
public record UnitHistory(int failedBinds, int warmHits, Optional<Integer> lastXid, Optional<String> boundBy) {
    /** A unit about which nothing was reported. */
    static final UnitHistory NONE = new UnitHistory(0, 0, Optional.empty(), Optional.empty());

    UnitHistory withFailedBinds(int failures) {
        return new UnitHistory(failures, warmHits, lastXid, boundBy);
    }

    UnitHistory withWarmHits(int hits) {
        return new UnitHistory(failedBinds, hits, lastXid, boundBy);
    }

    UnitHistory withXid(int xid) {
        return new UnitHistory(failedBinds, warmHits, Optional.of(xid), boundBy);
    }

    /** A unit that an actuator has bound. */
    UnitHistory boundBy(String actuator) {
        return new UnitHistory(0, warmHits, lastXid, Optional.of(actuator));
    }

    /** With what belongs to the tenant of another unit. Errors stay with the unit. */
    UnitHistory takingOver(UnitHistory other) {
        return new UnitHistory(failedBinds, other.warmHits, lastXid, other.boundBy);
    }
}
