package io.lendstream.core.scheduler;

import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;

/**
 * The claim of a declared job or service to something that runs already.
 *
 * @param found what it claims
 * @param tenant who claims it; empty if several do
 * @param units the units that it uses, as its agent reports
 * @param shape the shape of a replica of several units
 * @param obstacle why it is not taken over, for operators; empty if it is
 */
public record AdoptionClaim(
        FoundTenant found,
        Optional<Tenant> tenant,
        List<GpuId> units,
        Optional<ReplicaShape> shape,
        Optional<String> obstacle) {
    public AdoptionClaim {
        units = GpuId.sorted(units);
    }

    /** Whether it is taken over. */
    public boolean isClear() {
        return obstacle.isEmpty();
    }

    AdoptionClaim hindered(String why) {
        return new AdoptionClaim(found, tenant, units, shape, Optional.of(why));
    }

    /** For example {@code process/4711-99 on node-1 (python3 train.py)}. */
    public String inWords() {
        String what = found.user() + " on " + found.node();
        return found.shown().isEmpty() ? what : what + " (" + found.shown() + ")";
    }
}
