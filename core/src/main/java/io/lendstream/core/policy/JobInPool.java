package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A job as a policy sees it in a part of the cluster: it holds only its GPUs in that part.
 *
 * @param gpus those of its GPUs that are in the part
 */
public record JobInPool(JobView whole, List<GpuId> gpus) implements JobView {
    public JobInPool {
        gpus = List.copyOf(gpus);
    }

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
        return whole.maxGpus();
    }

    @Override
    public boolean elastic() {
        return whole.elastic();
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
    public RescaleCosts costs() {
        return whole.costs();
    }

    @Override
    public Optional<Deadline> deadline() {
        return whole.deadline();
    }

    @Override
    public boolean isShaped() {
        return whole.isShaped();
    }

    @Override
    public boolean allows(int number) {
        return whole.allows(number);
    }

    @Override
    public int next(int number) {
        return whole.next(number);
    }

    @Override
    public int fit(int number) {
        return whole.fit(number);
    }

    @Override
    public Optional<JobSite> site() {
        return whole.site();
    }
}
