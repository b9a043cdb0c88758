package io.lendstream.launcher.operation;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
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
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Queues of each domain from records, and the GPUs that their jobs and services use by the leases. */
final class SeenQueues {
    private final SortedMap<DomainId, SortedMap<QueueId, ClusterQueue>> domains = new TreeMap<>();
    private final Map<GpuId, Double> shares = new HashMap<>();

    void tell(Event event) {
        event.asQueue()
                .filter(queue -> !queue.removed())
                .ifPresent(queue -> domains.computeIfAbsent(queue.domain(), any -> new TreeMap<>())
                        .put(queue.queue(), queue));
        event.asQueue().filter(ClusterQueue::removed).ifPresent(queue -> forget(queue.queue()));
        event.asNode().ifPresent(this::take);
    }

    /** A queue is not declared any more. */
    void forget(QueueId queue) {
        domains.values().forEach(theirs -> theirs.remove(queue));
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

    List<ClusterQueue> queues() {
        return domains.values().stream()
                .flatMap(theirs -> theirs.values().stream())
                .toList();
    }

    /** The use of all quotas, by domain. A tenant counts in the queue of that name in its own domain. */
    Map<DomainId, QueueLedger> ledgers(Collection<Lease> leases, SeenWorkload workload) {
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
        Map<DomainId, QueueLedger> ledgers = new HashMap<>();
        domains.forEach((domain, theirs) -> ledgers.put(domain, new QueueLedger(theirs.values())));
        for (Lease lease : leases) {
            Optional<QueueLedger> ledger = Optional.ofNullable(ledgers.get(lease.domain()));
            Optional<QueueId> queue =
                    lease.owner().holder().flatMap(tenant -> Optional.ofNullable(tenants.get(tenant)));
            if (ledger.isPresent() && queue.isPresent()) {
                ledger.get()
                        .add(
                                lease.gpuId(),
                                queue.get(),
                                lease.kind(),
                                shares.getOrDefault(lease.gpuId(), 1.0),
                                lease.owner().isReleasing());
            }
        }
        return ledgers;
    }

    /** A line for each queue. */
    List<String> lines(Map<DomainId, QueueLedger> ledgers) {
        return queues().stream()
                .map(queue -> line(queue, Objects.requireNonNull(ledgers.get(queue.domain()))))
                .toList();
    }

    private String line(ClusterQueue queue, QueueLedger ledger) {
        String uses = ledger.uses(queue.queue()).stream().map(QuotaUse::inWords).collect(Collectors.joining("; "));
        String name = domains.size() > 1
                ? "%s (%s)".formatted(queue.queue(), queue.domain())
                : queue.queue().value();
        double borrowed = ledger.uses(queue.queue()).stream()
                .mapToDouble(QuotaUse::borrowed)
                .sum();
        return "%-20s uses %s%s%s"
                .formatted(
                        name,
                        uses.isEmpty() ? "nothing: it has no quota" : uses,
                        borrowed > 0 ? "; borrows " + QuotaUse.text(borrowed) : "",
                        queue.cohort()
                                .map(cohort -> "; weighted share %.2f of cohort %s"
                                        .formatted(ledger.weightedShare(queue.queue()), cohort))
                                .orElse(""));
    }

    /** Alarms about jobs and services whose queue is not declared in their domain, so that no quota limits them. */
    List<String> alarms(SeenWorkload workload) {
        List<String> alarms = new ArrayList<>();
        for (ServiceState service : workload.services()) {
            undeclared(service.spec().queue(), service.spec().domain())
                    .ifPresent(why ->
                            alarms.add("service %s %s".formatted(service.spec().service(), why)));
        }
        for (JobState job : workload.jobs()) {
            undeclared(job.spec().queue(), job.spec().domain())
                    .filter(any -> !job.isOver())
                    .ifPresent(
                            why -> alarms.add("job %s %s".formatted(job.spec().job(), why)));
        }
        return alarms;
    }

    /** The problem with the queue that a tenant names; none if it names none, or one that is declared. */
    private Optional<String> undeclared(Optional<QueueId> named, DomainId domain) {
        return named.filter(queue -> !isDeclared(queue, domain)).map(queue -> {
            Optional<DomainId> other = domains.keySet().stream()
                    .filter(each -> isDeclared(queue, each))
                    .findFirst();
            return other.map(where -> "names queue %s of domain %s, but is in domain %s: it has no quota"
                            .formatted(queue, where, domain))
                    .orElseGet(() -> "names queue %s, which is not declared: it has no quota".formatted(queue));
        });
    }

    private boolean isDeclared(QueueId queue, DomainId domain) {
        return Optional.ofNullable(domains.get(domain))
                .filter(theirs -> theirs.containsKey(queue))
                .isPresent();
    }
}
