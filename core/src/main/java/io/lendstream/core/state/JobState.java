package io.lendstream.core.state;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KnownGoodput;
import io.lendstream.core.goodput.LearnedSpeed;
import io.lendstream.core.goodput.StepObservation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.persistent.Derived;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A training job and what was decided for it.
 *
 * @param progress work done, in iterations at the initial batch
 * @param totalProgress work to be done in all, once the job has told
 * @param speed what is known of its step times: what its owner declared, and what was measured
 * @param noise gradient noise as last measured
 * @param costs of changing its GPUs: what its owner declared, and what was measured
 * @param allocation as last decided: GPUs that it holds or is about to
 * @param sliceShare where that is a MIG instance, the share of a GPU that it is
 * @param target GPUs that the plan wants it to hold; equals the allocation's when nothing is to change
 * @param changing the decision that is being carried out for it, if any
 * @param changedFrom GPUs that it trained on before that
 * @param changeDeadline until when {@code changing} has to be in force; after it nobody waits for it any more
 * @param largestRun most GPUs it has trained on so far
 * @param changes how often its GPUs were changed after its first start
 * @param attainedGpuSeconds GPU time it has been given up to {@code attainedUpTo}
 * @param startedAt when it was first given GPUs
 * @param standing where it stands with a policy that serves jobs in queues; none before its first plan
 * @param lastEvent the event that last told of it
 * @param goodput what follows from speed, noise and batch
 */
