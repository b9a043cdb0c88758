package io.lendstream.core.policy.published;

import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.FreshPlacement;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Gives GPUs one at a time, each to the job that wins against all others. Of two jobs without GPUs the shorter one
 * wins, else the job whose throughput gains more, in proportion, from one more GPU. It needs the run times of jobs.
 *
 * <p>The gain is taken over the throughput after it for both jobs, as in the port that the DeepBoot evaluation compares
 * with; the paper takes the holder's over the throughput before it.
 *
 * @see <a href="https://www.usenix.org/conference/nsdi21/presentation/hwang">AFS-L, NSDI 2021, algorithm 1</a>
 */
public record Afs() implements ReclaimsByLeastLoss {
    private static final SizeReasons.SizeRule RULE = new SizeReasons.SizeRule(
            "jobs with the least remaining time come first",
            "each further GPU goes to the job whose throughput it raises most in proportion");

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "afs", "shortest jobs first, then GPU by GPU to whom one more helps most (AFS-L)", true, true, false);
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        List<JobView> jobs = cluster.open();
        SizeReasons reasons = new SizeReasons(cluster);
        int[] sizes = new int[jobs.size()];
        int room = cluster.capacity();
        for (int winner = winner(jobs, sizes, room); winner >= 0; winner = winner(jobs, sizes, room)) {
            int more = next(jobs.get(winner), sizes[winner]);
            sizes[winner] += more;
            room -= more;
        }
        return FreshPlacement.place(
                cluster,
                jobs,
                sizes,
                FreeGpusByNode.Fit.TIGHTEST,
                0,
                (job, size) -> reasons.of(job, size, RULE, Map.of()));
    }

    /** The job that gets the next GPU, or -1 if none can use one. */
    private static int winner(List<JobView> jobs, int[] sizes, int room) {
        int winner = -1;
        for (int i = 0; i < sizes.length; i++) {
            int more = next(jobs.get(i), sizes[i]);
            if (more <= room
                    && sizes[i] + more <= jobs.get(i).most()
                    && (winner < 0 || beats(jobs, sizes, i, winner))) {
                winner = i;
            }
        }
        return winner;
    }

    private static int next(JobView job, int size) {
        return size == 0 ? job.least() : job.next(size) - size;
    }

    private static boolean beats(List<JobView> jobs, int[] sizes, int challenger, int holder) {
        JobView a = jobs.get(holder);
        JobView b = jobs.get(challenger);
        if (sizes[holder] == 0 && sizes[challenger] == 0) {
            return a.pace().remainingSeconds(a.least()) >= b.pace().remainingSeconds(b.least());
        }
        double gainOfA = gain(a, sizes[holder]);
        double gainOfB = gain(b, sizes[challenger]);
        return sizes[holder] < sizes[challenger] ? gainOfB > gainOfA : gainOfA <= gainOfB;
    }

    /** Share of the throughput with one more GPU that this GPU brings; the mean of several that come at once. */
    private static double gain(JobView job, int size) {
        int more = next(job, size);
        double after = job.pace().throughput(size + more);
        double share = (after - job.pace().throughput(size)) / after;
        return size == 0 ? share : share / more;
    }

    @Override
    public String spec() {
        return "afs";
    }
}
