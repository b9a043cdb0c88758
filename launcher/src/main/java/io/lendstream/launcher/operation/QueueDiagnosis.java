package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** A finding about queues: the tenants without a quota, and the quotas that no GPU counts in. */
final class QueueDiagnosis {
    private static final int NAMED = 5;

    private final SortedMap<DomainId, SortedMap<QueueId, ClusterQueue>> queues = new TreeMap<>();
    private final SortedMap<String, InferenceService> services = new TreeMap<>();
    private final SortedMap<String, TrainingJob> jobs = new TreeMap<>();

    /** Takes a queue, a service or a job. */
    void take(Event event) {
        event.asQueue()
                .ifPresent(queue -> queues.computeIfAbsent(queue.domain(), any -> new TreeMap<>())
                        .put(queue.queue(), queue));
        queues.values().forEach(theirs -> theirs.values().removeIf(ClusterQueue::removed));
        event.asService().ifPresent(service -> services.put(service.service().value(), service));
        services.values().removeIf(InferenceService::removed);
        event.asJob().ifPresent(job -> jobs.put(job.job().value(), job));
    }

    /** Whether no queue is declared, so that nothing has a quota. */
    boolean isEmpty() {
        return queues.isEmpty();
    }

    /** Judges services, and the jobs that hold GPUs. */
    Finding finding(Collection<Lease> leases) {
        if (isEmpty()) {
            return Finding.ok("queues", "none is declared");
        }
        List<String> free = unlimited(leases);
        List<String> unused = unusable(leases);
        int count = queues.values().stream().mapToInt(Map::size).sum();
        if (free.isEmpty() && unused.isEmpty()) {
            return Finding.ok("queues", "%s, each GPU in use has a quota".formatted(Reason.counted(count, "queue")));
        }
        List<String> found = new ArrayList<>();
        List<String> remedies = new ArrayList<>();
        if (!free.isEmpty()) {
            found.add("no quota limits " + some(free));
            remedies.add("name a declared queue of the same domain in 'queue'");
        }
        if (!unused.isEmpty()) {
            found.add(some(unused));
            remedies.add("name kinds as 'lendstream top' shows them");
        }
        return Finding.warn("queues", String.join("; ", found), String.join("; ", remedies));
    }

    /** Services, and jobs that hold GPUs, without a declared queue, in domains with queues. */
    private List<String> unlimited(Collection<Lease> leases) {
        List<String> unlimited = new ArrayList<>();
        services.values()
                .forEach(service -> problem(service.domain(), service.queue())
                        .ifPresent(why -> unlimited.add("service %s (%s)".formatted(service.service(), why))));
        Set<String> holding = new HashSet<>();
        for (Lease lease : leases) {
            lease.owner().holder().flatMap(Tenant::jobId).ifPresent(job -> holding.add(job.value()));
        }
        jobs.forEach((name, job) -> problem(job.domain(), job.queue())
                .filter(any -> holding.contains(name))
                .ifPresent(why -> unlimited.add("job %s (%s)".formatted(name, why))));
        return unlimited;
    }

    /** The cause why no queue limits a tenant; empty if one does, or if its domain has no queues. */
    private Optional<String> problem(DomainId domain, Optional<QueueId> named) {
        Optional<SortedMap<QueueId, ClusterQueue>> known = Optional.ofNullable(queues.get(domain));
        if (named.isEmpty()) {
            return known.map(any -> "it names no queue");
        }
        boolean isDeclared =
                known.filter(theirs -> theirs.containsKey(named.get())).isPresent();
        return isDeclared ? Optional.empty() : named.map(queue -> "queue %s is not declared".formatted(queue));
    }

    /** Quotas for kinds that their domain lacks. */
    private List<String> unusable(Collection<Lease> leases) {
        Map<DomainId, Set<KindId>> kinds = new HashMap<>();
        for (Lease lease : leases) {
            Set<KindId> theirs = kinds.computeIfAbsent(lease.domain(), any -> new HashSet<>());
            lease.kind().ifPresent(theirs::add);
        }
        List<String> unusable = new ArrayList<>();
        queues.forEach((domain, declared) -> Optional.ofNullable(kinds.get(domain))
                .ifPresent(there -> declared.values().forEach(queue -> unusable.addAll(unusable(queue, there)))));
        return unusable;
    }

    private static List<String> unusable(ClusterQueue queue, Set<KindId> there) {
        return queue.quotas().stream()
                .map(KindQuota::kind)
                .flatMap(Optional::stream)
                .filter(kind -> !there.contains(kind))
                .map(kind -> there.isEmpty()
                        ? "queue %s has a quota for %s, but the scheduler does not tell kinds apart"
                                .formatted(queue.queue(), kind)
                        : "queue %s has a quota for %s, which domain %s does not have"
                                .formatted(queue.queue(), kind, queue.domain()))
                .toList();
    }

    private static String some(List<String> things) {
        String named = String.join(", ", things.stream().limit(NAMED).toList());
        return things.size() > NAMED ? "%s and %d more".formatted(named, things.size() - NAMED) : named;
    }
}
