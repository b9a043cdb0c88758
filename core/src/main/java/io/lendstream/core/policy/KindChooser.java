package io.lendstream.core.policy;

import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import java.util.Map;
import java.util.SortedMap;

/** Chooses a kind of GPU for each job. The GPUs of each kind are then planned apart. */
@FunctionalInterface
public interface KindChooser {
    /**
     * The kinds of the jobs that may be changed. A job that runs stays on its kind unless another one is named.
     *
     * @param kinds for each kind its GPUs and the jobs that may use it, with their GPUs of this kind and their speed
     *     on it
     */
    Map<JobId, KindId> choose(SortedMap<KindId, ClusterView> kinds);
}
