package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A job as a policy sees it where no actuator runs a job on several nodes.
 *
 * @param mostGpus the GPUs of the largest node
 */
public record JobOnNode(JobView whole, int mostGpus) implements JobView {
    @Override
    public JobId job() {
        return whole.job();
    }

    @Override
    public Instant submittedAt() {
        return whole.submittedAt();
    }

    @Override
    public int requestedGpus() {
        return whole.requestedGpus();
    }

    @Override
    public int minGpus() {
        return whole.minGpus();
    }

    @Override
    public int maxGpus() {
        return Math.max(whole.minGpus(), Math.min(whole.maxGpus(), mostGpus));
    }

    @Override
    public boolean elastic() {
        return whole.elastic();
    }

    @Override
    public List<GpuId> gpus() {
        return whole.gpus();
    }

    @Override
    public boolean onInstance() {
        return whole.onInstance();
    }

    @Override
    public int largestRun() {
        return whole.largestRun();
    }

    @Override
    public int changes() {
        return whole.changes();
    }

    @Override
    public double attainedGpuSeconds() {
        return whole.attainedGpuSeconds();
    }

    @Override
    public Optional<Goodput> goodput() {
        return whole.goodput();
    }

    @Override
    public Optional<Goodput> usualGoodput() {
        return whole.usualGoodput();
    }

    @Override
    public Pace pace() {
        return whole.pace();
    }

    @Override
    public Optional<QueuePosition> standing() {
        return whole.standing();
    }

    @Override
    public Optional<Deadline> deadline() {
        return whole.deadline();
    }

    @Override
    public RescaleCosts costs() {
        return whole.costs();
    }
}