public record JobState(
        TrainingJob spec,
        JobPhase phase,
        double progress,
        Optional<Double> totalProgress,
        LearnedSpeed speed,
        GradientNoise noise,
        RescaleCosts costs,
        Allocation allocation,
        Optional<Double> sliceShare,
        List<GpuId> target,
        Optional<DecisionId> changing,
        int changedFrom,
        Instant changeDeadline,
        int largestRun,
        int changes,
        double attainedGpuSeconds,
        Instant attainedUpTo,
        Optional<Instant> startedAt,
        Optional<Instant> lastProgressAt,
        Optional<QueuePosition> standing,
        long lastEvent,
        @Derived KnownGoodput goodput) {
    public JobState {
        target = target.stream().sorted().toList();
    }

    /** A state whose goodput nobody has asked for yet. */
    public JobState(
            TrainingJob spec,
            JobPhase phase,
            double progress,
            Optional<Double> totalProgress,
            LearnedSpeed speed,
            GradientNoise noise,
            RescaleCosts costs,
            Allocation allocation,
            Optional<Double> sliceShare,
            List<GpuId> target,
            Optional<DecisionId> changing,
            int changedFrom,
            Instant changeDeadline,
            int largestRun,
            int changes,
            double attainedGpuSeconds,
            Instant attainedUpTo,
            Optional<Instant> startedAt,
            Optional<Instant> lastProgressAt,
            Optional<QueuePosition> standing,
            long lastEvent) {
        this(
                spec,
                phase,
                progress,
                totalProgress,
                speed,
                noise,
                costs,
                allocation,
                sliceShare,
                target,
                changing,
                changedFrom,
                changeDeadline,
                largestRun,
                changes,
                attainedGpuSeconds,
                attainedUpTo,
                startedAt,
                lastProgressAt,
                standing,
                lastEvent,
                new KnownGoodput(new GoodputModel(speed.parameters(), noise, spec.batch())));
    }

    public static JobState of(TrainingJob spec, long event) {
        return new JobState(
                spec,
                JobPhase.QUEUED,
                0,
                Optional.empty(),
                LearnedSpeed.declared(spec.profile().throughput()),
                spec.profile().noise(),
                spec.costs(),
                Allocation.suspended(Mechanism.RESTART),
                Optional.empty(),
                List.of(),
                Optional.empty(),
                0,
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

    /** Whether it trains on a MIG instance, or is about to. */
    public boolean isOnSlice() {
        return sliceShare.isPresent();
    }

    public GoodputModel model() {
        return goodput.model();
    }

    public Duration age(Instant now) {
        Duration age = Duration.between(spec.submittedAt(), now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /** GPU time given to it up to {@code now}, in GPU-seconds. */
    public double attainedBy(Instant now) {
        double more = Math.max(0, Limits.millis(Duration.between(attainedUpTo, now)) / 1000.0);
        return attainedGpuSeconds + more * gpus() * sliceShare.orElse(1.0);
    }

    public JobState aiming(List<GpuId> next) {
        Next state = new Next(this);
        state.target = next;
        return state.state();
    }

    public JobState standing(QueuePosition next) {
        Next state = new Next(this);
        state.standing = Optional.of(next);
        return state.state();
    }

    /**
     * With a new allocation, decided now and not yet in force.
     *
     * @param share of a GPU, where the allocation is a MIG instance
     */
    public JobState allocated(
            Allocation next, Optional<Double> share, DecisionId decision, Instant deadline, Instant now) {
        Next state = new Next(this);
        if (!next.gpus().isEmpty()) {
            state.changes += startedAt.isPresent() && !next.gpus().equals(allocation.gpus()) ? 1 : 0;
            state.startedAt = startedAt.or(() -> Optional.of(now));
        }
        state.changedFrom = changing.isPresent() ? changedFrom : gpus();
        state.holding(next, share, now);
        state.changing = Optional.of(decision);
        state.changeDeadline = deadline;
        return state.state();
    }

    /** With GPUs that left it without a decision of ours: a fault, or a lease that ran out. */
    public JobState without(List<GpuId> lost, Instant now) {
        List<GpuId> rest =
                allocation.gpus().stream().filter(gpu -> !lost.contains(gpu)).toList();
        Next state = new Next(this);
        state.holding(
                rest.isEmpty()
                        ? Allocation.suspended(allocation.mechanism())
                        : new Allocation(
                                rest,
                                allocation.localBatch(),
                                allocation.accumulation(),
                                allocation.learningRateScale(),
                                allocation.mechanism()),
                rest.isEmpty() ? Optional.empty() : sliceShare,
                now);
        state.target = target.stream().filter(gpu -> !lost.contains(gpu)).toList();
        return state.state();
    }

    /**
     * Its last change is in force.
     *
     * @param pause how long it did not train for that, where it was measured
     */
    public JobState settled(Optional<Duration> pause) {
        Next state = new Next(this);
        state.changing = Optional.empty();
        boolean inPlace = changedFrom > 0 && allocation.mechanism() == Mechanism.AFE;
        pause.filter(any -> gpus() > 0).ifPresent(measured -> state.costs = costs.with(measured, inPlace));
        return state.state();
    }

    /** As its owner describes it now. What was measured holds on, unless the owner declares something else. */
    public JobState described(TrainingJob next, long event) {
        Next state = new Next(this);
        state.spec = next;
        if (!next.profile().throughput().equals(spec.profile().throughput())) {
            state.speed = LearnedSpeed.declared(next.profile().throughput());
        }
        if (!next.costs().equals(spec.costs())) {
            state.costs = next.costs();
        }
        state.lastEvent = event;
        return state.state();
    }

    public JobState observed(TrainingProgress said, long event) {
        Next state = new Next(this);
        if (said.phase() != JobPhase.UNKNOWN) {
            state.phase = said.phase();
        }
        if (said.phase() == JobPhase.RUNNING) {
            state.largestRun = Math.max(largestRun, said.replicas());
            if (!mayBeOfSlice()) {
                measured(said).ifPresent(step -> state.speed = speed.with(step));
            }
        }
        if (said.gradientSquared().isPresent() && said.gradientVariance().isPresent()) {
            state.noise = new GradientNoise(
                    said.gradientSquared().get(), said.gradientVariance().get());
        }
        state.progress = Math.max(progress, said.progress());
        state.totalProgress = said.totalProgress().or(() -> totalProgress);
        state.lastProgressAt = Optional.of(said.at());
        state.lastEvent = event;
        return state.state();
    }

    /** The training step that a report measured; empty if it reports none, or one that cannot be. */
    private static Optional<StepObservation> measured(TrainingProgress report) {
        if (report.nodes() < 1 || report.replicas() < report.nodes() || report.localBatch() < 1) {
            return Optional.empty();
        }
        double step = report.stepSeconds().orElse(0.0);
        double sync = report.syncSeconds().orElse(0.0);
        return step > 0 && sync <= step
                ? Optional.of(new StepObservation(report.nodes(), report.replicas(), report.localBatch(), step, sync))
                : Optional.empty();
    }

    /** Whether what it says of its steps may be of a MIG instance, which tells nothing of its speed on GPUs. */
    private boolean mayBeOfSlice() {
        return isOnSlice() || (spec.sliceMemoryBytes().isPresent() && changing.isPresent());
    }

    /** A job's next state in the making. */
    private static final class Next {
        private TrainingJob spec;
        private JobPhase phase;
        private double progress;
        private Optional<Double> totalProgress;
        private LearnedSpeed speed;
        private GradientNoise noise;
        private RescaleCosts costs;
        private Allocation allocation;
        private Optional<Double> sliceShare;
        private List<GpuId> target;
        private Optional<DecisionId> changing;
        private int changedFrom;
        private Instant changeDeadline;
        private int largestRun;
        private int changes;
        private double attainedGpuSeconds;
        private Instant attainedUpTo;
        private Optional<Instant> startedAt;
        private Optional<Instant> lastProgressAt;
        private Optional<QueuePosition> standing;
        private long lastEvent;
        private final KnownGoodput known;

        Next(JobState now) {
            spec = now.spec;
            phase = now.phase;
            progress = now.progress;
            totalProgress = now.totalProgress;
            speed = now.speed;
            noise = now.noise;
            costs = now.costs;
            allocation = now.allocation;
            sliceShare = now.sliceShare;
            target = now.target;
            changing = now.changing;
            changedFrom = now.changedFrom;
            changeDeadline = now.changeDeadline;
            largestRun = now.largestRun;
            changes = now.changes;
            attainedGpuSeconds = now.attainedGpuSeconds;
            attainedUpTo = now.attainedUpTo;
            startedAt = now.startedAt;
            lastProgressAt = now.lastProgressAt;
            standing = now.standing;
            lastEvent = now.lastEvent;
            known = now.goodput;
        }

        /** Holds something else from now on; the time with what it held so far is counted. */
        void holding(Allocation next, Optional<Double> share, Instant now) {
            double seconds = Math.max(0, Limits.millis(Duration.between(attainedUpTo, now)) / 1000.0);
            attainedGpuSeconds += seconds * allocation.gpus().size() * sliceShare.orElse(1.0);
            attainedUpTo = now;
            allocation = next;
            sliceShare = share;
        }

        JobState state() {
            var model = new GoodputModel(speed.parameters(), noise, spec.batch());
            return new JobState(
                    spec,
                    phase,
                    progress,
                    totalProgress,
                    speed,
                    noise,
                    costs,
                    allocation,
                    sliceShare,
                    target,
                    changing,
                    changedFrom,
                    changeDeadline,
                    largestRun,
                    changes,
                    attainedGpuSeconds,
                    attainedUpTo,
                    startedAt,
                    lastProgressAt,
                    standing,
                    lastEvent,
                    known.model().equals(model) ? known : new KnownGoodput(model));
        }
    }
}
