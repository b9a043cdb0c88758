package io.lendstream.core.lending;

import io.lendstream.core.afe.RescaleCosts;
import java.time.Duration;
import java.util.List;

/**
 * The ceiling that other policies are measured against: knows how much work every job still has before it and how fast it is on
 * any number of GPUs, and favours what is over soon.
 *
 * <p>Maximises the sum of speedups over one GPU, each weighed by {@code 1 / T^soonest}, where {@code T} is the time that remains
 * on one GPU: at 0 only speed counts, at 1 the rate at which jobs finish. A change of GPUs is worth only what is left of the
 * {@code payback}, or of the job if that is shorter, after the pause it costs; a start is taken to cost nothing, for it cannot be
 * avoided. So a young job is not bound to a few GPUs, and may go from one to all in one step.
 *
 * <p>What it takes for truth: the total work that a job reports of itself, as all jobs of a replay do from their submission, less
 * what it has done; and the job's goodput model with the gradient noise last measured. Epochs still to come, whose noise differs,
 * are the one thing hidden from it. For a job that reports no total, as much is taken to lie before it as behind it. Demand is
 * served as it comes: a policy sees no future demand, and plans every few seconds instead. It is a strong heuristic, not a proven
 * bound.
 *
 * @param soonest how much more jobs count that are over soon; 0 to 1
 * @param payback within which a change has to pay
 * @param planEvery how often training is planned
 * @see <a href="https://dl.acm.org/doi/10.1145/321296.321304">Schrage and Miller, 1966: shortest remaining time first</a>
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, on goodput and restarts</a>
 */
public record Clairvoyant(double soonest, Duration payback, Duration planEvery) implements Policy {
    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "clairvoyant",
                "the ceiling: knows remaining work and speed of all jobs, favours what is over soon, replans at once",
                true,
                true,
                false);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        List<JobView> jobs = cluster.open();
        int capacity = cluster.capacity();
        int[] sizes = GroupKnapsack.choose(
                jobs.stream().map(job -> values(job, capacity)).toList(), capacity);
        return Nearby.place(
                cluster,
                jobs,
                sizes,
                (job, size) -> "from %d to %d of %d GPUs for %d jobs: %.0f s remain on one"
                        .formatted(
                                job.gpus().size(),
                                size,
                                capacity,
                                jobs.size(),
                                job.pace().remainingSeconds(1)));
    }

    /** What a job is worth by its number of GPUs. */
    private double[] values(JobView job, int capacity) {
        double alone = job.pace().remainingSeconds(1);
        double weight = Math.pow(alone, -soonest);
        double[] values = new double[Math.min(capacity, job.most()) + 1];
        for (int w = 1; w < values.length; w++) {
            double remaining = job.pace().remainingSeconds(w);
            values[w] = w < job.least()
                    ? Double.NEGATIVE_INFINITY
                    : weight
                            * alone
                            / remaining
                            * leftAfterChange(job.costs(), job.gpus().size(), w, remaining);
        }
        return values;
    }

    /** Share of the payback time, or of the job, in which it trains after a change. */
    private double leftAfterChange(RescaleCosts costs, int from, int to, double remaining) {
        if (from == to || from == 0) {
            return 1;
        }
        double pause = costs.delay(from, to, true).toMillis() / 1000.0;
        double within = Math.min(payback.toMillis() / 1000.0, remaining + pause);
        return Math.max(0, 1 - pause / within);
    }

    @Override
    public String spec() {
        return "clairvoyant:soonest=" + soonest + ":payback=" + payback.toSeconds() + "s:plan-every="
                + planEvery.toSeconds() + "s";
    }
}
