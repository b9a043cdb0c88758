package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The kinds of GPU on which jobs compute, by the products in the inventory. */
final class JobKinds {
    private final ClusterLookup surroundings;
    private final Map<JobId, DecisionId> inForce = new ConcurrentHashMap<>();

    JobKinds(ClusterLookup surroundings) {
        this.surroundings = surroundings;
    }

    /** A job computes as a decision says: it has left the other units. */
    void inForce(JobId job, DecisionId change) {
        inForce.put(job, change);
    }

    void over(JobId job) {
        inForce.remove(job);
    }

    /**
     * The kind that a job computes on. It is empty if there may be several, as during a change of the kind, or if a
     * unit is a MIG instance or not in the inventory.
     *
     * @param last the last order about the job
     */
    Optional<KindId> of(JobId job, Order.Place last) {
        List<GpuId> units = new ArrayList<>(last.units());
        boolean isSettled = Optional.ofNullable(inForce.get(job))
                .filter(last.decision()::equals)
                .isPresent();
        if (!isSettled) {
            units.addAll(last.leaving());
        }
        Optional<KindId> kind = Optional.empty();
        for (GpuId unit : units) {
            Optional<KindId> next = surroundings.device(unit).flatMap(Device::kind);
            if (next.isEmpty() || (kind.isPresent() && !kind.equals(next))) {
                return Optional.empty();
            }
            kind = next;
        }
        return kind;
    }
}
