package io.lendstream.core.policy.published;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.PlanReason;
import java.util.Map;
import java.util.TreeMap;

/**
 * The reasons of policies that choose a number of GPUs for each job.
 *
 * @param gpus GPUs that the plan divides
 * @param jobs jobs that it divides them among
 */
record SizeReasons(int gpus, int jobs) {
    SizeReasons(ClusterView cluster) {
        this(cluster.capacity(), cluster.open().size());
    }

    /** The reason for a job's new size by a rule. */
    PlanReason of(JobView job, int size, String rule) {
        return of(job, size, rule, Map.of());
    }

    /** The same, with the numbers that the rule names. */
    PlanReason of(JobView job, int size, String rule, Map<String, Double> more) {
        Map<String, Double> numbers = new TreeMap<>(more);
        numbers.put("gpus", (double) gpus);
        numbers.put("jobs", (double) jobs);
        String text = job.job() + " "
                + Wording.resized(job.gpus().size(), size, job.largestRun() > 0) + ": " + rule + " ("
                + Reason.counted(gpus, "GPU") + ", " + Reason.counted(jobs, "job") + ")";
        return new PlanReason(text, numbers);
    }
}
