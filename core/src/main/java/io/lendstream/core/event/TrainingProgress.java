package io.lendstream.core.event;

import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.Flat;
import java.time.Instant;
import java.util.Optional;

/**
 * A progress report of a training job.
 *
 * @param progress work done, in iterations at the initial batch size
 * @param totalProgress work to be done in all, in iterations at the initial batch size, where known
 * @param kind the kind of GPU that its step was measured on, where known
 */
public record TrainingProgress(
        JobId job,
        DomainId domain,
        Instant at,
        JobPhase phase,
        double progress,
        Optional<Double> totalProgress,
        @Flat Parallelism parallelism,
        @Flat StepTiming timing,
        @Flat GradientStatistics gradient,
        Optional<KindId> kind)
        implements Event {
    /** A report that does not name the kind of GPU. */
    public TrainingProgress(
            JobId job,
            DomainId domain,
            Instant at,
            JobPhase phase,
            double progress,
            Optional<Double> totalProgress,
            Parallelism parallelism,
            StepTiming timing,
            GradientStatistics gradient) {
        this(job, domain, at, phase, progress, totalProgress, parallelism, timing, gradient, Optional.empty());
    }

    public TrainingProgress {
        Checks.notNegative("progress", progress);
        Checks.notNegative("totalProgress", totalProgress);
    }

    /**
     * The GPUs of the job, each of which computes its share of a batch.
     *
     * @param nodes nodes it runs on; 0 while it does not run
     * @param replicas GPUs it runs on; 0 while it does not run
     * @param localBatch batch of one replica and step, in samples
     * @param accumulation gradient accumulation steps before a synchronised one
     */
    public record Parallelism(int nodes, int replicas, int localBatch, int accumulation) {
        /** Of a job that does not run. */
        public static final Parallelism NONE = new Parallelism(0, 0, 0, 0);

        public Parallelism {
            Checks.atLeast("nodes", 0, nodes);
            Checks.atLeast("replicas", 0, replicas);
            Checks.atLeast("localBatch", 0, localBatch);
            Checks.atLeast("accumulation", 0, accumulation);
        }
    }

    /**
     * How long a step takes.
     *
     * @param stepSeconds time of a synchronised step, synchronisation included
     * @param syncSeconds part of it spent waiting for synchronisation
     */
    public record StepTiming(Optional<Double> stepSeconds, Optional<Double> syncSeconds) {
        /** Of a job that does not run, or does not measure its steps. */
        public static final StepTiming NOT_MEASURED = new StepTiming(Optional.empty(), Optional.empty());

        public StepTiming {
            Checks.notNegative("stepSeconds", stepSeconds);
            Checks.notNegative("syncSeconds", syncSeconds);
        }
    }

    /**
     * How much gradients scatter, from which the gradient noise scale follows.
     *
     * @param gradientSquared squared norm of the mean gradient
     * @param gradientVariance variance of the gradient of one sample batch of the initial size
     */
    public record GradientStatistics(Optional<Double> gradientSquared, Optional<Double> gradientVariance) {
        /** Of a job that does not run, or does not measure its gradients. */
        public static final GradientStatistics NOT_MEASURED =
                new GradientStatistics(Optional.empty(), Optional.empty());

        public GradientStatistics {
            Checks.notNegative("gradientSquared", gradientSquared);
            Checks.notNegative("gradientVariance", gradientVariance);
        }
    }

    /** The same report, of a step on this kind of GPU. */
    public TrainingProgress on(Optional<KindId> other) {
        return kind.equals(other)
                ? this
                : new TrainingProgress(
                        job, domain, at, phase, progress, totalProgress, parallelism, timing, gradient, other);
    }

    /** The same report without a step. */
    public TrainingProgress withoutStep() {
        return new TrainingProgress(
                job,
                domain,
                at,
                phase,
                progress,
                totalProgress,
                parallelism,
                StepTiming.NOT_MEASURED,
                gradient,
                Optional.empty());
    }

    @Override
    public <T> T match(Cases<T> cases) {
        return cases.progress(this);
    }
}
