package io.lendstream.launcher.operation;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.QuotaUse;
import io.lendstream.core.state.ServiceState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Queues from records, and the GPUs that their jobs and services use by the leases. */
final class SeenQueues {
    private final SortedMap<QueueId, ClusterQueue> queues = new TreeMap<>();
    private final Map<GpuId, Double> shares = new HashMap<>();

    void tell(Event event) {
        event.asQueue().ifPresent(queue -> queues.put(queue.queue(), queue));
        event.asNode().ifPresent(this::take);
    }

    private void take(Node node) {
        for (Gpu gpu : node.gpus()) {
            for (GpuInstance instance : gpu.instances()) {
                shares.put(
                        instance.gpuId(),
                        gpu.computeShare(instance.profile())
                                .orElseGet(() -> MigInstance.of(gpu, instance).share()));
            }
        }
    }

    Collection<ClusterQueue> queues() {
        return queues.values();
    }

    /** The use of all quotas. */
    QueueLedger ledger(Collection<Lease> leases, SeenWorkload workload) {
        Map<Tenant, QueueId> tenants = new HashMap<>();
        for (ServiceState service : workload.services()) {
            service.spec()
                    .queue()
                    .ifPresent(queue ->
                            tenants.put(new Tenant.Service(service.spec().service()), queue));
        }
        for (JobState job : workload.jobs()) {
            job.spec()
                    .queue()
                    .ifPresent(queue -> tenants.put(new Tenant.Job(job.spec().job()), queue));
        }
        QueueLedger ledger = new QueueLedger(queues.values());
        for (Lease lease : leases) {
            Optional<QueueId> queue =
                    lease.owner().holder().flatMap(tenant -> Optional.ofNullable(tenants.get(tenant)));
            queue.ifPresent(of -> ledger.add(
                    lease.gpuId(),
                    of,
                    lease.kind(),
                    shares.getOrDefault(lease.gpuId(), 1.0),
                    lease.owner().isReleasing()));
        }
        return ledger;
    }

    /** A line for each queue. */
    List<String> lines(QueueLedger ledger) {
        return queues.values().stream().map(queue -> line(queue, ledger)).toList();
    }

    private static String line(ClusterQueue queue, QueueLedger ledger) {
        String uses = ledger.uses(queue.queue()).stream().map(QuotaUse::inWords).collect(Collectors.joining("; "));
        return "%-20s uses %s%s"
                .formatted(
                        queue.queue(),
                        uses.isEmpty() ? "nothing: it has no quota" : uses,
                        queue.cohort()
                                .map(cohort -> "; weighted share %.2f of cohort %s"
                                        .formatted(ledger.weightedShare(queue.queue()), cohort))
                                .orElse(""));
    }

    /** Alarms about jobs and services whose queue is not declared, so that no quota limits them. */
    List<String> alarms(SeenWorkload workload) {
        List<String> alarms = new ArrayList<>();
        for (ServiceState service : workload.services()) {
            undeclared(service.spec().queue())
                    .ifPresent(queue -> alarms.add("service %s names queue %s, which is not declared: it has no quota"
                            .formatted(service.spec().service(), queue)));
        }
        for (JobState job : workload.jobs()) {
            undeclared(job.spec().queue())
                    .filter(any -> !job.isOver())
                    .ifPresent(queue -> alarms.add("job %s names queue %s, which is not declared: it has no quota"
                            .formatted(job.spec().job(), queue)));
        }
        return alarms;
    }

    private Optional<QueueId> undeclared(Optional<QueueId> named) {
        return named.filter(queue -> !queues.containsKey(queue));
    }
}
