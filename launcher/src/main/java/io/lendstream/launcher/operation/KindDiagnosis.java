package io.lendstream.launcher.operation;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A finding about the kinds of GPU that jobs and services name: those that their domain does not have. The kind of a
 * job's profile does not count, because it may have been measured elsewhere.
 */
final class KindDiagnosis {
    private static final int NAMED = 5;

    private final SortedMap<String, InferenceService> services = new TreeMap<>();
    private final SortedMap<String, TrainingJob> jobs = new TreeMap<>();
    /** Kinds by the products of GPUs: with aliases, leases do not have all of them. */
    private final SortedMap<DomainId, SortedSet<KindId>> products = new TreeMap<>();

    /** Takes a node, a service or a job. */
    void take(Event event) {
        event.asNode()
                .ifPresent(node -> node.gpus()
                        .forEach(gpu -> products.computeIfAbsent(node.domain(), any -> new TreeSet<>())
                                .add(GpuKinds.PLAIN.of(gpu))));
        event.asService().ifPresent(service -> services.put(service.service().value(), service));
        services.values().removeIf(InferenceService::removed);
        event.asJob().ifPresent(job -> jobs.put(job.job().value(), job));
    }

    /** Leaves out the job of a report if it has ended. */
    void ended(TrainingProgress progress) {
        if (progress.phase().isOver()) {
            jobs.remove(progress.job().value());
        }
    }

    Collection<InferenceService> services() {
        return services.values();
    }

    /** Whether a job names a kind that its domain does not have; it may have ended. */
    boolean isAboutJobs(Collection<Lease> leases) {
        return jobs.values().stream()
                .anyMatch(
                        job -> !unknown(kinds(job), job.domain(), known(leases)).isEmpty());
    }

    /** A warning about kinds that no GPU of the domain has; empty if there are none. */
    Optional<Finding> finding(Collection<Lease> leases) {
        SortedMap<DomainId, SortedSet<KindId>> known = known(leases);
        List<String> found = new ArrayList<>();
        SortedSet<DomainId> concerned = new TreeSet<>();
        services.forEach((name, service) -> {
            List<KindId> kinds =
                    service.capacities().stream().map(KindCapacity::kind).toList();
            SortedSet<KindId> unknown = unknown(kinds, service.domain(), known);
            if (!unknown.isEmpty()) {
                found.add("service %s names %s".formatted(name, inWords(unknown)));
                concerned.add(service.domain());
            }
        });
        jobs.forEach((name, job) -> {
            SortedSet<KindId> unknown = unknown(kinds(job), job.domain(), known);
            if (!unknown.isEmpty()) {
                found.add("job %s names %s".formatted(name, inWords(unknown)));
                concerned.add(job.domain());
            }
        });
        String there = concerned.stream()
                .map(domain -> "domain %s has only %s"
                        .formatted(domain, inWords(known.getOrDefault(domain, Collections.emptySortedSet()))))
                .collect(Collectors.joining("; "));
        return found.isEmpty()
                ? Optional.empty()
                : Optional.of(Finding.warn(
                        "kinds",
                        "%s, but %s".formatted(some(found), there),
                        "name kinds as 'lendstream top' shows them"));
    }

    /** The kinds that the scheduler tells apart in each domain. */
    private static SortedMap<DomainId, SortedSet<KindId>> known(Collection<Lease> leases) {
        SortedMap<DomainId, SortedSet<KindId>> known = new TreeMap<>();
        for (Lease lease : leases) {
            lease.kind()
                    .ifPresent(kind -> known.computeIfAbsent(lease.domain(), any -> new TreeSet<>())
                            .add(kind));
        }
        return known;
    }

    private static List<KindId> kinds(TrainingJob job) {
        List<KindId> kinds = new ArrayList<>(job.kindNeeds().allowedKinds());
        job.kindNeeds().kindTraits().forEach(traits -> kinds.add(traits.kind()));
        return kinds;
    }

    /** Those of some kinds that a domain does not have; none if its kinds are not told apart. */
    private SortedSet<KindId> unknown(
            List<KindId> named, DomainId domain, SortedMap<DomainId, SortedSet<KindId>> known) {
        SortedSet<KindId> unknown = new TreeSet<>();
        if (known.containsKey(domain)) {
            unknown.addAll(named);
            unknown.removeAll(known.getOrDefault(domain, Collections.emptySortedSet()));
            unknown.removeAll(products.getOrDefault(domain, Collections.emptySortedSet()));
        }
        return unknown;
    }

    private static String inWords(SortedSet<KindId> kinds) {
        return kinds.stream().map(KindId::value).collect(Collectors.joining(", "));
    }

    private static String some(List<String> things) {
        String named = String.join(", ", things.stream().limit(NAMED).toList());
        return things.size() > NAMED ? "%s and %d more".formatted(named, things.size() - NAMED) : named;
    }
}
