package io.lendstream.launcher.operation;

import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Figures of services and jobs, from their leases and their records. */
final class WorkloadFigures {
    private static final int STALE_WINDOWS = 3;

    private final SortedMap<GpuId, Lease> leases;
    private final SeenWorkload workload;

    WorkloadFigures(SortedMap<GpuId, Lease> leases, SeenWorkload workload) {
        this.leases = leases;
        this.workload = workload;
    }

    static boolean isStale(ServiceState service, Instant now) {
        Duration bound = service.window().multipliedBy(STALE_WINDOWS);
        return service.lastRateAt().map(at -> at.plus(bound).isBefore(now)).orElse(true);
    }

    /** Whether it has a forecast that is not too old to count. */
    static boolean hasFreshForecast(ServiceState service, Instant now) {
        return service.forecast().filter(forecast -> forecast.isFresh(now)).isPresent();
    }

    /** The highest p99 of its last forecast, also if that is too old to count. */
    static Optional<Double> peak(ServiceState service) {
        return service.forecast()
                .map(forecast -> forecast.horizons().stream()
                        .mapToDouble(HorizonQuantiles::p99)
                        .max()
                        .orElse(0));
    }

    /** The most GPUs that its forecast names, for p99 at any horizon. */
    static Optional<Integer> gpus(ServiceState service) {
        return service.forecast().stream()
                .flatMap(forecast -> forecast.horizons().stream())
                .flatMap(at -> at.gpus().stream())
                .map(GpuQuantiles::p99)
                .max(Comparator.naturalOrder());
    }

    /** Replicas that answer requests. */
    long serving(ServiceState service) {
        return replicas(service, Set.of("serving"));
    }

    /** The same by role, of replicas of several GPUs. */
    SortedMap<ReplicaRole, Integer> servingByRole(ServiceState service) {
        SortedMap<ReplicaRole, Set<ReplicaId>> replicas = new TreeMap<>();
        leases(service, Set.of("serving"))
                .flatMap(lease -> lease.part().stream())
                .forEach(part -> replicas.computeIfAbsent(part.role(), any -> new TreeSet<>())
                        .add(part.replica()));
        SortedMap<ReplicaRole, Integer> counts = new TreeMap<>();
        replicas.forEach((role, names) -> counts.put(role, names.size()));
        return counts;
    }

    /** Warm replicas, which can answer requests at once. */
    long warm(ServiceState service) {
        return replicas(service, Set.of("protected", "sleeping"));
    }

    long starting(ServiceState service) {
        return replicas(service, Set.of("binding"));
    }

    private long replicas(ServiceState service, Set<String> labels) {
        return count(leases(service, labels).toList());
    }

    /** The replicas on some GPUs: each GPU is one, unless it is a part of one of several GPUs. */
    private static long count(List<Lease> leases) {
        return leases.stream()
                .map(lease -> lease.part()
                        .map(part -> part.replica().value())
                        .orElse(lease.gpuId().value()))
                .distinct()
                .count();
    }

    private Stream<Lease> leases(ServiceState service, Set<String> labels) {
        Tenant tenant = new Tenant.Service(service.spec().service());
        return leases.values().stream()
                .filter(lease -> labels.contains(lease.owner().label())
                        && lease.owner().holder().filter(tenant::equals).isPresent());
    }

    /** The kinds of GPU of a domain, as far as they are known. */
    NavigableSet<KindId> kinds(DomainId domain) {
        NavigableSet<KindId> kinds = new TreeSet<>();
        leases.values().stream()
                .filter(lease -> lease.domain().equals(domain))
                .forEach(lease -> lease.kind().ifPresent(kinds::add));
        return kinds;
    }

    /** The kinds of the GPUs whose replicas serve or start; an empty one for each whose kind is not known. */
    List<Optional<KindId>> activeKinds(ServiceState service) {
        return leases(service, Set.of("serving", "binding")).map(Lease::kind).toList();
    }

    /** How many replicas of a service, warm ones too, are on each kind; none if its domain has one kind only. */
    SortedMap<KindId, Integer> replicasByKind(ServiceState service) {
        SortedMap<KindId, Integer> counts = new TreeMap<>();
        if (kinds(service.spec().domain()).size() > 1) {
            leases(service, Set.of("serving", "binding", "protected", "sleeping"))
                    .forEach(lease -> lease.kind().ifPresent(kind -> counts.merge(kind, 1, Integer::sum)));
        }
        return counts;
    }

    /** The jobs that have not ended, and ended jobs that still hold GPUs. */
    List<JobState> shownJobs() {
        Set<JobId> holding = leases.values().stream()
                .flatMap(lease -> lease.owner().holdingJob().stream())
                .collect(Collectors.toCollection(TreeSet::new));
        return workload.jobs().stream()
                .filter(job -> !job.isOver() || holding.contains(job.spec().job()))
                .toList();
    }

    /**
     * The GPUs of a job.
     *
     * @param nodes the number of nodes they are on
     * @param kind their kind, if it is known
     */
    record Held(int gpus, int lent, int nodes, Optional<KindId> kind) {}

    Held held(JobState job) {
        Tenant tenant = new Tenant.Job(job.spec().job());
        List<Lease> mine = leases.values().stream()
                .filter(lease -> lease.owner().isUp())
                .filter(lease -> lease.owner().holder().filter(tenant::equals).isPresent())
                .toList();
        int lent = (int) mine.stream().filter(lease -> lease.owner().isLent()).count();
        int nodes = (int) mine.stream().map(Lease::nodeId).distinct().count();
        Optional<KindId> kind =
                mine.stream().flatMap(lease -> lease.kind().stream()).findFirst();
        return new Held(mine.size(), lent, nodes, kind);
    }

    /** How well the goodput of a job is known. */
    enum Known {
        /** By steps that it has reported. */
        MEASURED,
        /** By the profile that its owner declares. */
        ESTIMATED,
        /** By nothing that these topics have. */
        UNKNOWN
    }

    /** How well the goodput of a job is known. */
    Known known(JobState job) {
        if (!job.learned().speed().measured().isEmpty()
                || !job.learned().byKind().isEmpty()) {
            return Known.MEASURED;
        }
        return job.isSpeedUnknown() ? Known.UNKNOWN : Known.ESTIMATED;
    }

    /** The goodput of a job by its profile and its steps so far. */
    static double goodput(JobState job, Held held) {
        return job.goodput().on(held.kind).on(held.nodes, held.gpus);
    }

    /** The phase by its last progress record, else by the GPUs that it has: not every program reports its progress. */
    String phase(JobState job) {
        return EventText.lower(workload.progress(job.spec().job())
                .map(TrainingProgress::phase)
                .orElseGet(() -> held(job).gpus > 0 ? JobPhase.RUNNING : JobPhase.QUEUED));
    }
}
