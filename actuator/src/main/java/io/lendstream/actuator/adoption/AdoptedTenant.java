package io.lendstream.actuator.adoption;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.ProcessName;
import java.util.Collection;
import java.util.List;

/**
 * A job, or a replica of a service, whose process something else has started.
 *
 * @param process the root of its processes
 * @param units the units that it uses, sorted
 * @param decision the decision by which it was taken over
 */
public record AdoptedTenant(Tenant tenant, ProcessName process, List<GpuId> units, DecisionId decision) {
    public AdoptedTenant {
        units = GpuId.sorted(units);
    }

    /** Whether a kill undoes the adoption: it follows the same decision, or one before the order that took it over. */
    public boolean isUndoneBy(DecisionId kill) {
        return kill.domain().equals(decision.domain()) && kill.compareTo(decision) <= 0;
    }

    /** Whether it uses one of these units. */
    public boolean isOnAnyOf(Collection<GpuId> some) {
        return units.stream().anyMatch(some::contains);
    }
}
