package io.lendstream.core.scheduler;

import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;

/** Free GPUs, each of which goes to one service at most. */
final class FreeUnits {
    private final Iterator<GpuState> next;
    private final BiPredicate<ServiceState, GpuState> mayTake;
    /** Units that a service could not use. */
    private final List<GpuState> passed = new ArrayList<>();

    /** @param mayTake whether a service may take a unit now */
    FreeUnits(Iterator<GpuState> next, BiPredicate<ServiceState, GpuState> mayTake) {
        this.next = next;
        this.mayTake = mayTake;
    }

    Optional<GpuState> take(ServiceState service) {
        if (!service.spec().takesKindsAsAlike()) {
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

    /** Takes the first unit of the kind that a service prefers to the others. */
    private Optional<GpuState> takePreferred(ServiceState service) {
        next.forEachRemaining(passed::add);
        int best = -1;
        int preference = Integer.MAX_VALUE;
        for (int i = 0; i < passed.size() && preference > 0; i++) {
            int place = service.spec().preference(passed.get(i).kind()).orElse(Integer.MAX_VALUE);
            if (place < preference && mayTake.test(service, passed.get(i))) {
                best = i;
                preference = place;
            }
        }
        return best < 0 ? Optional.empty() : Optional.of(passed.remove(best));
    }
}
