package io.lendstream.core.policy.jct;

import io.lendstream.core.demand.Outlook;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.reclaim.Reclaims;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The policy {@code lendstream}: training by {@link JctObjective}, so that all jobs together end soonest; inference by
 * demand forecasts, as far as requests that do not wait are worth the GPUs. Experimental, as it can starve services that
 * have shapes, MIG instances or queues.
 *
 * <p>It plans soon after a job came or ended, and else every minute. It chooses the loans to take back by the same objective.
 *
 * @param objective what GPUs are worth to jobs
 * @param outlook how much expected demand inference is kept ready for: the setting {@code wait-price}
 * @param planEvery how often training is planned
 * @param planAfterJobs how soon after a job came or ended
 * @param protectScale factor on the time for which a replica that demand no longer needs is protected from lending
 */
public record Lendstream(
        JctObjective objective, Outlook outlook, Duration planEvery, Duration planAfterJobs, double protectScale)
        implements Policy {
    /** GPU-seconds that one second of a request's wait is worth. */
    public static final double WAIT_PRICE = 5;

    public static final double SCALING = 0.5;
    public static final double PROTECT_SCALE = 0.2;

    private static final String WARNING =
            "policy lendstream is experimental: it can starve services that have shapes, MIG instances or queues, and"
                    + " with scheduler.waiting-first=false others too. It then holds GPUs for the forecast load of some services"
                    + " while requests of other services wait.";

    public Lendstream {
        if (!(objective.scaling() >= 0 && objective.scaling() < 1)) {
            throw new IllegalArgumentException(
                    "scaling of policy lendstream must be at least 0 and below 1, but was " + objective.scaling());
        }
    }

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "lendstream",
                "experimental: can starve services with shapes or queues; ends jobs soonest, takes GPUs back before demand needs them",
                true,
                false,
                outlook.looksAhead(),
                Optional.of(WARNING));
    }

    @Override
    public Duration protectFor(int warmHits) {
        return Duration.ofMillis(Math.round(1000 * protectScale * Math.min(30 + 15L * warmHits, 120)));
    }

    @Override
    public Plan plan(ClusterView cluster) {
        return JctPlanner.ofAll(cluster, objective).plan();
    }

    @Override
    public List<Alternative> sizes(ClusterView cluster, JobId job) {
        return JctPlanner.ofAll(cluster, objective).sizes(job);
    }

    @Override
    public List<GpuId> victims(ClusterView cluster, int count) {
        return Reclaims.victims(cluster, JctPlanner.ofHolding(cluster, objective), count);
    }

    @Override
    public List<Alternative> losses(ClusterView cluster, int count) {
        return Reclaims.losses(cluster, JctPlanner.ofHolding(cluster, objective), count);
    }

    @Override
    public String spec() {
        return "lendstream:wait-price=" + outlook.waitPrice() + ":scaling=" + objective.scaling() + ":payback="
                + objective.payback().toSeconds() + "s:plan-every=" + planEvery.toSeconds() + "s:plan-after-jobs="
                + planAfterJobs.toSeconds() + "s:protect-scale=" + protectScale;
    }
}
