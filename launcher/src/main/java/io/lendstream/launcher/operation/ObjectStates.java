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
    public static final ObjectStates NONE = new ObjectStates(false);

    /** The state of a job whose reports could not be read in time. */
    private static final String NOT_KNOWN = "unknown";

    /** As far back as {@code top} reads. */
    private static final Duration RECENT = Duration.ofMinutes(15);

    /** What the topic keeps. */
    private static final Duration KEPT = Duration.ofDays(7);

    private static final Duration POLL = Duration.ofMillis(200);
    /** A state is not worth a longer wait. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final SortedMap<GpuId, Lease> leases = new TreeMap<>();
    private final Map<JobId, TrainingProgress> reports = new HashMap<>();
    private final WorkloadFigures figures = new WorkloadFigures(leases, new SeenWorkload(domain -> true));
    private final boolean areLeasesRead;
    private boolean areReportsRead = true;

    /** @param areLeasesRead without leases no state is known */
    ObjectStates(boolean areLeasesRead) {
        this.areLeasesRead = areLeasesRead;
    }

    /**
     * Reads the leases, and the reports of jobs: the last ones, and older ones only if a job has no recent report.
     *
     * @param jobs the jobs whose states are wanted, with the times of their records
     * @param remark receives a line if a topic cannot be read, or takes too long
     */
    public static ObjectStates read(Cluster cluster, Map<JobId, Instant> jobs, Consumer<String> remark) {
        ObjectStates states = new ObjectStates(true);
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
            states.readReports(scan, cluster.topics().name(TopicCatalogue.TRAINING_PROGRESS), jobs, remark);
        }
        return states;
    }

    private void readReports(TopicScan scan, String topic, Map<JobId, Instant> jobs, Consumer<String> remark) {
        try {
            Instant recent = Instant.now().minus(RECENT);
            areReportsRead = readReports(scan, recent);
            Optional<Instant> oldest = jobs.entrySet().stream()
                    .filter(job -> !reports.containsKey(job.getKey()))
                    .map(Map.Entry::getValue)
                    .min(Instant::compareTo)
                    .filter(recent::isAfter);
            if (areReportsRead && oldest.isPresent()) {
                Map<JobId, TrainingProgress> newest = Map.copyOf(reports);
                Instant kept = Instant.now().minus(KEPT);
                areReportsRead = readReports(scan, oldest.get().isAfter(kept) ? oldest.get() : kept);
                reports.putAll(newest);
            }
            if (!areReportsRead) {
                remark.accept(
                        "topic %s is long: a job without a GPU and without a report that was read has state %s; 'lendstream explain job/NAME' has more."
                                .formatted(topic, NOT_KNOWN));
            }
        } catch (KafkaException e) {
            areReportsRead = false;
            remark.accept(
                    "cannot read topic %s (%s): a job without a GPU has state %s. Allow this principal to read it, as in deploy/acl/workload.acl."
                            .formatted(topic, e.getMessage(), NOT_KNOWN));
        }
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
    }

    void take(TrainingProgress report) {
        if (report.phase() != JobPhase.UNKNOWN) {
            reports.merge(report.job(), report, ObjectStates::later);
        }
    }

    /** A job that has ended stays so, whatever arrives late, until its name may be used again. */
    private static TrainingProgress later(TrainingProgress known, TrainingProgress next) {
        boolean isLate = known.phase().isOver()
                && !next.phase().isOver()
                && next.at().isBefore(known.at().plus(JobPhase.KNOWN_WHEN_OVER));
        return isLate ? known : next;
    }

    /** The state of a declared job or service; empty for other objects, or if the leases could not be read. */
    public Optional<String> of(Event declared) {
        return areLeasesRead
                ? declared.asJob().map(this::of).or(() -> declared.asService().map(this::of))
                : Optional.empty();
    }

    private String of(TrainingJob job) {
        Tenant tenant = new Tenant.Job(job.job());
        List<Owner> held = leases.values().stream()
                .map(Lease::owner)
                .filter(owner -> owner.holder().filter(tenant::equals).isPresent())
                .toList();
        Optional<JobPhase> phase = Optional.ofNullable(reports.get(job.job()))
                .filter(report -> !report.at().isBefore(job.submittedAt()))
                .map(TrainingProgress::phase);
        if (held.isEmpty()) {
            return phase.filter(known -> known.isOver() || known == JobPhase.PAUSED)
                    .map(EventText::lower)
                    .orElse(areReportsRead || phase.isPresent() ? EventText.lower(JobPhase.QUEUED) : NOT_KNOWN);
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
