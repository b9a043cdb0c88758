package io.lendstream.core.policy.placement;

import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import java.util.ArrayList;
import java.util.List;

/** The sizes of one job that a plan weighed, each with the best sizes of the others. */
public final class WeighedSizes {
    private final double[] mine;
    private final List<double[]> others;
    private final int capacity;
    private final int chosen;

    /**
     * The sizes of the job at a place.
     *
     * @param values what each size is worth, by job; from 0 GPUs
     * @param capacity GPUs that they share
     */
    public WeighedSizes(List<double[]> values, int capacity, int place) {
        this.mine = values.get(place);
        this.others = new ArrayList<>(values);
        this.others.remove(place);
        this.capacity = capacity;
        this.chosen = GroupKnapsack.choose(values, capacity)[place];
    }

    /** The sum of all values if the job has a size that is worth so much. */
    public double sumWith(int size, double value) {
        int[] sizes = GroupKnapsack.choose(others, capacity - size);
        double sum = 0;
        for (int i = 0; i < sizes.length; i++) {
            sum += others.get(i)[sizes[i]];
        }
        return value + sum;
    }

    /**
     * The possible sizes, for {@code explain}.
     *
     * @param sum what the sum of values is, such as {@code sum of speeds}
     * @param measure the same as the unit of scores
     */
    public List<Alternative> alternatives(JobId job, String sum, String measure) {
        double best = sumWith(chosen, mine[chosen]);
        List<Alternative> sizes = new ArrayList<>();
        for (int size = 0; size < mine.length; size++) {
            if (mine[size] != Double.NEGATIVE_INFINITY) {
                double reached = sumWith(size, mine[size]);
                String why = size == chosen
                        ? "the " + sum + " over all jobs is highest"
                        : "the %s over all jobs would be %.3f lower".formatted(sum, Math.max(0, best - reached));
                sizes.add(new Alternative(job, List.of(), size, reached, measure, size == chosen, why));
            }
        }
        return sizes;
    }
}
