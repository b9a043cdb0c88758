package io.lendstream.core.scheduler;

import io.lendstream.core.demand.ReplicaNeed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The units that a step finds for the replicas that a role lacks. */
final class RoleSupply {
    private final GroupNeed need;
    private final Fill fill;
    private final ReplicaNeed before;
    private final List<UnitSet> starts = new ArrayList<>();
    private final List<UnitSet> waits = new ArrayList<>();
    private int left;
    /** Why a quota refused the units that were found last; empty if it did not. */
    private Optional<QuotaRefusal> refusal = Optional.empty();

    private int refusedUnits;

    private RoleSupply(GroupNeed need, Fill fill, int left) {
        this.need = need;
        this.fill = fill;
        this.before = need.inCounted();
        this.left = left;
    }

    /**
     * Those of the roles that lack replicas.
     *
     * @param fill which needs are filled
     */
    static List<RoleSupply> of(List<GroupNeed> roles, Fill fill) {
        List<RoleSupply> all = new ArrayList<>();
        for (GroupNeed need : roles) {
            int missing = need.missing(fill);
            if (missing > 0) {
                all.add(new RoleSupply(need, fill, fill == Fill.FLOORS ? missing : Integer.MAX_VALUE));
            }
        }
        return all;
    }

    /** The role that lacks the largest share of its replicas, so that roles take turns; the first of several. */
    static Optional<RoleSupply> next(List<RoleSupply> all) {
        Optional<RoleSupply> next = Optional.empty();
        double most = 0;
        for (RoleSupply each : all) {
            double share = each.left > 0 && each.need.missing(each.fill) > 0 ? each.need.shareMissing() : 0;
            if (share > most) {
                next = Optional.of(each);
                most = share;
            }
        }
        return next;
    }

    GroupNeed need() {
        return need;
    }

    /** The need before any units were found. */
    ReplicaNeed before() {
        return before;
    }

    /** Sets that are free. */
    List<UnitSet> starts() {
        return starts;
    }

    /** Sets with units that are not free yet. */
    List<UnitSet> waits() {
        return waits;
    }

    /** Whether units were found for a replica. */
    boolean hasFound() {
        return !starts.isEmpty() || !waits.isEmpty();
    }

    void found(UnitSet set) {
        (set.isFree() ? starts : waits).add(set);
        need.count(set);
        left--;
    }

    /** Another search for units begins. */
    void looksAgain() {
        refusal = Optional.empty();
    }

    /** A quota refuses units that were found for a replica. */
    void refused(QuotaRefusal why, UnitSet set) {
        if (refusal.isEmpty()) {
            refusal = Optional.of(why);
            refusedUnits = set.units().size();
        }
    }

    Optional<QuotaRefusal> refusal() {
        return refusal;
    }

    /** Units of the replica that was refused. */
    int refusedUnits() {
        return refusedUnits;
    }

    /** No more units are looked for. */
    void giveUp() {
        left = 0;
    }
}
