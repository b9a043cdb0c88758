package io.lendstream.core.cluster;

import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A training job and what was decided for it.
 *
 * @param progress work done, in iterations at the initial batch
 * @param totalProgress work to be done in all, once the job has told
 * @param noise gradient noise as last measured
 * @param allocation as last decided: GPUs that it holds or is about to
 * @param target GPUs that the plan wants it to hold; equals the allocation's when nothing is to change
 * @param changing the decision that is being carried out for it, if any
 * @param changeDeadline until when {@code changing} has to be in force; after it nobody waits for it any more
 * @param largestRun most GPUs it has trained on so far
 * @param changes how often its GPUs were changed after its first start
 * @param attainedGpuSeconds GPU time it has been given up to {@code attainedUpTo}
 * @param startedAt when it was first given GPUs
 * @param standing where it stands with a policy that serves jobs in queues; none before its first plan
 * @param lastEvent the event that last told of it
 */
public record JobState(
        TrainingJob spec,
        JobPhase phase,
        double progress,
        Optional<Double> totalProgress,
        GradientNoise noise,
        Allocation allocation,
        List<GpuId> target,
        Optional<DecisionId> changing,
        Instant changeDeadline,
        int largestRun,
        int changes,
        double attainedGpuSeconds,
        Instant attainedUpTo,
        Optional<Instant> startedAt,
        Optional<Instant> lastProgressAt,
        Optional<Standing> standing,
        long lastEvent) {
    public JobState {
        target = target.stream().sorted().toList();
    }

    public static JobState of(TrainingJob spec, long event) {
        return new JobState(
                spec,
                JobPhase.QUEUED,
                0,
                Optional.empty(),
                spec.profile().noise(),
                Allocation.suspended(Mechanism.RESTART),
                List.of(),
                Optional.empty(),
                spec.submittedAt(),
                0,
                0,
                0,
                spec.submittedAt(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                event);
    }

    public int gpus() {
        return allocation.gpus().size();
    }

    public boolean isOver() {
        return phase.isOver();
    }

    public GoodputModel model() {
        return new GoodputModel(spec.profile().throughput(), noise, spec.batch());
    }

    public Duration age(Instant now) {
        Duration age = Duration.between(spec.submittedAt(), now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /** GPU time given to it up to {@code now}, in GPU-seconds. */
    public double attainedBy(Instant now) {
        double more = Math.max(0, Duration.between(attainedUpTo, now).toMillis() / 1000.0);
        return attainedGpuSeconds + more * gpus();
    }

    public JobState aiming(List<GpuId> next) {
        return new JobState(
                spec,
                phase,
                progress,
                totalProgress,
                noise,
                allocation,
                next,
                changing,
                changeDeadline,
                largestRun,
                changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt,
                lastProgressAt,
                standing,
                lastEvent);
    }

    public JobState standing(Standing next) {
        return new JobState(
                spec,
                phase,
                progress,
                totalProgress,
                noise,
                allocation,
                target,
                changing,
                changeDeadline,
                largestRun,
                changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt,
                lastProgressAt,
                Optional.of(next),
                lastEvent);
    }

    /** With a new allocation, decided now and not yet in force. */
    public JobState allocated(Allocation next, DecisionId decision, Instant deadline, Instant now) {
        boolean starts = startedAt.isEmpty() && !next.gpus().isEmpty();
        boolean changes =
                startedAt.isPresent() && !next.gpus().isEmpty() && !next.gpus().equals(allocation.gpus());
        return new JobState(
                spec,
                phase,
                progress,
                totalProgress,
                noise,
                next,
                target,
                Optional.of(decision),
                deadline,
                largestRun,
                this.changes + (changes ? 1 : 0),
                attainedBy(now),
                now,
                starts ? Optional.of(now) : startedAt,
                lastProgressAt,
                standing,
                lastEvent);
    }

    /** With GPUs that left it without a decision of ours: a fault, or a lease that ran out. */
    public JobState without(List<GpuId> lost, Instant now) {
        List<GpuId> rest =
                allocation.gpus().stream().filter(gpu -> !lost.contains(gpu)).toList();
        Allocation next = rest.isEmpty()
                ? Allocation.suspended(allocation.mechanism())
                : new Allocation(
                        rest,
                        allocation.localBatch(),
                        allocation.accumulation(),
                        allocation.learningRateScale(),
                        allocation.mechanism());
        return new JobState(
                spec,
                phase,
                progress,
                totalProgress,
                noise,
                next,
                target.stream().filter(gpu -> !lost.contains(gpu)).toList(),
                changing,
                changeDeadline,
                largestRun,
                changes,
                attainedBy(now),
                now,
                startedAt,
                lastProgressAt,
                standing,
                lastEvent);
    }

    public JobState settled() {
        return new JobState(
                spec,
                phase,
                progress,
                totalProgress,
                noise,
                allocation,
                target,
                Optional.empty(),
                changeDeadline,
                largestRun,
                changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt,
                lastProgressAt,
                standing,
                lastEvent);
    }

    public JobState described(TrainingJob next, long event) {
        return new JobState(
                next,
                phase,
                progress,
                totalProgress,
                noise,
                allocation,
                target,
                changing,
                changeDeadline,
                largestRun,
                changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt,
                lastProgressAt,
                standing,
                event);
    }

    public JobState observed(TrainingProgress said, long event) {
        GradientNoise measured = said.gradientSquared().isPresent()
                        && said.gradientVariance().isPresent()
                ? new GradientNoise(
                        said.gradientSquared().get(), said.gradientVariance().get())
                : noise;
        return new JobState(
                spec,
                said.phase() == JobPhase.UNKNOWN ? phase : said.phase(),
                Math.max(progress, said.progress()),
                said.totalProgress().or(() -> totalProgress),
                measured,
                allocation,
                target,
                changing,
                changeDeadline,
                said.phase() == JobPhase.RUNNING ? Math.max(largestRun, said.replicas()) : largestRun,
                changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt,
                Optional.of(said.at()),
                standing,
                event);
    }
}
