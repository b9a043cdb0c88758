package io.lendstream.core.scheduler;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Owner;
import java.util.Map;
import java.util.Optional;

/**
 * A report that a program could not be run, compared with what was decided up to then: it may arrive when its tenant
 * runs elsewhere, or was started again.
 *
 * @param before the state before the report
 */
record FaultReport(ClusterState before, ActuationReport report) {
    /** Whether a job was changed since, or runs on other GPUs by now. */
    boolean isOfEarlierStart(JobId name) {
        Tenant tenant = new Tenant.Job(name);
        Optional<JobState> job = before.jobs().get(name);
        if (job.isEmpty() || report.gpus().stream().anyMatch(gpu -> isAbout(gpu, tenant))) {
            return false;
        }
        Optional<DecisionId> changing = job.get().changing();
        return !changing.equals(Optional.of(report.decision()))
                && (changing.filter(this::isLater).isPresent() || job.get().gpus() > 0);
    }

    /** Whether a replica of a service was started on a node since. */
    boolean isOfEarlierStart(ServiceId name, NodeId node) {
        Tenant tenant = new Tenant.Service(name);
        return report.gpus().stream().noneMatch(gpu -> isAbout(gpu, tenant))
                && before.clusterIndex().gpus().replicasOf(name).stream()
                        .map(Map.Entry::getValue)
                        .anyMatch(unit -> unit.nodeId().equals(node) && isStartedSince(unit));
    }

    private boolean isStartedSince(GpuState unit) {
        Optional<Owner.Binding> binding = unit.owner().asBinding();
        return binding.isPresent()
                ? isLater(binding.get().decision())
                : unit.since().isAfter(report.at());
    }

    /** Whether a GPU has the very start of a tenant that the report is about. */
    private boolean isAbout(GpuId id, Tenant tenant) {
        Optional<GpuState> gpu = before.gpus().get(id);
        if (gpu.isEmpty() || !gpu.get().owner().holder().equals(Optional.of(tenant))) {
            return false;
        }
        Owner owner = gpu.get().owner();
        Optional<DecisionId> open = owner.asBinding()
                .map(Owner.Binding::decision)
                .or(() -> owner.asReleasing().map(Owner.Releasing::decision));
        return open.isPresent()
                ? !isLater(open.get())
                : report.at().isAfter(gpu.get().since());
    }

    private boolean isLater(DecisionId decision) {
        return decision.compareTo(report.decision()) > 0;
    }
}
