package io.lendstream.core.scheduler;

import io.lendstream.core.event.HostNeed;
import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.state.JobState;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Finds the waiting jobs that no policy is shown: all nodes together do not have the CPU or host memory for the fewest
 * GPUs that they start with. A plan with GPUs for them would keep these GPUs from others for ever.
 *
 * @param allAskedFor whether the policy starts a job only with all GPUs that it asked for
 */
record HostFit(StepBuilder builder, boolean allAskedFor) {
    /** These jobs, with the numbers of a node; none if no node reports its CPU or host memory. */
    SortedMap<JobId, HostRefusal> refusals() {
        if (builder.clusterIndex().hosts().isEmpty()) {
            return Collections.emptySortedMap();
        }
        SortedMap<JobId, HostRefusal> refusals = new TreeMap<>();
        Map<HostNeed, Long> most = new HashMap<>();
        for (JobState job : builder.entities().openJobs()) {
            HostNeed need = job.spec().hostNeed();
            if (job.gpus() == 0 && !need.isUsual() && most.computeIfAbsent(need, this::most) < fewest(job)) {
                refusal(job).ifPresent(refusal -> refusals.put(job.spec().job(), refusal));
            }
        }
        return refusals;
    }

    /** The most GPUs that all nodes together have CPU and host memory for. */
    private long most(HostNeed need) {
        long most = 0;
        for (Map.Entry<NodeId, Integer> node :
                builder.clusterIndex().trainingCapacity().nodes()) {
            NodeFacts facts = facts(node.getKey());
            long fits = node.getValue();
            if (facts.cpuMillis().isPresent() && need.cpuMillisPerGpu().isPresent()) {
                fits = Math.min(
                        fits, facts.cpuMillis().get() / need.cpuMillisPerGpu().get());
            }
            if (facts.memoryBytes().isPresent() && need.memoryBytesPerGpu().isPresent()) {
                fits = Math.min(
                        fits,
                        facts.memoryBytes().get() / need.memoryBytesPerGpu().get());
            }
            most += fits;
        }
        return most;
    }

    /** The first node that does not have enough for all its GPUs that the job would have. */
    private Optional<HostRefusal> refusal(JobState job) {
        for (Map.Entry<NodeId, Integer> node :
                builder.clusterIndex().trainingCapacity().nodes()) {
            NodeFacts facts = facts(node.getKey());
            var all = new HostRoom.HostLeft(
                    facts, facts.cpuMillis().orElse(0L), facts.memoryBytes().orElse(0L));
            int gpus = Math.min(node.getValue(), fewest(job));
            Optional<HostRefusal> refusal = all.against(job, node.getKey(), gpus);
            if (refusal.isPresent()) {
                return refusal;
            }
        }
        return Optional.empty();
    }

    private int fewest(JobState job) {
        TrainingJob.Scaling scaling = job.spec().scaling();
        return allAskedFor ? scaling.requestedGpus() : scaling.least();
    }

    private NodeFacts facts(NodeId node) {
        return builder.clusterIndex().hosts().get(node).orElse(NodeFacts.NONE);
    }
}
