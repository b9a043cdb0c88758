package io.lendstream.launcher.operation;

import io.lendstream.core.event.Event;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;

/** The state of each declared object in one or a few words, from the leases and what is reported of jobs. */
public final class ObjectStates {
    /** The state of an object whose end is ordered, until its GPUs are released and its record is removed. */
    public static final String DELETING = "deleting";

    /** No states: they were not read. */
    public static final ObjectStates NONE = new ObjectStates(false, Map.of());

    /** The state of a job without a GPU of which a report may be missing. */
    private static final String NOT_KNOWN = "unknown";

    /** As far back as {@code top} reads. */
    private static final Duration RECENT = Duration.ofMinutes(15);

    /** By so much the clock of who reports may be behind that of who declares. */
    private static final Duration SKEW = Duration.ofMinutes(1);

    /** What the topic keeps. */
    private static final Duration KEPT = Duration.ofDays(7);

    private static final Duration POLL = Duration.ofMillis(200);
    /** A state is not worth a longer wait. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final SortedMap<GpuId, Lease> leases = new TreeMap<>();
    private final Map<JobId, TrainingProgress> reports = new HashMap<>();
    private final WorkloadFigures figures = new WorkloadFigures(leases, new SeenWorkload(domain -> true));
    private final boolean areLeasesRead;
    private final Map<JobId, Instant> written;
    /** From when on all reports are known; empty if some may be missing. */
    private Optional<Instant> completeSince = Optional.empty();
    /** The owners of the GPUs that each tenant has; empty until it is asked for. */
    private Optional<Map<Tenant, List<Owner>>> owners = Optional.empty();

    /**
     * @param areLeasesRead without leases no state is known
     * @param written when the declarations of jobs were written
     */
    ObjectStates(boolean areLeasesRead, Map<JobId, Instant> written) {
        this.areLeasesRead = areLeasesRead;
        this.written = Map.copyOf(written);
    }

    /**
     * Reads the leases, and the reports of jobs: the last ones, and older ones if a job was declared before.
     *
     * @param jobs the jobs whose states are wanted, with the times of their records
     * @param remark receives a line if a topic cannot be read, or takes too long
     */
    public static ObjectStates read(Cluster cluster, Map<JobId, Instant> jobs, Consumer<String> remark) {
        ObjectStates states = new ObjectStates(true, jobs);
        TopicScan scan = new TopicScan(cluster, remark);
        try {
            scan.all(
                    TopicCatalogue.LEASES,
                    lease -> lease.value()
                            .ifPresentOrElse(states::take, () -> states.leases.remove(new GpuId(lease.key()))));
        } catch (KafkaException e) {
            remark.accept(
                    "cannot read topic %s (%s): states are left out. Allow this principal to read it, as in deploy/acl/workload.acl."
                            .formatted(cluster.topics().name(TopicCatalogue.LEASES), e.getMessage()));
            return NONE;
        }
        if (!jobs.isEmpty()) {
            states.readReports(cluster, scan, remark);
        }
        return states;
    }

    private void readReports(Cluster cluster, TopicScan scan, Consumer<String> remark) {
        String topic = cluster.topics().name(TopicCatalogue.TRAINING_PROGRESS);
        try {
            Instant now = Instant.now();
            Instant recent = now.minus(RECENT);
            boolean areRead = readReports(scan, recent);
            Optional<Instant> oldest = written.values().stream().min(Instant::compareTo);
            if (areRead && oldest.filter(recent::isAfter).isPresent()) {
                // Of jobs that have reported lately, only an end matters, which is known for a day.
                Instant known = now.minus(JobPhase.KNOWN_WHEN_OVER);
                Instant since = written.entrySet().stream()
                        .filter(job -> !reports.containsKey(job.getKey()))
                        .map(Map.Entry::getValue)
                        .min(Instant::compareTo)
                        .filter(known::isAfter)
                        .orElse(known);
                recent = since.isBefore(now.minus(KEPT)) ? now.minus(KEPT) : since;
                areRead = readReports(scan, recent);
            }
            // Actuators report to the topic of no intake.
            boolean areAll =
                    cluster.topics().names(TopicCatalogue.TRAINING_PROGRESS).contains(topic);
            if (areRead && areAll) {
                completeFrom(recent);
            } else if (written.keySet().stream().anyMatch(job -> isUnknown(new Tenant.Job(job)))) {
                remark.accept(
                        "%s: a job without a GPU and without a report that was read has state %s; 'lendstream explain job/NAME' has more."
                                .formatted(
                                        areRead
                                                ? "only reports of this intake are read"
                                                : "topic %s is long".formatted(topic),
                                        NOT_KNOWN));
            }
        } catch (KafkaException e) {
            remark.accept(
                    "cannot read topic %s (%s): a job without a GPU has state %s. Allow this principal to read it, as in deploy/acl/workload.acl."
                            .formatted(topic, e.getMessage(), NOT_KNOWN));
        }
    }

