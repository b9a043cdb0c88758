package io.lendstream.core.policy.ats;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import java.util.List;

/** A policy that reclaims like DeepBoot: the loans whose loss costs training the least speed come first. */
public interface ReclaimsByLeastLoss extends Policy {
    @Override
    default List<GpuId> victims(ClusterView cluster, int count) {
        return new Ats(cluster).victims(count);
    }

    @Override
    default List<Alternative> losses(ClusterView cluster, int count) {
        return new Ats(cluster).losses(count);
    }
}
