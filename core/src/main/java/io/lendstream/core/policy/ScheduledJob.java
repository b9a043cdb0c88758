package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.Admission;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A job as the scheduler knows it. Most policies ask little of most jobs, so that nothing is worked out before it is
 * asked for.
 *
 * @param now when it is looked at
 * @param afe whether it is changed in place
 * @param on the kinds of GPU in the view
 * @param learns whether measured costs replace published constants
 */
public record ScheduledJob(JobState state, Instant now, int gpusPerNode, boolean afe, Kinds on, boolean learns)
        implements JobView {
    /** For policies with published constants. */
    public ScheduledJob(JobState state, Instant now, int gpusPerNode, boolean afe, Kinds on) {
        this(state, now, gpusPerNode, afe, on, false);
    }

    /**
     * The kinds of GPU that a job is seen on.
     *
     * @param kind the kind whose speed counts; empty for that of its profile
     * @param gpus how many GPUs of each kind there are, where a policy chooses kinds; empty otherwise
     */
    public record Kinds(Optional<KindId> kind, Map<KindId, Integer> gpus) {
        /** Kinds are not told apart. */
        public static final Kinds ALIKE = new Kinds(Optional.empty(), Map.of());

        /** Of one kind, which no policy chose. */
        public static Kinds of(Optional<KindId> kind) {
            return kind.isEmpty() ? ALIKE : new Kinds(kind, Map.of());
        }
    }

    @Override
    public JobId job() {
        return state.spec().job();
    }

    @Override
    public Instant submittedAt() {
        return state.spec().submittedAt();
    }

    @Override
    public int requestedGpus() {
        return state.spec().scaling().requestedGpus();
    }

    @Override
    public int minGpus() {
        return state.spec().scaling().minGpus();
    }

    @Override
    public int maxGpus() {
        int byBatch = Math.max(
                1,
                state.spec().traits().batch().max()
                        / state.spec().traits().batch().localMin());
        return Math.max(minGpus(), Math.min(state.spec().scaling().maxGpus(), byBatch));
    }

    @Override
    public boolean elastic() {
        return state.spec().scaling().elastic();
    }

    @Override
    public List<GpuId> gpus() {
        return state.isOnSlice() ? List.of() : state.allocation().gpus();
    }

    @Override
    public boolean onInstance() {
        return state.isOnSlice();
    }

    @Override
    public int largestRun() {
        return state.usage().largestRun();
    }

    @Override
    public int changes() {
        return state.usage().changes();
    }

    @Override
    public double attainedGpuSeconds() {
        return state.attainedBy(now);
    }

    @Override
    public Optional<Goodput> goodput() {
        return Optional.of(new ModelGoodput(state.goodput().on(on.kind)));
    }

    @Override
    public Optional<Goodput> usualGoodput() {
        return on.gpus.isEmpty() ? goodput() : Optional.of(this::mean);
    }

    /** The mean over the GPUs of all kinds that it may use. */
    private double mean(int nodes, int replicas) {
        double sum = 0;
        int all = 0;
        for (Map.Entry<KindId, Integer> kind : on.gpus.entrySet()) {
            if (!state.spec().excludes(kind.getKey())) {
                sum += kind.getValue() * state.goodput().on(kind.getKey()).on(nodes, replicas);
                all += kind.getValue();
            }
        }
        return all > 0 ? sum / all : 0;
    }

    @Override
    public Pace pace() {
        return new ModelPace(
                state.goodput().on(on.kind),
                gpusPerNode,
                state.progress(),
                state.work().totalProgress());
    }

    @Override
    public boolean isSpeedKnown() {
        return !learns || !state.isSpeedUnknown();
    }

    @Override
    public Optional<QueuePosition> standing() {
        return state.standing();
    }

    @Override
    public RescaleCosts costs() {
        RescaleCosts costs = state.paused().isPresent() ? state.costs().whilePaused() : state.costs();
        return afe ? costs : costs.withoutAfe();
    }

    @Override
    public Optional<Duration> measuredChange() {
        boolean isMeasured =
                learns && !state.costs().equals(state.spec().traits().costs());
        RescaleCosts costs = state.costs();
        return isMeasured ? Optional.of(afe ? costs.next() : costs.first()) : Optional.empty();
    }

    @Override
    public Optional<Deadline> deadline() {
        TrainingJob.Precedence precedence = state.spec().precedence();
        int share = state.admission().map(Admission::share).orElse(0);
        return precedence.deadline().map(at -> new Deadline(at, precedence.deadlineKind(), share));
    }
}
