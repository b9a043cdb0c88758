package io.lendstream.simulator.published;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.GoodputModel;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Goodput;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.state.QueuePosition;
import io.lendstream.simulator.JobResult;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;

/** A rigid job of a list: it trains on the GPUs it asked for, in whole seconds, and not at all on fewer. */
final class ListedRun implements JobView {
    static final int NEVER = Integer.MAX_VALUE;

    private final int index;
    private final TrainingJob job;
    private final JobPhase end;
    private final int submitted;
    private final RescaleCosts costs;
    private final IntSupplier clock;

    /** Seconds of training that were left when it was last given GPUs. */
    private int left;

    private List<GpuId> gpus = List.of();
    private int allocated;
    private int trainsFrom;
    private int started = -1;
    private int completed = -1;
    private int restarts;
    private long attained;
    private long paused;
    private Optional<QueuePosition> standing = Optional.empty();

    /**
     * @param index its place in order of submission
     * @param end how it ends
     * @param submitted seconds after the start of the workload
     * @param seconds how long it trains
     * @param clock tells the second in which it is looked at
     */
    ListedRun(
            int index,
            TrainingJob job,
            JobPhase end,
            int submitted,
            int seconds,
            RescaleCosts costs,
            IntSupplier clock) {
        this.index = index;
        this.job = job;
        this.end = end;
        this.submitted = submitted;
        this.left = seconds;
        this.costs = costs;
        this.clock = clock;
    }

    int index() {
        return index;
    }

    int submitted() {
        return submitted;
    }

    /** The second it was done; -1 before. */
    int completed() {
        return completed;
    }

    long pausedGpuSeconds() {
        return paused;
    }

    JobResult result(Instant start) {
        return new JobResult(
                job.job(),
                job.application(),
                job.submittedAt(),
                Optional.of(start.plusSeconds(started)),
                Optional.of(start.plusSeconds(completed)),
                restarts,
                attained,
                1,
                end);
    }

    /** The second in which it will be done if nothing changes. */
    int doneAt() {
        return gpus.isEmpty() ? NEVER : trainsFrom + left;
    }

    /**
     * Gives it other GPUs, or none.
     *
     * @return the GPU-seconds for which it has trained on those that it had, until {@code measured}
     */
    double allocate(List<GpuId> next, int now, int pause, int measured) {
        double trained = gpus.isEmpty() ? 0 : stop(now, measured);
        gpus = List.copyOf(next);
        allocated = now;
        trainsFrom = now + pause;
        if (!gpus.isEmpty()) {
            restarts += started < 0 ? 0 : 1;
            started = started < 0 ? now : started;
        }
        return trained;
    }

    /** Ends it when its work is done; otherwise as {@link #allocate}. */
    double complete(int measured) {
        completed = doneAt();
        double trained = stop(completed, measured);
        gpus = List.of();
        return trained;
    }

    private double stop(int now, int measured) {
        int from = Math.min(now, trainsFrom);
        attained += (long) (now - allocated) * gpus.size();
        paused += (long) (from - allocated) * gpus.size();
        left -= now - from;
        return (double) Math.max(0, Math.min(now, measured) - from) * gpus.size();
    }

    void standing(QueuePosition next) {
        standing = Optional.of(next);
    }

    @Override
    public JobId job() {
        return job.job();
    }

    @Override
    public Instant submittedAt() {
        return job.submittedAt();
    }

    @Override
    public int requestedGpus() {
        return job.scaling().requestedGpus();
    }

    @Override
    public int minGpus() {
        return job.scaling().requestedGpus();
    }

    @Override
    public int maxGpus() {
        return job.scaling().requestedGpus();
    }

    @Override
    public boolean elastic() {
        return false;
    }

    @Override
    public List<GpuId> gpus() {
        return gpus;
    }

    @Override
    public int largestRun() {
        return started < 0 ? 0 : job.scaling().requestedGpus();
    }

    @Override
    public int changes() {
        return restarts;
    }

    @Override
    public double attainedGpuSeconds() {
        return attained + (double) (gpus.isEmpty() ? 0 : clock.getAsInt() - allocated) * gpus.size();
    }

    @Override
    public Optional<Goodput> goodput() {
        TrainingJob.Traits traits = job.traits();
        GoodputModel model =
                new GoodputModel(traits.profile().throughput(), traits.profile().noise(), traits.batch());
        return Optional.of((nodes, count) -> model.best(nodes, count).goodput());
    }

    /** A second an iteration, of a sample a GPU. */
    @Override
    public Pace pace() {
        return new Pace() {
            @Override
            public double iterationSeconds(int count) {
                return 1;
            }

            @Override
            public int iterationSamples(int count) {
                return count;
            }

            @Override
            public double remainingIterations() {
                return Math.max(1, left - (gpus.isEmpty() ? 0 : Math.max(0, clock.getAsInt() - trainsFrom)));
            }
        };
    }

    @Override
    public Optional<QueuePosition> standing() {
        return standing;
    }

    @Override
    public RescaleCosts costs() {
        return costs;
    }
}
