package io.lendstream.launcher.operation;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.JobId;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordReader;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;

/** Jobs that have ended and that schedulers still know: until they forget a job, its name means this one. */
public final class EndedJobs {
    private static final Duration KNOWN = JobPhase.KNOWN_WHEN_OVER;
    private static final Duration POLL = Duration.ofMillis(200);
    /** A name is not worth a longer wait. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final String UNCHECKED =
            "%s: not checked whether a job had the same name in the last %d hours. If a new job stays queued, choose another name.";

    private final Set<JobId> jobs;
    private final Map<JobId, TrainingProgress> ends = new HashMap<>();

    EndedJobs(Set<JobId> jobs) {
        this.jobs = Set.copyOf(jobs);
    }

    /**
     * Reads what was reported of some jobs in the last day.
     *
     * @param remark receives a line if it cannot be known of all of them: reading takes too long, or is not allowed
     */
    public static EndedJobs read(Cluster cluster, Set<JobId> jobs, Consumer<String> remark) {
        EndedJobs ended = new EndedJobs(jobs);
        if (jobs.isEmpty()) {
            return ended;
        }
        String topic = cluster.topics().name(TopicCatalogue.TRAINING_PROGRESS);
        try {
            if (!ended.readAll(new TopicScan(cluster, remark))) {
                remark.accept(UNCHECKED.formatted("topic %s is long".formatted(topic), KNOWN.toHours()));
            }
        } catch (KafkaException e) {
            remark.accept(
                    UNCHECKED.formatted("cannot read topic %s (%s)".formatted(topic, e.getMessage()), KNOWN.toHours()));
        }
        return ended;
    }

    /** Whether all could be read in time. */
    private boolean readAll(TopicScan scan) {
        try (RecordReader reader = scan.open()) {
            reader.handing(
                    TopicCatalogue.TRAINING_PROGRESS,
                    received -> received.value().ifPresent(this::take));
            Instant since = scan.now().minus(KNOWN);
            reader.start(scan.since(reader, List.of(TopicCatalogue.TRAINING_PROGRESS), since));
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (!reader.hasCaughtUp() && System.nanoTime() < until) {
                reader.poll(POLL);
            }
            return reader.hasCaughtUp();
        }
    }

    void take(TrainingProgress said) {
        if (said.phase().isOver() && jobs.contains(said.job())) {
            ends.put(said.job(), said);
        }
    }

    /**
     * Fails if a job cannot be new.
     *
     * @param field what names the job, such as {@code --name}
     */
    public void refuse(String field, JobId job) {
        against(job).ifPresent(why -> {
            throw UserError.failed("%s %s".formatted(field, why));
        });
    }

    /** Why a job cannot be new; empty if it can. */
    public Optional<String> against(JobId job) {
        return Optional.ofNullable(ends.get(job))
                .map(end ->
                        "is %s, but a job of this name ended at %s, and the scheduler knows it until %s. Choose another name, or wait until then."
                                .formatted(job, end.at(), end.at().plus(KNOWN)));
    }
}
