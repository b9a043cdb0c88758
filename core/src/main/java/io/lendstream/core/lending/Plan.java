package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.Standing;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A proposal for training.
 *
 * @param targets the GPUs that a job should hold; empty to suspend it
 * @param reasons why, for people, by job
 * @param standings where jobs stand now, for policies that serve them in queues
 * @param left GPUs left for replicas that wait for one
 */
public record Plan(
        Map<JobId, List<GpuId>> targets, Map<JobId, String> reasons, Map<JobId, Standing> standings, List<GpuId> left) {
    public static final Plan NONE = new Plan(Map.of(), Map.of());

    public Plan {
        targets = sorted(targets);
        reasons = sorted(reasons);
        standings = sorted(standings);
        left = List.copyOf(left);
    }

    public Plan(Map<JobId, List<GpuId>> targets, Map<JobId, String> reasons) {
        this(targets, reasons, Map.of(), List.of());
    }

    private static <T> SortedMap<JobId, T> sorted(Map<JobId, T> map) {
        return Collections.unmodifiableSortedMap(new TreeMap<>(map));
    }
}
