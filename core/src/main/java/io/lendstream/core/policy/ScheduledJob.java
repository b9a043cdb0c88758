package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A job as the scheduler knows it. Most policies ask little of most jobs, so that nothing is worked out before it is
 * asked for.
 *
 * @param now when it is looked at
 * @param afe whether it is changed in place
 */
public record ScheduledJob(JobState state, Instant now, int gpusPerNode, boolean afe) implements JobView {
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
        return Optional.of(state.goodput()::on);
    }

    @Override
    public Pace pace() {
        return new ModelPace(
                state.model(), gpusPerNode, state.progress(), state.work().totalProgress());
    }

    @Override
    public Optional<QueuePosition> standing() {
        return state.standing();
    }

    @Override
    public RescaleCosts costs() {
        return afe ? state.costs() : state.costs().withoutAfe();
    }
}
