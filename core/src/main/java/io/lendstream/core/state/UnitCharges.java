package io.lendstream.core.state;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.persistent.PersistentMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What each unit counts in a ledger. A copy shares with the original what both have in common, so that it costs no time
 * for each unit.
 */
final class UnitCharges {
    private static final Charge NONE = new Charge(QueueAccounts.NONE, 0, false);

    /** So many changes since it was shared are put together with what is common: look-ups among them take longer. */
    private static final int MOST_CHANGED = 2_000;

    /** Not changed any more once it is shared. */
    private Map<GpuId, Charge> common;

    private boolean isShared;
    /** The changes since it was shared, with {@link #NONE} for units that do not count any more. */
    private PersistentMap<GpuId, Charge> changed = PersistentMap.empty();
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
        Optional<Charge> own = changed.isEmpty() ? Optional.empty() : changed.get(unit);
        if (own.isPresent()) {
            return own.get().isNone() ? null : own.get();
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
        changed = changed.put(unit, charge);
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
            changed = changed.put(unit, NONE);
        }
        return before;
    }

    /** A copy that changes apart from this one. */
    UnitCharges copy() {
        if (changed.size() > MOST_CHANGED) {
            putTogether();
        }
        isShared = true;
        UnitCharges copy = new UnitCharges(0);
        copy.common = common;
        copy.isShared = true;
        copy.changed = changed;
        copy.countsLeaving = countsLeaving;
        return copy;
    }

    /** A copy without the units that are being released. */
    UnitCharges withoutLeaving() {
        if (!changed.isEmpty() || !countsLeaving) {
            putTogether();
        }
        UnitCharges copy = copy();
        copy.countsLeaving = false;
        return copy;
    }

    private void putTogether() {
        common = all();
        changed = PersistentMap.empty();
        countsLeaving = true;
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
        for (Map.Entry<GpuId, Charge> change : changed) {
            all.put(change.getKey(), change.getValue());
        }
        all.values().removeIf(Charge::isNone);
        return all;
    }
}
