package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.Lease;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import io.lendstream.service.kafka.Received;
import io.lendstream.service.kafka.RecordReader;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.service.kafka.WriteFailedException;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Cancels a job: writes its end, waits until the scheduler has taken it and all GPUs of the job are released, and then
 * removes the declaration. An actuator needs the declaration until it has stopped the job.
 */
public final class JobCancellation {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final List<Topic<?>> NEEDED = List.of(
            TopicCatalogue.TRAINING_JOBS,
            TopicCatalogue.TRAINING_PROGRESS,
            TopicCatalogue.DOMAIN_EVENTS,
            TopicCatalogue.LEASES);

    private final TrainingJob job;
    private final Cluster cluster;
    private final TopicScan reading;
    private final TrainingProgress end;
    /** The GPUs of the job, by their leases. */
    private final SortedSet<String> held = new TreeSet<>();

    private boolean isTaken;

    /**
     * The cancellation of a job.
     *
     * @param cluster with the topics that are written to
     * @param progress receives a line every two seconds while a topic is read
     */
    public JobCancellation(TrainingJob job, Cluster cluster, Consumer<String> progress) {
        this.job = job;
        this.cluster = cluster;
        this.reading = new TopicScan(cluster, progress);
        Connection.check(cluster.kafka(), cluster.topics(), NEEDED, cluster.patience());
        this.end = new TrainingProgress(
                job.job(),
                job.domain(),
                reading.now(),
                JobPhase.CANCELLED,
                0,
                Optional.empty(),
                TrainingProgress.Parallelism.NONE,
                TrainingProgress.StepTiming.NOT_MEASURED,
                TrainingProgress.GradientStatistics.NOT_MEASURED);
    }

    /**
     * Cancels the job.
     *
     * @throws UserError if it still holds GPUs after the time limit, or no scheduler took its end
     */
    public void run(Duration limit) {
        JobId name = job.job();
        try (RecordReader reader = reading.open();
                RecordWriter writer = RecordWriter.open(cluster.kafka(), cluster.topics(), "/lendstream/command")) {
            reader.handing(
                    TopicCatalogue.DOMAIN_EVENTS, received -> received.value().ifPresent(this::take));
            reader.handing(TopicCatalogue.LEASES, this::take);
            reader.start(reading.ends(reader, List.of(TopicCatalogue.DOMAIN_EVENTS)));
            writer.write(TopicCatalogue.TRAINING_PROGRESS, name.value(), end);
            writer.flush();
            await(reader, limit);
            writer.delete(TopicCatalogue.TRAINING_JOBS, name.value());
            writer.flush();
        } catch (WriteFailedException e) {
            throw UserError.failed("%s. Use a principal that may write to %s and %s."
                    .formatted(
                            e.getMessage(),
                            cluster.topics().target(TopicCatalogue.TRAINING_PROGRESS),
                            cluster.topics().target(TopicCatalogue.TRAINING_JOBS)));
        }
    }

    private void await(RecordReader reader, Duration limit) {
        long until = System.nanoTime() + limit.toNanos();
        while (!isTaken) {
            if (System.nanoTime() > until) {
                throw UserError.failed(
                        "no scheduler of domain %s took the end of job %s within --timeout %s. Check with 'lendstream doctor', and run the command again: the job is still declared."
                                .formatted(job.domain(), job.job(), Units.text(limit)));
            }
            reader.poll(POLL);
        }
        // The leases that the scheduler wrote until then; it gives an ended job no further GPU.
        Map<String, Long> written = reading.ends(reader, List.of(TopicCatalogue.LEASES));
        while (!reader.hasRead(written) || !held.isEmpty()) {
            if (System.nanoTime() > until) {
                throw UserError.failed(
                        "job %s is cancelled, but after --timeout %s it still holds %s. See 'lendstream explain job/%s', and run the command again: the job is still declared."
                                .formatted(job.job(), Units.text(limit), String.join(", ", held), job.job()));
            }
            reader.poll(POLL);
        }
    }

    private void take(DomainEvent logged) {
        isTaken |= logged.event().equals(end);
    }

    private void take(Received<Lease> lease) {
        boolean isHeld = lease.value()
                .flatMap(known -> known.owner().holdingJob())
                .filter(job.job()::equals)
                .isPresent();
        if (isHeld) {
            held.add(lease.key());
        } else {
            held.remove(lease.key());
        }
    }
}
