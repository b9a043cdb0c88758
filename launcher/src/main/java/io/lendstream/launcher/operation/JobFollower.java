package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Follows one job from its submission to its end, by its leases, reports and progress. */
public final class JobFollower implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    /** The actuator reports the reason of an end on another topic than the end itself. */
    private static final Duration FOR_REASON = Duration.ofSeconds(3);

    /** A job that gets no GPU for this time is remarked on: it may have no room, or a name that is not free yet. */
    private static final Duration LONG_QUEUED = Duration.ofMinutes(1);

    private final Tenant job;
    private final JobId name;
    private final Consumer<Step> shown;
    private final Consumer<String> progress;
    private final RecordReader reader;
    private final Map<String, Owner> held = new TreeMap<>();
    private JobPhase phase = JobPhase.QUEUED;
    private final Setbacks setbacks = new Setbacks();
    private Optional<ActuationReport> shownSetback = Optional.empty();
    private String reason = "";
    private Step last = new Step("", "");

    /**
     * A phase of a job.
     *
     * @param phase such as {@code running on 2 GPUs, 1 of them lent}
     * @param reason why, if it is not the plain course
     */
    public record Step(String phase, String reason) {}

    /**
     * Starts to read before the job is submitted.
     *
     * @param shown receives each phase
     * @param progress receives a line every two seconds while topics are read, and one if the job waits for long
     */
    public JobFollower(Cluster cluster, JobId name, Consumer<Step> shown, Consumer<String> progress) {
        this.name = name;
        this.job = new Tenant.Job(name);
        this.shown = shown;
        this.progress = progress;
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.LEASES, TopicCatalogue.ACTUATION_REPORTS, TopicCatalogue.TRAINING_PROGRESS),
                cluster.patience());
        TopicScan reading = new TopicScan(cluster, progress);
        reader = reading.open();
        reader.handing(TopicCatalogue.LEASES, this::take);
        reader.handing(
                TopicCatalogue.ACTUATION_REPORTS, received -> received.value().ifPresent(this::take));
        reader.handing(
                TopicCatalogue.TRAINING_PROGRESS, received -> received.value().ifPresent(this::take));
        reader.start(reading.ends(
                reader,
                List.of(TopicCatalogue.LEASES, TopicCatalogue.ACTUATION_REPORTS, TopicCatalogue.TRAINING_PROGRESS)));
    }

    private void take(Received<Lease> lease) {
        Optional<Owner> owner = lease.value()
                .map(Lease::owner)
                .filter(any -> any.holder().filter(job::equals).isPresent());
        owner.ifPresentOrElse(any -> held.put(lease.key(), any), () -> held.remove(lease.key()));
    }

    private void take(ActuationReport report) {
        if (report.tenant().filter(job::equals).isEmpty()) {
            return;
        }
        setbacks.take(report);
        if (report.outcome() == Outcome.BOUND) {
            reason = ""; // an earlier one did not end the job
        } else if (report.outcome() != Outcome.ACCEPTED
                && report.outcome() != Outcome.APPLIED
                && !report.reason().isEmpty()) {
            reason = report.reason();
        }
    }

    private void take(TrainingProgress report) {
        if (report.job().equals(name) && !phase.isOver() && report.phase() != JobPhase.UNKNOWN) {
            phase = report.phase();
        }
    }

    /** Shows each phase until the job ends, and returns the last one. */
    public JobPhase await() {
        long begun = System.nanoTime();
        boolean isRemarked = false;
        while (!phase.isOver()) {
            show();
            reader.poll(POLL);
            if (!isRemarked && held.isEmpty() && System.nanoTime() - begun > LONG_QUEUED.toNanos()) {
                isRemarked = true;
                progress.accept(
                        "job/%s has no GPU after %d s. See why: lendstream explain job/%s, lendstream describe job %s"
                                .formatted(name, LONG_QUEUED.toSeconds(), name, name));
            }
        }
        long until = System.nanoTime() + FOR_REASON.toNanos();
        while (phase == JobPhase.FAILED && reason.isEmpty() && System.nanoTime() < until) {
            reader.poll(POLL);
        }
        show(new Step(phase.name().toLowerCase(Locale.ROOT), phase == JobPhase.FINISHED ? "" : reason));
        return phase;
    }

    private void show() {
        Optional<ActuationReport> setback = setbacks.of(job);
        if (!setback.equals(shownSetback)) {
            shownSetback = setback;
            setback.ifPresent(report -> show(new Step(Setbacks.inWords(report), report.reason())));
        }
        show(new Step(phase.isOver() ? last.phase() : present(), ""));
    }

    private void show(Step next) {
        if (!next.equals(last)) {
            last = next;
            shown.accept(next);
        }
    }

    /** The phase by the GPUs that the job has: not every program reports its progress. */
    private String present() {
        long starting = held.values().stream().filter(Owner::isBinding).count();
        long leaving = held.values().stream()
                .filter(owner -> owner.asReleasing().isPresent())
                .count();
        long lent = held.values().stream()
                .filter(owner -> owner.asLent().isPresent())
                .count();
        long running = held.size() - starting - leaving;
        if (held.isEmpty()) {
            return phase == JobPhase.PAUSED ? "paused" : "queued";
        }
        if (running == 0) {
            return starting > 0 ? "starting on " + gpus(starting) : "leaving " + gpus(leaving);
        }
        return "running on %s%s".formatted(gpus(running), lent > 0 ? ", %d of them lent".formatted(lent) : "");
    }

    private static String gpus(long count) {
        return Reason.counted((int) count, "GPU");
    }

    @Override
    public void close() {
        reader.close();
    }
}
