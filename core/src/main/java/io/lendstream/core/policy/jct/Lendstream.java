package io.lendstream.core.policy.jct;

import io.lendstream.core.demand.Outlook;
import io.lendstream.core.goodput.FitRule;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.reclaim.Reclaims;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The policy {@code lendstream}: training by {@link JctObjective}, so that jobs end soonest on average; inference by
 * demand forecasts, as far as requests that do not wait are worth the GPUs. Experimental, as it can starve services
 * that have shapes, MIG instances or queues.
 *
 * <p>It plans soon after a job came or ended, and else every minute. It chooses the loans to take back by the same
 * objective.
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
    public static final Duration PAYBACK = Duration.ofMinutes(10);
    public static final Duration PLAN_AFTER_JOBS = Duration.ofSeconds(5);
    public static final double PROTECT_SCALE = 0.2;

    private static final String WARNING =
            "policy lendstream is experimental: it can starve services that have shapes, MIG instances or queues, and"
                    + " with scheduler.waiting-first=false others too. It then holds GPUs for the forecast load of some services"
                    + " while requests of other services wait.";

    public Lendstream {
        objective = objective.checked("lendstream");
    }

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "lendstream",
                "experimental: can starve services with shapes or queues; ends jobs soonest on average, keeps GPUs ready for forecast demand that is worth it",
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
    public FitRule fits() {
        return FitRule.FINE;
    }

    @Override
    public Optional<KindChooser> kinds() {
        return Optional.of(new JctKinds(objective));
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

    /** Only the period and what is not as usual: {@code top} shows it. */
    @Override
    public String spec() {
        StringBuilder spec = new StringBuilder("lendstream:plan-every=" + seconds(planEvery));
        if (outlook.waitPrice() != WAIT_PRICE) {
            spec.append(":wait-price=").append(outlook.waitPrice());
        }
        if (objective.scaling() != SCALING) {
            spec.append(":scaling=").append(objective.scaling());
        }
        if (!objective.payback().equals(PAYBACK)) {
            spec.append(":payback=").append(seconds(objective.payback()));
        }
        if (!planAfterJobs.equals(PLAN_AFTER_JOBS)) {
            spec.append(":plan-after-jobs=").append(seconds(planAfterJobs));
        }
        if (protectScale != PROTECT_SCALE) {
            spec.append(":protect-scale=").append(protectScale);
        }
        return spec.toString();
    }

    private static String seconds(Duration time) {
        return time.toMillis() % 1000 == 0 ? time.toSeconds() + "s" : time.toMillis() / 1000.0 + "s";
    }
}
