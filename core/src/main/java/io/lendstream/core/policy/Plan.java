package io.lendstream.core.policy;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.state.QueuePosition;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A proposal for training.
 *
 * @param targets the GPUs that each job should hold; none to suspend the job
 * @param reasons the reasons for changes, by job
 * @param standings the new queue positions of jobs, for policies with queues; unchanged positions may be left out
 * @param left GPUs left for replicas that wait for one
 * @param holdsUntil until when the plan stays the same if no job arrives, ends or changes and no GPU changes its owner;
 *     empty if the plan depends on more
 */
public record Plan(
        Map<JobId, List<GpuId>> targets,
        Map<JobId, PlanReason> reasons,
        Map<JobId, QueuePosition> standings,
        List<GpuId> left,
        Optional<Instant> holdsUntil) {

    public Plan {
        targets = sorted(targets);
        reasons = sorted(reasons);
        standings = sorted(standings);
        left = List.copyOf(left);
    }

    public Plan(Map<JobId, List<GpuId>> targets, Map<JobId, PlanReason> reasons) {
        this(targets, reasons, Map.of(), List.of(), Optional.empty());
    }

    private static <T> SortedMap<JobId, T> sorted(Map<JobId, T> map) {
        return Collections.unmodifiableSortedMap(new TreeMap<>(map));
    }
}
