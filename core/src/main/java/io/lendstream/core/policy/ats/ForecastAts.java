package io.lendstream.core.policy.ats;

import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PolicyInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The policy {@code lendstream}: ATS for training, demand forecasts for inference. Experimental, as it can starve
 * services that have shapes, MIG instances or queues.
 *
 * @param planEvery how often training is planned
 * @param protectScale factor on the time for which a replica that demand no longer needs is protected from lending
 */
public record ForecastAts(Duration planEvery, double protectScale) implements ReclaimsByLeastLoss {
    private static final String WARNING =
            "policy lendstream is experimental: it can starve services that have shapes, MIG instances or queues, and"
                    + " with scheduler.waiting-first=false others too. It then holds GPUs for the forecast load of some services"
                    + " while requests of other services wait.";

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "lendstream",
                "experimental: can starve services with shapes or queues; ATS with forecasts, takes GPUs back before demand needs them",
                true,
                false,
                true,
                Optional.of(WARNING));
    }

    @Override
    public Duration protectFor(int warmHits) {
        return Duration.ofMillis(Math.round(1000 * protectScale * Math.min(30 + 15L * warmHits, 120)));
    }

    @Override
    public Plan plan(ClusterView cluster) {
        return new Ats(cluster).plan();
    }

    @Override
    public List<Alternative> sizes(ClusterView cluster, JobId job) {
        return new Ats(cluster).sizes(job);
    }

    @Override
    public String spec() {
        String scale = protectScale == 1 ? "" : ":protect-scale=" + protectScale;
        return "lendstream:plan-every=" + planEvery.toSeconds() + "s" + scale;
    }
}
