package io.lendstream.core.state;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.ServiceId;
import java.util.Optional;

/**
 * What was reported about a unit so far.
 *
 * @param failedBinds how often in a row it could not be bound
 * @param warmHits how often in a row its replica was needed again while protected
 * @param lastXid the XID error last reported for it; an old one that is still reported is no news
 * @param boundBy the actuator that last reported it bound: only it can know that no tenant runs there
 * @param slotStart the decision by which a tenant was last reported to have started under the name of this unit, where
 *     the driver does not choose units; a report that comes twice must not count for another unit
 * @param slotEnd the decision by which a tenant was last reported to have left under that name
 * @param lastService the service whose replica last left it
 * @param empty what an actuator last reported about it while it was out of service; empty unless no tenant was there
 * @param seen under which names samples showed its last tenant
 */
public record UnitHistory(
        int failedBinds,
        int warmHits,
        Optional<Integer> lastXid,
        Optional<String> boundBy,
        Optional<DecisionId> slotStart,
        Optional<DecisionId> slotEnd,
        Optional<ServiceId> lastService,
        Optional<EmptyReports> empty,
        Optional<SeenUsers> seen) {
    /** A unit about which nothing was reported. */
    static final UnitHistory NONE = new UnitHistory(
            0,
            0,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    UnitHistory withFailedBinds(int failures) {
        return new UnitHistory(failures, warmHits, lastXid, boundBy, slotStart, slotEnd, lastService, empty, seen);
    }

    UnitHistory withWarmHits(int hits) {
        return new UnitHistory(failedBinds, hits, lastXid, boundBy, slotStart, slotEnd, lastService, empty, seen);
    }

    UnitHistory with(Optional<EmptyReports> next) {
        return new UnitHistory(failedBinds, warmHits, lastXid, boundBy, slotStart, slotEnd, lastService, next, seen);
    }

    UnitHistory seen(Optional<SeenUsers> users) {
        return new UnitHistory(failedBinds, warmHits, lastXid, boundBy, slotStart, slotEnd, lastService, empty, users);
    }

    UnitHistory withXid(Optional<Integer> xid) {
        return new UnitHistory(failedBinds, warmHits, xid, boundBy, slotStart, slotEnd, lastService, empty, seen);
    }

    /** A unit that an actuator has bound. */
    UnitHistory boundBy(String actuator) {
        return new UnitHistory(
                0, warmHits, lastXid, Optional.of(actuator), slotStart, slotEnd, lastService, empty, seen);
    }

    /** With what belongs to the tenant of another unit. Errors, and reports under its name, stay. */
    UnitHistory takingOver(UnitHistory other) {
        return new UnitHistory(
                failedBinds, other.warmHits, lastXid, other.boundBy, slotStart, slotEnd, lastService, empty, seen);
    }

    /** After a report of the start or of the end of a tenant under the name of this unit. */
    UnitHistory toldSlot(DecisionId decision, boolean isEnd) {
        Optional<DecisionId> told = Optional.of(decision);
        return new UnitHistory(
                failedBinds,
                warmHits,
                lastXid,
                boundBy,
                isEnd ? slotStart : told,
                isEnd ? told : slotEnd,
                lastService,
                empty,
                seen);
    }

    /** After a replica of a service has left it. */
    UnitHistory leftBy(ServiceId service) {
        return new UnitHistory(
                failedBinds, warmHits, lastXid, boundBy, slotStart, slotEnd, Optional.of(service), empty, seen);
    }
}
