package io.lendstream.core.policy.published;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.Resized;
import io.lendstream.core.policy.ShapedJob;
import java.util.Map;
import java.util.TreeMap;

/**
 * The reasons of policies that choose a number of GPUs for each job.
 *
 * @param cluster the view that the plan is for
 * @param gpus GPUs that the plan divides
 * @param jobs jobs that it divides them among
 */
record SizeReasons(ClusterView cluster, int gpus, int jobs) {
    SizeReasons(ClusterView cluster) {
        this(cluster, cluster.capacity(), cluster.open().size());
    }

    /**
     * The rule of a policy that gives jobs the least number of GPUs that they need, and then divides the rest.
     *
     * @param first a clause: the order in which jobs get what they need
     * @param further a clause: the job that gets further GPUs
     */
    record SizeRule(String first, String further) {}

    /** The reason for a job's new size by the part of a rule that decides it. */
    PlanReason of(JobView job, int size, SizeRule rule, Map<String, Double> more) {
        String needs = Reason.counted(job.least(), "GPU");
        if (size == 0) {
            return of(job, size, rule.first + ", and " + left(job, needs), more);
        }
        String start = job.gpus().isEmpty() ? rule.first + "; " : "";
        if (!job.elastic()) {
            return of(job, size, start + "it runs on exactly " + needs, more);
        }
        int further = size - job.least();
        String gets = further > 0 ? further + " more" : "no more";
        return of(job, size, start + "it needs " + needs + " and gets " + gets + "; " + rule.further, more);
    }

    private static String left(JobView job, String needs) {
        if (job.least() == ShapedJob.NO_SIZE) {
            return "the nodes have no number of GPUs that its shape allows";
        }
        return job.least() == 1 ? "no GPU is left" : "fewer than the " + needs + " that it needs are left";
    }

    /** The reason for a job's new size, with a cause and the numbers that it names. */
    PlanReason of(JobView job, int size, String cause, Map<String, Double> more) {
        Map<String, Double> numbers = new TreeMap<>(more);
        numbers.put("gpus", (double) gpus);
        numbers.put("jobs", (double) jobs);
        String text = job.job() + " " + Resized.of(cluster, job, size).inWords() + ": " + cause + " ("
                + Reason.counted(gpus, "GPU") + ", " + Reason.counted(jobs, "job") + ")";
        return new PlanReason(text, numbers);
    }
}
