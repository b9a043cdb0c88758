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
 * @param targets the GPUs that a job should hold; none to suspend it
 * @param reasons why, for people, by job
 * @param standings where jobs stand now, for policies that serve them in queues; those that stand where they stood may be left
 *     out
 * @param left GPUs left for replicas that wait for one
 * @param holdsUntil until when the plan would be the same again, if meanwhile no job comes, goes or is changed and no GPU changes
 *     hands; empty where it hangs on more than that
 */
public record Plan(
        Map<JobId, List<GpuId>> targets,
        Map<JobId, String> reasons,
        Map<JobId, QueuePosition> standings,
        List<GpuId> left,
        Optional<Instant> holdsUntil) {

    public Plan {
        targets = sorted(targets);
        reasons = sorted(reasons);
        standings = sorted(standings);
        left = List.copyOf(left);
    }

    public Plan(Map<JobId, List<GpuId>> targets, Map<JobId, String> reasons) {
        this(targets, reasons, Map.of(), List.of(), Optional.empty());
    }

    private static <T> SortedMap<JobId, T> sorted(Map<JobId, T> map) {
        return Collections.unmodifiableSortedMap(new TreeMap<>(map));
    }
}
