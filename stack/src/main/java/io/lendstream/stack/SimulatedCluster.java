package io.lendstream.stack;

import java.util.List;

/** The settings of services whose cluster is simulated, where the safe defaults of a deployment protect nothing. */
public final class SimulatedCluster {
    /**
     * Settings of the scheduler, as {@code key=value}: it lends from its first start, no agent reports users of GPUs,
     * declarations are right and rates are those of whole windows, as in a replay, and changes are not slowed down.
     */
    public static final List<String> SCHEDULER = List.of(
            "scheduler.first-trust=all",
            "scheduler.heed-users=false",
            "scheduler.learn=false",
            "scheduler.max-loans-per-minute=1000",
            "scheduler.max-transfers=1000",
            "scheduler.min-hold=0s",
            "scheduler.sum-short-windows=false");

    private SimulatedCluster() {}
}
