package io.lendstream.simulator.workload;

import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A training job to arrive.
 *
 * @param job what its owner submits
 * @param truth its real behaviour, which policies do not know
 * @param speeds how much faster its steps really are on a kind of GPU; 1 on kinds without an entry
 * @param links how much faster it really synchronises on a kind; on kinds without an entry, as much as its steps
 */
public record TrainingTask(
        TrainingJob job, GroundTruth truth, JobOutcome fate, Map<KindId, Double> speeds, Map<KindId, LinkSpeed> links) {
    public TrainingTask {
        speeds = Map.copyOf(speeds);
        links = Map.copyOf(links);
    }

    /** A job that is as fast on all kinds of GPU. */
    public TrainingTask(TrainingJob job, GroundTruth truth, JobOutcome fate) {
        this(job, truth, fate, Map.of(), Map.of());
    }

    /** A job that finishes. */
    public TrainingTask(TrainingJob job, GroundTruth truth) {
        this(job, truth, JobOutcome.FINISHES);
    }

    /** The same job with another fate. */
    public TrainingTask meeting(JobOutcome other) {
        return new TrainingTask(job, truth, other, speeds, links);
    }

    /**
     * The same job on several kinds of GPU.
     *
     * @param needs what its owner says of them
     * @param real how much faster its steps really are on each
     */
    TrainingTask onKinds(KindNeeds needs, Map<KindId, Double> real) {
        return new TrainingTask(job.onKinds(needs), truth, fate, real, links);
    }

    /** The same job where kinds have links of their own. */
    TrainingTask withLinks(Map<KindId, LinkSpeed> real) {
        return new TrainingTask(job, truth, fate, speeds, real);
    }

    /** A step of its truth as it really is on a kind. */
    public StepTime stepOn(KindId kind, StepTime step, int nodes) {
        return Optional.ofNullable(links.get(kind))
                .map(link -> step.fasterBy(speedOn(kind), link.over(nodes)))
                .orElseGet(() -> step.fasterBy(speedOn(kind)));
    }

    /** How much faster its steps are on a kind than its truth says. */
    public double speedOn(KindId kind) {
        return speeds.getOrDefault(kind, 1.0);
    }

    /** The same job with another declaration. */
    TrainingTask with(TrainingJob declared) {
        return new TrainingTask(declared, truth, fate, speeds, links);
    }

    /** The same job of another priority. */
    TrainingTask ofPriority(int priority) {
        return with(job.with(new TrainingJob.Precedence(
                priority,
                job.precedence().deadline(),
                job.precedence().deadlineKind(),
                job.precedence().queue(),
                job.precedence().priorityClass())));
    }

    /** The same job of a class of its queue. */
    TrainingTask ofPriorityClass(String name) {
        TrainingJob.Precedence known = job.precedence();
        return with(job.with(new TrainingJob.Precedence(
                known.priority(), known.deadline(), known.deadlineKind(), known.queue(), Optional.of(name))));
    }

    /** The same job in a queue. */
    TrainingTask in(QueueId queue) {
        return with(job.in(queue));
    }

    /** The same job with a deadline. */
    TrainingTask due(Instant deadline, DeadlineKind kind) {
        return with(job.due(deadline, kind));
    }

    /** The same job in a shape. */
    TrainingTask shaped(JobShape shape) {
        return with(job.shaped(shape));
    }

    TrainingTask named(String name) {
        if (job.job().value().equals(name)) {
            return this;
        }
        return new TrainingTask(job.named(new JobId(name)), truth, fate, speeds, links);
    }
}
