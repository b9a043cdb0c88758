package io.lendstream.core.policy.published;

import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Pace;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.FreshPlacement;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Gives each job its least number of GPUs, and each further GPU to the job that it shortens most. It needs the run
 * times of jobs.
 *
 * <p>Follows the form for synchronous training in which the Pollux and DeepBoot evaluations compare with it: no
 * parameter servers, and the owner's batch.
 *
 * @see <a href="https://doi.org/10.1145/3190508.3190517">Optimus, EuroSys 2018, section 4.1</a>
 */
public record Optimus() implements ReclaimsByLeastLoss {
    private static final SizeReasons.SizeRule RULE = new SizeReasons.SizeRule(
            "jobs that need the fewest GPUs come first",
            "each further GPU goes to the job whose remaining time it shortens most");

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "optimus", "GPU by GPU to the job whose remaining time shrinks most by it", true, true, false);
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        List<JobView> jobs = cluster.open();
        SizeReasons reasons = new SizeReasons(cluster);
        int left = Math.min(cluster.waiting(), cluster.capacity());
        return FreshPlacement.place(
                cluster,
                jobs,
                sizes(jobs, cluster.capacity() - left),
                FreeGpusByNode.Fit.EMPTIEST,
                left,
                (job, size) -> reasons.of(job, size, RULE, Map.of()));
    }

    private static int[] sizes(List<JobView> jobs, int capacity) {
        int[] sizes = new int[jobs.size()];
        double[] gains = new double[jobs.size()];
        int room = capacity;
        List<Integer> smallestFirst = IntStream.range(0, sizes.length)
                .boxed()
                .sorted(Comparator.comparingInt(i -> jobs.get(i).least()))
                .toList();
        for (int i : smallestFirst) {
            int least = jobs.get(i).least();
            if (least <= room) {
                sizes[i] = least;
                room -= least;
                gains[i] = room > 0 ? gain(jobs.get(i), least) : 0;
            }
        }
        while (room > 0) {
            int best = -1;
            for (int i : smallestFirst) {
                if (gains[i] > (best < 0 ? 0 : gains[best]) && step(jobs.get(i), sizes[i]) <= room) {
                    best = i;
                }
            }
            if (best < 0) {
                break;
            }
            int step = step(jobs.get(best), sizes[best]);
            sizes[best] += step;
            gains[best] = room > step ? gain(jobs.get(best), sizes[best]) : 0;
            room -= step;
        }
        return sizes;
    }

    /** GPUs up to the next size of a job: 1, unless its shape leaves sizes out. */
    private static int step(JobView job, int size) {
        return job.next(size) - size;
    }

    /** Seconds by which one more GPU shortens what remains; the mean of several that come at once. */
    private static double gain(JobView job, int size) {
        Pace pace = job.pace();
        int next = job.next(size);
        return next > job.most()
                ? 0
                : (pace.iterationSeconds(size) - pace.iterationSeconds(next))
                        * pace.remainingIterations()
                        / (next - size);
    }

    @Override
    public String spec() {
        return "optimus";
    }
}
