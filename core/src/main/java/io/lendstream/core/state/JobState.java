package io.lendstream.core.state;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.StepObservation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.Flat;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A training job and the decisions for it.
 *
 * @param lastProgressAt when it last reported its progress
 * @param standing where it stands with a policy that serves jobs in queues; none before its first plan
 * @param admission the answer to its hard deadline or to its size; empty while there is none, or none is needed
 * @param lastEvent the last event about it
 * @param goodput what follows from speed, noise and batch
 */
public record JobState(
        TrainingJob spec,
        @Flat JobWork work,
        @Flat LearnedTraits learned,
        @Flat JobGrant grant,
        @Flat LastChange change,
        @Flat JobUsage usage,
        Optional<Instant> lastProgressAt,
        Optional<QueuePosition> standing,
        Optional<Admission> admission,
        long lastEvent,
        @Derived KindGoodput goodput) {

    /** A state whose goodput is not computed yet. */
    public JobState(
            TrainingJob spec,
            JobWork work,
            LearnedTraits learned,
            JobGrant grant,
            LastChange change,
            JobUsage usage,
            Optional<Instant> lastProgressAt,
            Optional<QueuePosition> standing,
            Optional<Admission> admission,
            long lastEvent) {
        this(
                spec,
                work,
                learned,
                grant,
                change,
                usage,
                lastProgressAt,
                standing,
                admission,
                lastEvent,
                KindGoodput.of(spec, learned));
    }

    public static JobState of(TrainingJob spec, long event) {
        return new JobState(
                spec,
                JobWork.NONE,
                LearnedTraits.declared(spec),
                new JobGrant(Allocation.suspended(Mechanism.RESTART), Optional.empty(), List.of()),
                LastChange.none(spec.submittedAt()),
                JobUsage.none(spec.submittedAt()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                event);
    }

    public JobPhase phase() {
        return work.phase();
    }

    public double progress() {
        return work.progress();
    }

    /** Whether its speed is not known: no profile is declared, no earlier job has one, and no step is measured. */
    public boolean isSpeedUnknown() {
        return ApplicationPrior.isUnknown(spec, learned);
    }

    /** The same with other known traits. */
    JobState with(LearnedTraits traits) {
        return new JobState(
                spec,
                work,
                traits,
                grant,
                change,
                usage,
                lastProgressAt,
                standing,
                admission,
                lastEvent,
                goodput.with(spec, traits));
    }

    public RescaleCosts costs() {
        return learned.costs();
    }

    public Allocation allocation() {
        return grant.allocation();
    }

    public List<GpuId> target() {
        return grant.target();
    }

    /** The host memory that it has without GPUs; empty if it is not paused. */
    public Optional<PausedAt> paused() {
        return grant.paused();
    }

    public Optional<DecisionId> changing() {
        return change.changing();
    }

    public int gpus() {
        return grant.gpus();
    }

    public boolean isOver() {
        return work.phase().isOver();
    }

    /** Whether no plan may give it GPUs: it can never run, or cannot end by its hard deadline. */
    public boolean isRefused() {
        return admission.isPresent() && !admission.get().admitted();
    }

    /** Whether it runs already, as its owner says, and is not taken over yet: no plan starts it. */
    public boolean awaitsAdoption() {
        return spec.adopt().isPresent() && usage.startedAt().isEmpty();
    }

    /** Whether what runs on its GPUs was taken over as it ran, also if its owner declares nothing of that any more. */
    public boolean isTakenOver() {
        return grant.origin() == JobOrigin.ADOPTED
                || (grant.origin() == JobOrigin.UNKNOWN && spec.adopt().isPresent());
    }

    /** The same after the decision that takes over what runs on its GPUs. */
    public JobState takenOver() {
        return with(grant.from(JobOrigin.ADOPTED), change, usage);
    }

    /** Whether no plan starts it: it runs already and is not taken over yet, or its program could not be run. */
    public boolean isHeldBack() {
        return awaitsAdoption() || (gpus() == 0 && waitsForProgram());
    }

    /** Whether its program could not be run a short time ago, so that it gets no further GPUs now. */
    public boolean waitsForProgram() {
        return change.fault().filter(ProgramFault::waits).isPresent();
    }

    /** The same with another fault of its program, or none. */
    public JobState with(Optional<ProgramFault> fault) {
        return with(grant, change.with(fault), usage);
    }

    /** The same after it could not be taken over: as if that had never been tried, but for the number of its GPUs. */
    public JobState notAdopted() {
        return with(
                new JobGrant(Allocation.suspended(Mechanism.RESTART), Optional.empty(), List.of()),
                change.undone(gpus()),
                JobUsage.none(spec.submittedAt()));
    }

    /** Whether it trains on a MIG instance, or is about to. */
    public boolean isOnSlice() {
        return grant.sliceShare().isPresent();
    }

    public GoodputModel model() {
        return goodput.ofProfile().model();
    }

    public Duration age(Instant now) {
        Duration age = Duration.between(spec.submittedAt(), now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /** GPU time given to it up to {@code now}, in GPU-seconds. */
    public double attainedBy(Instant now) {
        return usage.attainedBy(now, grant);
    }

    public JobState aiming(List<GpuId> next) {
        return with(grant.aiming(next), change, usage);
    }

    /** With the answer to its hard deadline or its size. A refused job waits for no GPUs. */
    public JobState answered(Admission answer) {
        return with(answer.admitted() ? grant : grant.aiming(allocation().gpus()), Optional.of(answer));
    }

    /** Without an answer: an operator has approved GPUs for it. */
    public JobState unanswered() {
        return with(grant, Optional.empty());
    }

    private JobState with(JobGrant held, Optional<Admission> answer) {
        return new JobState(
                spec, work, learned, held, change, usage, lastProgressAt, standing, answer, lastEvent, goodput);
    }

    public JobState standing(QueuePosition next) {
        return new JobState(
                spec,
                work,
                learned,
                grant,
                change,
                usage,
                lastProgressAt,
                Optional.of(next),
                admission,
                lastEvent,
                goodput);
    }

    /**
     * With a new allocation, decided now and not yet in force.
     *
     * @param share of a GPU, where the allocation is a MIG instance
     */
    public JobState allocated(
            Allocation next, Optional<Double> share, DecisionId decision, Instant deadline, Instant now) {
        JobUsage counted = usage.counted(now, grant);
        boolean others = !next.gpus().equals(allocation().gpus());
        return with(
                grant.holding(next, share),
                change.next(decision, gpus(), deadline),
                next.gpus().isEmpty() ? counted : counted.given(now, others));
    }

    /** The same where some actuators together carry the last change out; the same state if none is named. */
    public JobState awaiting(List<String> actuators) {
        if (actuators.isEmpty()) {
            return this;
        }
        return with(grant, change.awaiting(actuators), usage);
    }

    /** The same after an actuator has done its part of the last change. */
    public JobState doneBy(String actuator) {
        return with(grant, change.doneBy(actuator), usage);
    }

    /** The same after the decision that it leaves its GPUs and stays in host memory. */
    public JobState pausing(PausedAt at) {
        return with(grant.paused(Optional.of(at)), change, usage);
    }

    /** The same if nothing of it is in host memory any more: its node is lost, or its pause failed. */
    public JobState notPaused() {
        return with(grant.paused(Optional.empty()), change, usage);
    }

    /** The same in which two units stand for each other. */
    public JobState exchanging(GpuId one, GpuId other) {
        return with(grant.exchanging(one, other), change, usage);
    }

    /** With GPUs that left it without a decision of ours: a fault, or a lease that ran out. */
    public JobState without(List<GpuId> lost, Instant now) {
        return with(grant.without(lost), change, usage.counted(now, grant));
    }

    /**
     * Its last change is in force.
     *
     * @param pause how long it did not train for that, where it was measured
     */
    public JobState settled(Optional<Duration> pause) {
        boolean inPlace = change.changedFrom() > 0 && allocation().mechanism() == Mechanism.AFE;
        RescaleCosts costs = pause.filter(any -> gpus() > 0 && allocation().mechanism() != Mechanism.PAUSE)
                .map(measured -> learned.costs().with(measured, inPlace))
                .orElse(learned.costs());
        return with(grant.settled(), change.settled(), usage).with(learned.with(costs));
    }

    /**
     * With a new description by its owner. Measurements are kept unless the owner's declaration changes. Another
     * description needs another answer. A refused job stays refused until then. A fault of its program is forgotten.
     */
    public JobState described(TrainingJob next, long event) {
        LearnedTraits traits = learned.redeclared(spec, next);
        JobGrant known = grant.from(isTakenOver() ? JobOrigin.ADOPTED : JobOrigin.LENDSTREAM);
        return new JobState(
                next,
                work,
                traits,
                next.adopt().isPresent() && usage.startedAt().isEmpty() ? known.aiming(List.of()) : known,
                next.equals(spec) ? change : change.with(Optional.empty()),
                usage,
                lastProgressAt,
                standing,
                next.equals(spec)
                        ? admission
                        : admission.filter(any -> isRefused()).map(Admission::toEarlier),
                event,
                goodput.with(next, traits));
    }

    /**
     * With a report. If it is the first with the total work of a waiting job that was admitted to a hard deadline, the
     * job needs another answer.
     */
    public JobState observed(TrainingProgress said, long event, FitRule rule) {
        LearnedTraits traits = learnedFrom(said, rule);
        JobWork after = work.after(said);
        boolean isWorkNew =
                work.totalProgress().isEmpty() && after.totalProgress().isPresent();
        boolean keepsAnswer = !isWorkNew || isRefused() || gpus() > 0;
        return new JobState(
                spec,
                after,
                traits,
                hasLostItsPause(said) ? grant.paused(Optional.empty()) : grant,
                change,
                said.phase() == JobPhase.RUNNING
                        ? usage.running(said.parallelism().replicas())
                        : usage,
                Optional.of(said.at()),
                standing,
                keepsAnswer ? admission : Optional.empty(),
                event,
                goodput.with(spec, traits));
    }

    /**
     * Whether a report says that nothing of a paused job is in host memory any more. One that is over stays there until
     * its actuator knows that.
     */
    private boolean hasLostItsPause(TrainingProgress said) {
        return said.phase() == JobPhase.QUEUED
                && changing().isEmpty()
                && grant.paused().isPresent();
    }

    private JobState with(JobGrant held, LastChange last, JobUsage used) {
        return new JobState(
                spec, work, learned, held, last, used, lastProgressAt, standing, admission, lastEvent, goodput);
    }

    private LearnedTraits learnedFrom(TrainingProgress said, FitRule rule) {
        LearnedTraits traits = learned;
        if (said.phase() == JobPhase.RUNNING && !mayBeOfSlice()) {
            traits = measured(said)
                    .map(step -> ApplicationPrior.rebased(spec, learned, step)
                            .orElse(learned)
                            .with(step, said.kind(), spec.kindNeeds(), rule))
                    .orElse(learned);
        }
        TrainingProgress.GradientStatistics gradient = said.gradient();
        if (gradient.gradientSquared().isPresent()
                && gradient.gradientVariance().isPresent()) {
            traits = traits.with(new GradientNoise(
                    gradient.gradientSquared().get(),
                    gradient.gradientVariance().get()));
        }
        return traits;
    }

    /** The training step that a report measured; empty if it reports none, or one that cannot be. */
    private static Optional<StepObservation> measured(TrainingProgress report) {
        TrainingProgress.Parallelism run = report.parallelism();
        if (run.nodes() < 1 || run.replicas() < run.nodes() || run.localBatch() < 1) {
            return Optional.empty();
        }
        double step = report.timing().stepSeconds().orElse(0.0);
        double sync = report.timing().syncSeconds().orElse(0.0);
        return step > 0 && sync <= step
                ? Optional.of(new StepObservation(run.nodes(), run.replicas(), run.localBatch(), step, sync))
                : Optional.empty();
    }

    /** Whether its reported steps may be from a MIG instance, which gives no speed on GPUs. */
    private boolean mayBeOfSlice() {
        return isOnSlice() || (spec.sliceMemoryBytes().isPresent() && changing().isPresent());
    }
}
