package io.lendstream.core.scheduler;

import io.lendstream.core.id.JobId;
import io.lendstream.core.state.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A unit while queues are planned one after the other. */
final class PoolUnit {
    /** No queue. */
    static final int NONE = -1;

    final GpuState state;
    final int number;
    boolean isHeld;
    int queue = NONE;
    /** The job that keeps it, until its plan is made. */
    Optional<JobId> keeper = Optional.empty();
    /** Whether it is in a target of the plans so far. */
    boolean isTaken;
    /** Its neighbours in the rest. */
    private @Nullable PoolUnit before;

    private @Nullable PoolUnit after;

    PoolUnit(GpuState state, int number) {
        this.state = state;
        this.number = number;
    }

    /** Free units come first, then those that are about to be free, then those of jobs. */
    int turn() {
        if (isHeld) {
            return 2;
        }
        return state.isFree() ? 0 : 1;
    }

    /** A chain of units, in the order in which queues get them. */
    static final class Chain {
        private @Nullable PoolUnit first;
        private @Nullable PoolUnit last;
        private int size;

        int size() {
            return size;
        }

        void add(PoolUnit unit) {
            unit.before = last;
            unit.after = null;
            if (last == null) {
                first = unit;
            } else {
                last.after = unit;
            }
            last = unit;
            size++;
        }

        void remove(PoolUnit unit) {
            PoolUnit before = unit.before;
            PoolUnit after = unit.after;
            if (before == null) {
                first = after;
            } else {
                before.after = after;
            }
            if (after == null) {
                last = before;
            } else {
                after.before = before;
            }
            size--;
        }

        /** The first units, so many at most. */
        List<PoolUnit> first(int most) {
            List<PoolUnit> units = new ArrayList<>();
            for (PoolUnit unit = first; unit != null && units.size() < most; unit = unit.after) {
                units.add(unit);
            }
            return units;
        }
    }
}
