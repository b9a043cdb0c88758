package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A proposal for training.
 *
 * @param targets the GPUs that a job should hold; empty to suspend it
 * @param reasons why, for people, by job
 */
public record Plan(Map<JobId, List<GpuId>> targets, Map<JobId, String> reasons) {
    public static final Plan NONE = new Plan(Map.of(), Map.of());

    public Plan {
        targets = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(targets));
        reasons = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(reasons));
    }
}
