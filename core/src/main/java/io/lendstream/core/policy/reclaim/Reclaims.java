package io.lendstream.core.policy.reclaim;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import java.util.List;

/** The loans of a cluster to take back, by a measure of training's speed. */
public final class Reclaims {
    private Reclaims() {}

    /** Lent GPUs whose loss costs the least speed in sum, chosen one by one. */
    public static List<GpuId> victims(ClusterView cluster, SpeedMeasure measure, int count) {
        return cluster.bundles().isEmpty()
                ? new LeastLoss(cluster, measure).victims(count)
                : new BundleLoss(cluster, measure).victims(count);
    }

    /** The loans that {@link #victims} weighed: the chosen ones in their order, then the rest, least loss first. */
    public static List<Alternative> losses(ClusterView cluster, SpeedMeasure measure, int count) {
        return cluster.bundles().isEmpty()
                ? new LeastLoss(cluster, measure).losses(count)
                : new BundleLoss(cluster, measure).losses(count);
    }
}
