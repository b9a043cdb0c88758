package io.lendstream.core.scheduler;

import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;

/** Free GPUs, each of which goes to one service at most. */
final class FreeUnits {
    private final Iterator<GpuState> next;
    private final BiPredicate<ServiceState, GpuState> mayTake;
    /** The nodes where the model of a service is, as it has a replica there. */
    private final Function<ServiceId, Set<NodeId>> cached;
    /** Units that a service could not use. */
    private final List<GpuState> passed = new ArrayList<>();

    /**
     * @param mayTake whether a service may take a unit now
     * @param cached the nodes where the model of a service is
     */
    FreeUnits(
            Iterator<GpuState> next,
            BiPredicate<ServiceState, GpuState> mayTake,
            Function<ServiceId, Set<NodeId>> cached) {
        this.next = next;
        this.mayTake = mayTake;
        this.cached = cached;
    }

    Optional<GpuState> take(ServiceState service) {
        if (!service.spec().takesKindsAsAlike() || service.spec().hardware().startsFromCache()) {
            return takePreferred(service);
        }
        for (int i = 0; i < passed.size(); i++) {
            if (mayTake.test(service, passed.get(i))) {
                return Optional.of(passed.remove(i));
            }
        }
        while (next.hasNext()) {
            GpuState unit = next.next();
            if (mayTake.test(service, unit)) {
                return Optional.of(unit);
            }
            passed.add(unit);
        }
        return Optional.empty();
    }

    /** Takes the first unit of the kind that a service prefers to the others, where it starts faster if it can. */
    private Optional<GpuState> takePreferred(ServiceState service) {
        next.forEachRemaining(passed::add);
        Set<NodeId> fast = service.spec().hardware().startsFromCache()
                ? cached.apply(service.spec().service())
                : Set.of();
        int best = -1;
        int preference = Integer.MAX_VALUE;
        for (int i = 0; i < passed.size() && preference > 0; i++) {
            GpuState unit = passed.get(i);
            OptionalInt kind = service.spec().preference(unit.kind());
            if (kind.isEmpty()) {
                continue;
            }
            int place = 2 * kind.getAsInt() + (fast.isEmpty() || fast.contains(unit.nodeId()) ? 0 : 1);
            if (place < preference && mayTake.test(service, unit)) {
                best = i;
                preference = place;
            }
        }
        return best < 0 ? Optional.empty() : Optional.of(passed.remove(best));
    }
}
