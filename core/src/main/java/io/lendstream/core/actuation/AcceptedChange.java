package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Adopted;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A change of a tenant, with the facts of its decision.
 *
 * @param by when the tenant has to be gone from the GPUs that it leaves
 * @param allocation what a job runs with afterwards; empty for a service
 * @param remark the text of reports on the change; usually empty
 */
record AcceptedChange(
        Decision decision, TenantChange change, Instant by, Optional<Allocation> allocation, String remark) {
    Tenant tenant() {
        return change.tenant();
    }

    boolean isOfJob() {
        return allocation.isPresent();
    }

    /** The replicas of several units that the decision starts or takes over. */
    List<ReplicaUnits> started() {
        return decision.action()
                .asServe()
                .filter(serve -> !serve.warm())
                .map(Action.Serve::replicas)
                .or(() -> decision.action().asAdopt().map(Action.Adopt::replicas))
                .orElse(List.of());
    }

    /** What the decision takes over on GPUs of this actuator. */
    List<Adopted> adopted() {
        return decision.action().asAdopt().map(Action.Adopt::found).orElse(List.of()).stream()
                .filter(each -> change.gained().containsAll(each.units()))
                .toList();
    }

    /** The GPUs that the decision is about: those that change hands, or those where a warm replica serves again. */
    List<GpuId> about() {
        boolean warm = decision.action() instanceof Action.Serve serve && serve.warm();
        return warm
                ? decision.action().gpus().stream()
                        .filter(change.kept()::contains)
                        .toList()
                : List.copyOf(change.changing());
    }

    /**
     * The GPUs that a report of the change in force names: all that a job has then, or those that a service's change
     * is about.
     */
    List<GpuId> applied() {
        if (!isOfJob()) {
            return about();
        }
        SortedSet<GpuId> after = new TreeSet<>(change.kept());
        after.addAll(change.gained());
        return List.copyOf(after);
    }
}