    /** All reports since a time are read. */
    void completeFrom(Instant since) {
        completeSince = Optional.of(since);
    }

    private boolean isUnknown(Tenant.Job job) {
        return held(job).isEmpty() && !reports.containsKey(job.job());
    }

    /** Whether all reports since a time could be read in time. */
    private boolean readReports(TopicScan scan, Instant since) {
        try (RecordReader reader = scan.open()) {
            reader.handing(
                    TopicCatalogue.TRAINING_PROGRESS,
                    received -> received.value().ifPresent(this::take));
            reader.start(scan.since(reader, List.of(TopicCatalogue.TRAINING_PROGRESS), since));
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (!reader.hasCaughtUp() && System.nanoTime() < until) {
                reader.poll(POLL);
            }
            return reader.hasCaughtUp();
        }
    }

    void take(Lease lease) {
        leases.put(lease.gpuId(), lease);
        owners = Optional.empty();
    }

    void take(TrainingProgress report) {
        if (report.phase() != JobPhase.UNKNOWN) {
            reports.merge(report.job(), report, ObjectStates::later);
        }
    }

    /**
     * The one of two reports that counts, which may be read in any order. A job that has ended stays so, whatever
     * arrives late, until its name may be used again.
     */
    private static TrainingProgress later(TrainingProgress one, TrainingProgress other) {
        boolean isInOrder = !other.at().isBefore(one.at());
        TrainingProgress first = isInOrder ? one : other;
        TrainingProgress last = isInOrder ? other : one;
        boolean isLate = first.phase().isOver()
                && !last.phase().isOver()
                && last.at().isBefore(first.at().plus(JobPhase.KNOWN_WHEN_OVER));
        return isLate ? first : last;
    }

    private List<Owner> held(Tenant tenant) {
        return owners.orElseGet(() -> {
                    Map<Tenant, List<Owner>> byTenant = new HashMap<>();
                    for (Lease lease : leases.values()) {
                        lease.owner()
                                .holder()
                                .ifPresent(holder -> byTenant.computeIfAbsent(holder, any -> new ArrayList<>())
                                        .add(lease.owner()));
                    }
                    owners = Optional.of(byTenant);
                    return byTenant;
                })
                .getOrDefault(tenant, List.of());
    }

    /** The state of a declared job or service; empty for other objects, or if the leases could not be read. */
    public Optional<String> of(Event declared) {
        return areLeasesRead
                ? declared.asJob().map(this::of).or(() -> declared.asService().map(this::of))
                : Optional.empty();
    }

    private String of(TrainingJob job) {
        List<Owner> held = held(new Tenant.Job(job.job()));
        Optional<JobPhase> phase = Optional.ofNullable(reports.get(job.job()))
                .filter(report -> !report.at().isBefore(job.submittedAt().minus(SKEW)))
                .map(TrainingProgress::phase);
        if (held.isEmpty()) {
            return withoutGpu(job, phase);
        }
        if (phase.filter(JobPhase.CANCELLED::equals).isPresent()) {
            return DELETING;
        }
        if (held.stream().anyMatch(Owner::isUp)) {
            return EventText.lower(phase.filter(known -> known.isOver() || known == JobPhase.RESCALING)
                    .orElse(JobPhase.RUNNING));
        }
        return held.stream().anyMatch(Owner::isBinding) ? "starting" : "leaving";
    }

    /** A job waits only if no report that would say otherwise can be missing. */
    private String withoutGpu(TrainingJob job, Optional<JobPhase> phase) {
        if (phase.filter(JobPhase::isOver).isPresent()) {
            return EventText.lower(phase.get());
        }
        Instant since = phase.isPresent() ? Instant.MAX : written.getOrDefault(job.job(), job.submittedAt());
        boolean isAllKnown = completeSince.filter(from -> !since.isBefore(from)).isPresent();
        if (!isAllKnown) {
            return NOT_KNOWN;
        }
        return EventText.lower(phase.filter(JobPhase.PAUSED::equals).orElse(JobPhase.QUEUED));
    }

    private String of(InferenceService declared) {
        ServiceState service = ServiceState.of(declared);
        List<String> parts = new ArrayList<>();
        add(parts, figures.serving(service), "serving");
        add(parts, figures.warm(service), "warm");
        add(parts, figures.starting(service), "starting");
        return parts.isEmpty() ? "no replica" : String.join(", ", parts);
    }

    private static void add(List<String> parts, long count, String word) {
        if (count > 0) {
            parts.add(count + " " + word);
        }
    }
}
