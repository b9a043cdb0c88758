package io.lendstream.simulator.replay;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.NodeState;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The GPUs that a topology domain can give to a job that requires one: free ones that no other job waits for, and those
 * of jobs whose queue has more than its nominal quota. Of several ways to take these it counts one, so a domain may
 * have more, but never less.
 */
final class DomainRoom {
    private final ClusterState state;
    private final QueueLedger kept;
    private final TopologyLabels labels;
    private final Set<GpuId> promised = new HashSet<>();

    /** What a domain has: free GPUs, and those that each job has there. */
    private static final class Domain {
        private final Map<JobId, Integer> held = new TreeMap<>();
        private int free;
    }

    DomainRoom(ClusterState state, QueueLedger kept, TopologyLabels labels) {
        this.state = state;
        this.kept = kept;
        this.labels = labels;
        state.entities().waitingJobs().forEach(job -> promised.addAll(job.target()));
    }

    /** Whether a domain that a job requires has so many GPUs for it; true if it requires none. */
    boolean has(JobState job, int gpus) {
        Optional<ClusterQueue> queue =
                state.entities().queueOf(new Tenant.Job(job.spec().job()));
        return job.spec().shape().required().isEmpty()
                || queue.isEmpty()
                || domains(job.spec().shape().required().get().level()).values().stream()
                        .anyMatch(domain -> domain.free + given(domain, job, queue.get()) >= gpus);
    }

    private Map<String, Domain> domains(TopologyLevel level) {
        Map<String, Domain> domains = new TreeMap<>();
        for (GpuState unit : state.gpus().values()) {
            Optional<NodeState> node = state.nodes().get(unit.nodeId()).filter(NodeState::isReady);
            if (node.isEmpty() || !unit.isWhole()) {
                continue;
            }
            Domain domain = domains.computeIfAbsent(labels.domain(node.get().node(), level), any -> new Domain());
            if (unit.isFree()) {
                domain.free += promised.contains(unit.gpuId()) ? 0 : 1;
            } else {
                unit.owner().holder().flatMap(Tenant::jobId).ifPresent(job -> domain.held.merge(job, 1, Integer::sum));
            }
        }
        return domains;
    }

    /** The GPUs that jobs of other queues give in a domain, as far as their queues have more than their quota. */
    private int given(Domain domain, JobState waiting, ClusterQueue queue) {
        Map<QueueId, Double> excess = new HashMap<>();
        int given = 0;
        for (Map.Entry<JobId, Integer> held : domain.held.entrySet()) {
            Optional<JobState> job = state.jobs().get(held.getKey()).filter(any -> !any.isOnSlice());
            Optional<ClusterQueue> theirs = state.entities().queueOf(new Tenant.Job(held.getKey()));
            if (job.isEmpty() || theirs.isEmpty() || !mayGive(job.get(), theirs.get(), waiting, queue)) {
                continue;
            }
            QueueId name = theirs.get().queue();
            double left = excess.computeIfAbsent(name, this::excess);
            int gives = Math.min(held.getValue(), job.get().gpus());
            if (isElastic(job.get())) {
                gives = (int) Math.min(gives, left);
            }
            if (left > 0) {
                given += gives;
                excess.put(
                        name, left - (isElastic(job.get()) ? gives : job.get().gpus()));
            }
        }
        return given;
    }

    private boolean mayGive(JobState job, ClusterQueue theirs, JobState waiting, ClusterQueue queue) {
        return queue.cohort().isPresent()
                && queue.cohort().equals(theirs.cohort())
                && !queue.queue().equals(theirs.queue())
                && queue.inCohort()
                        .takes(
                                state.entities().priorityOf(job),
                                state.entities().priorityOf(waiting));
    }

    private static boolean isElastic(JobState job) {
        return job.spec().scaling().elastic()
                && job.spec().shape().isAny()
                && !job.spec().shape().gang();
    }

    private double excess(QueueId queue) {
        return kept.uses(queue).stream().mapToDouble(QuotaUse::excess).sum();
    }
}
