package io.lendstream.core.policy.ats;

import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PolicyInfo;
import java.time.Duration;
import java.util.List;

/**
 * Our own policy: ATS for training, and for inference the forecast, so that GPUs are back before they are needed.
 *
 * @param planEvery how often training is planned
 * @param protectScale factor on the time for which a replica that demand no longer needs is kept out of everybody's reach
 */
public record ForecastAts(Duration planEvery, double protectScale) implements ReclaimsByLeastLoss {
    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "lendstream",
                "ATS with forecasts: takes GPUs back a release and a warm-up before demand needs them",
                true,
                false,
                true);
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
