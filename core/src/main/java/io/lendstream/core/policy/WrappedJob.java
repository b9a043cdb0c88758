package io.lendstream.core.policy;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A job that policies see in another way: what a view does not change is as in the whole view. */
public interface WrappedJob extends JobView {
    /** The view without the change. */
    JobView whole();

    @Override
    default JobId job() {
        return whole().job();
    }

    @Override
    default Instant submittedAt() {
        return whole().submittedAt();
    }

    @Override
    default int requestedGpus() {
        return whole().requestedGpus();
    }

    @Override
    default int minGpus() {
        return whole().minGpus();
    }

    @Override
    default int maxGpus() {
        return whole().maxGpus();
    }

    @Override
    default boolean elastic() {
        return whole().elastic();
    }

    @Override
    default List<GpuId> gpus() {
        return whole().gpus();
    }

    @Override
    default boolean isSpeedKnown() {
        return whole().isSpeedKnown();
    }

    @Override
    default boolean onInstance() {
        return whole().onInstance();
    }

    @Override
    default int largestRun() {
        return whole().largestRun();
    }

    @Override
    default int changes() {
        return whole().changes();
    }

    @Override
    default double attainedGpuSeconds() {
        return whole().attainedGpuSeconds();
    }

    @Override
    default Optional<Goodput> goodput() {
        return whole().goodput();
    }

    @Override
    default Optional<Goodput> usualGoodput() {
        return whole().usualGoodput();
    }

    @Override
    default Pace pace() {
        return whole().pace();
    }

    @Override
    default Optional<QueuePosition> standing() {
        return whole().standing();
    }

    @Override
    default RescaleCosts costs() {
        return whole().costs();
    }

    @Override
    default Optional<Duration> measuredChange() {
        return whole().measuredChange();
    }

    @Override
    default Optional<Deadline> deadline() {
        return whole().deadline();
    }

    @Override
    default boolean isShaped() {
        return whole().isShaped();
    }

    @Override
    default Optional<JobSite> site() {
        return whole().site();
    }

    @Override
    default boolean allows(int number) {
        return whole().allows(number);
    }

    @Override
    default int next(int number) {
        return whole().next(number);
    }

    @Override
    default int fit(int number) {
        return whole().fit(number);
    }
}
