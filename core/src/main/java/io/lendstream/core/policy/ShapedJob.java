package io.lendstream.core.policy;

import io.lendstream.core.event.JobShape;
import java.util.BitSet;
import java.util.Optional;

/**
 * A job that may not have each number of GPUs in its range. Its least, its most and its requested number are numbers
 * that it may have. If there is none, it asks for more GPUs than any cluster has, so that each policy lets it wait.
 */
public final class ShapedJob implements WrappedJob {
    /** The number of GPUs that a job asks for if it may have none of the numbers that there are. */
    public static final int NO_SIZE = 1_000_000;

    private final JobView whole;
    private final JobShape shape;
    private final JobSite site;
    /** The numbers of GPUs that nodes can give it; empty if all. */
    private final Optional<BitSet> possible;

    private final int least;
    private final int most;

    /**
     * A job in a shape.
     *
     * @param possible the numbers of GPUs that nodes can give it; empty if all
     */
    public ShapedJob(JobView whole, JobShape shape, JobSite site, Optional<BitSet> possible) {
        this.whole = whole;
        this.shape = shape;
        this.site = site;
        this.possible = possible;
        this.least = whole.least();
        this.most = Math.max(least, whole.most());
    }

    @Override
    public JobView whole() {
        return whole;
    }

    /** Whether it may have some number of GPUs of the nodes that there are. */
    public boolean hasSize() {
        return up(least) < NO_SIZE;
    }

    /** The same job where nodes can give it no more GPUs than this number. */
    public ShapedJob upTo(int gpus) {
        BitSet sizes = new BitSet();
        for (int size = least; size <= Math.min(gpus, most); size++) {
            sizes.set(size, isPossible(size));
        }
        return new ShapedJob(whole, shape, site, Optional.of(sizes));
    }

    @Override
    public boolean isShaped() {
        return true;
    }

    @Override
    public boolean allows(int gpus) {
        return gpus == 0 || (gpus >= least && gpus <= most && isPossible(gpus));
    }

    private boolean isPossible(int gpus) {
        return shape.allows(gpus) && (possible.isEmpty() || possible.get().get(gpus));
    }

    @Override
    public int next(int gpus) {
        return up(Math.max(least, gpus + 1));
    }

    @Override
    public int fit(int gpus) {
        int size = Math.max(0, Math.min(gpus, most));
        if (possible.isEmpty()) {
            size = shape.atMost(size);
            return size >= least ? size : 0;
        }
        BitSet given = possible.get();
        for (size = given.previousSetBit(size); size >= least; size = given.previousSetBit(size - 1)) {
            if (shape.allows(size)) {
                return size;
            }
        }
        return 0;
    }

    /** The smallest allowed number of at least so many GPUs. */
    private int up(int gpus) {
        if (possible.isEmpty()) {
            int size = shape.atLeast(gpus);
            return size == 0 || size > most ? NO_SIZE : size;
        }
        BitSet given = possible.get();
        for (int size = given.nextSetBit(gpus); size >= 0 && size <= most; size = given.nextSetBit(size + 1)) {
            if (shape.allows(size)) {
                return size;
            }
        }
        return NO_SIZE;
    }

    @Override
    public Optional<JobSite> site() {
        return site.isFree() ? Optional.empty() : Optional.of(site);
    }

    @Override
    public int requestedGpus() {
        int fitting = fit(whole.requestedGpus());
        return fitting > 0 ? fitting : up(least);
    }

    @Override
    public int minGpus() {
        return elastic() ? up(least) : whole.minGpus();
    }

    @Override
    public int maxGpus() {
        if (!elastic()) {
            return whole.maxGpus();
        }
        int fitting = fit(most);
        return fitting > 0 ? fitting : NO_SIZE;
    }
}
