package io.lendstream.launcher.operation;

import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.JobId;
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

/** Jobs that have ended and that schedulers still know: until they forget a job, its name means this one. */
public final class EndedJobs {
    /** How long a scheduler knows an ended job. */
    private static final Duration KNOWN = Duration.ofHours(24);

    private static final Duration POLL = Duration.ofMillis(200);
    /** A name is not worth a longer wait. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Set<JobId> jobs;
    private final Map<JobId, TrainingProgress> ends = new HashMap<>();

    private EndedJobs(Set<JobId> jobs) {
        this.jobs = Set.copyOf(jobs);
    }

    /**
     * Reads what was reported of some jobs in the last day.
     *
     * @param remark receives a line if that takes too long, so that it is not known of all
     */
    public static EndedJobs read(Cluster cluster, Set<JobId> jobs, Consumer<String> remark) {
        EndedJobs ended = new EndedJobs(jobs);
        if (jobs.isEmpty()) {
            return ended;
        }
        TopicScan scan = new TopicScan(cluster, remark);
        try (RecordReader reader = scan.open()) {
            reader.handing(
                    TopicCatalogue.TRAINING_PROGRESS,
                    received -> received.value().ifPresent(ended::take));
            Instant since = scan.now().minus(KNOWN);
            reader.start(scan.since(reader, List.of(TopicCatalogue.TRAINING_PROGRESS), since));
            long until = System.nanoTime() + PATIENCE.toNanos();
            while (!reader.hasCaughtUp()) {
                if (System.nanoTime() > until) {
                    remark.accept(
                            "topic %s is long: not checked whether a job had the same name in the last %d hours. If a new job stays queued, choose another name."
                                    .formatted(
                                            cluster.topics().name(TopicCatalogue.TRAINING_PROGRESS), KNOWN.toHours()));
                    break;
                }
                reader.poll(POLL);
            }
        }
        return ended;
    }

    void take(TrainingProgress said) {
        if (said.phase().isOver() && jobs.contains(said.job())) {
            ends.put(said.job(), said);
        }
    }

    /** Why a job cannot be new; empty if it can. */
    public Optional<String> against(JobId job) {
        return Optional.ofNullable(ends.get(job))
                .map(end ->
                        "is %s, but a job of this name ended at %s, and the scheduler knows it until %s. Choose another name, or wait until then."
                                .formatted(job, end.at(), end.at().plus(KNOWN)));
    }
}
