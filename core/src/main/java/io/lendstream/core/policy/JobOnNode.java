package io.lendstream.core.policy;

/**
 * A job as a policy sees it where no actuator runs a job on several nodes.
 *
 * @param mostGpus the GPUs of the largest node
 */
public record JobOnNode(JobView whole, int mostGpus) implements WrappedJob {
    @Override
    public int maxGpus() {
        return Math.max(whole.minGpus(), Math.min(whole.maxGpus(), mostGpus));
    }
}
