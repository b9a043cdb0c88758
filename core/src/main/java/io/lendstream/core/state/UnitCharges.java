package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What each unit counts in a ledger. A copy shares with the original what both have in common, so that it costs no time
 * for each unit.
 */
final class UnitCharges {
    private static final Charge NONE = new Charge(QueueAccounts.NONE, 0, false);

    /** Not changed any more once it is shared. */
    private Map<GpuId, Charge> common;

    private boolean isShared;
    /** The changes since it was shared, with {@link #NONE} for units that do not count any more. */
    private final Map<GpuId, Charge> changed = new HashMap<>();
    /** Whether units of {@code common} that are being released count. */
    private boolean countsLeaving = true;

    /** What a unit counts. */
    record Charge(int account, double gpus, boolean isLeaving) {
        private boolean isNone() {
            return account == QueueAccounts.NONE;
        }
    }

    /** @param size about how many units are to count */
    UnitCharges(int size) {
        this.common = new HashMap<>(2 * size);
    }

    @Nullable
    Charge get(GpuId unit) {
        if (isShared) {
            Charge own = changed.get(unit);
            if (own != null) {
                return own.isNone() ? null : own;
            }
        }
        Charge charge = common.get(unit);
        return charge != null && (countsLeaving || !charge.isLeaving()) ? charge : null;
    }

    /** Returns what the unit counted before. */
    @Nullable
    Charge put(GpuId unit, Charge charge) {
        if (!isShared) {
            return common.put(unit, charge);
        }
        Charge before = get(unit);
        changed.put(unit, charge);
        return before;
    }

    /** Returns what the unit counted before. */
    @Nullable
    Charge remove(GpuId unit) {
        if (!isShared) {
            return common.remove(unit);
        }
        Charge before = get(unit);
        if (before != null) {
            changed.put(unit, NONE);
        }
        return before;
    }

    /** A copy without the units that are being released. */
    UnitCharges withoutLeaving() {
        if (!changed.isEmpty() || !countsLeaving) {
            common = all();
            changed.clear();
            countsLeaving = true;
        }
        isShared = true;
        UnitCharges copy = new UnitCharges(0);
        copy.common = common;
        copy.isShared = true;
        copy.countsLeaving = false;
        return copy;
    }

    /** In the order of names. */
    Map<GpuId, Charge> inOrder() {
        return new TreeMap<>(all());
    }

    private Map<GpuId, Charge> all() {
        Map<GpuId, Charge> all = new HashMap<>(common);
        if (!countsLeaving) {
            all.values().removeIf(Charge::isLeaving);
        }
        all.putAll(changed);
        all.values().removeIf(Charge::isNone);
        return all;
    }
}
