package io.lendstream.core.simulated;

import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** The units that a simulated tenant has: where it runs, starts, or is being stopped. */
final class SimulatedTenant {
    private final TreeSet<GpuId> units = new TreeSet<>();
    private final TreeSet<GpuId> leaving = new TreeSet<>();
    private Optional<DecisionId> last = Optional.empty();

    /**
     * What an order changes.
     *
     * @param leaving units that the tenant has and is to leave, and is not leaving yet
     * @param gained units that it is to get
     * @param before how many units it had that it was not leaving
     * @param isRepeated whether it only takes units out of an order under the same decision
     */
    record Move(List<GpuId> leaving, List<GpuId> gained, int before, boolean isRepeated) {
        Move {
            leaving = List.copyOf(leaving);
            gained = List.copyOf(gained);
        }
    }

    /** Follows an order. */
    Move move(Order.Place place) {
        Set<GpuId> wanted = Set.copyOf(place.units());
        List<GpuId> stopped = new ArrayList<>();
        int before = 0;
        for (GpuId unit : units) {
            if (!leaving.contains(unit)) {
                before++;
                if (!wanted.contains(unit)) {
                    stopped.add(unit);
                }
            }
        }
        List<GpuId> gained = new ArrayList<>();
        for (GpuId unit : place.units()) {
            if (!units.contains(unit) || leaving.contains(unit)) {
                gained.add(unit);
            }
        }
        leaving.addAll(stopped);
        units.addAll(gained);
        boolean isLeaseEnd =
                place.tenant().jobId().isPresent() && place.allocation().isEmpty();
        boolean isRepeated = isLeaseEnd || (last.isPresent() && last.get().equals(place.decision()));
        last = Optional.of(place.decision());
        return new Move(stopped, gained, before, isRepeated);
    }

    /** Its units have other names from now on. */
    void rename(UnaryOperator<GpuId> names) {
        List<GpuId> renamed = units.stream().map(names).toList();
        List<GpuId> stillLeaving = leaving.stream().map(names).toList();
        units.clear();
        units.addAll(renamed);
        leaving.clear();
        leaving.addAll(stillLeaving);
    }

    /** It is gone from these units; whether it had any of them. */
    boolean stopped(Collection<GpuId> gone) {
        leaving.removeAll(Set.copyOf(gone));
        return units.removeAll(Set.copyOf(gone));
    }

    /** Whether it has no units any more. */
    boolean isGone() {
        return units.isEmpty();
    }

    /** It had a unit before a restart. */
    void restore(GpuId unit, boolean isLeaving) {
        units.add(unit);
        if (isLeaving) {
            leaving.add(unit);
        }
    }

    /** The last order about it was given under this decision. */
    void restore(DecisionId decision) {
        last = Optional.of(decision);
    }
}
