package io.lendstream.core.actuation;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import java.util.Optional;

/** Whether a GPU can be given to a tenant, and if not, why. */
final class UnitAvailability {
    private final ActuationState state;

    UnitAvailability(ActuationState state) {
        this.state = state;
    }

    /** Why decisions of a domain cannot use a GPU now; empty if it is free. */
    Optional<Refusal> whyNotFree(DomainId domain, GpuId gpu) {
        if (!state.inventory().isKnown(gpu)) {
            return Optional.of(Refusal.GPU_UNKNOWN);
        }
        if (state.inventory().isElsewhere(domain, gpu)) {
            return Optional.of(Refusal.OTHER_DOMAIN);
        }
        return state.holding(gpu).isPresent() || state.steps().isRecut(gpu)
                ? Optional.of(Refusal.GPU_HELD)
                : Optional.empty();
    }

    /** The state of a GPU, for a report. */
    String describe(GpuId gpu) {
        return state.holding(gpu).map(UnitAvailability::describe).orElseGet(() -> {
            if (state.steps().isRecut(gpu)) {
                return "it is being cut";
            }
            return state.inventory().isKnown(gpu) ? "it has no tenant" : "no known node has it";
        });
    }

    private static String describe(Holding holding) {
        return switch (holding.phase()) {
            case BINDING -> "it is being bound to " + holding.tenant();
            case BOUND -> holding.tenant() + " has it, and its release has not been asked for";
            case RELEASING -> holding.tenant() + " is still leaving it";
        };
    }
}
