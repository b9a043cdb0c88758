package io.lendstream.core.policy.ats;

import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.Alternative;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PolicyInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The policy {@code deepboot}: plans training every minute and serves the current load, without forecasts.
 *
 * <p>It protects a replica that demand no longer needs for 30 s, and 15 s longer with every hit, up to 120 s.
 *
 * @param protectScale factor on the protect times
 * @param fromScratch whether a job whose size changes is placed from scratch, as the published simulator does;
 *     otherwise it stays on its GPUs if that costs at most one more node
 * @param choosesKinds whether it chooses kinds of GPU by the speeds of jobs on them
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023</a>
 */
public record DeepBoot(double protectScale, boolean fromScratch, boolean choosesKinds) implements ReclaimsByLeastLoss {
    public static final String AFRESH = "afresh";
    public static final String NEAR = "near";
    public static final String AWARE = "aware";
    public static final String BLIND = "blind";

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "deepboot",
                "ATS of DeepBoot: plans training by goodput every 60 s; serves the current load, uses no forecasts",
                true,
                false,
                false);
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Duration protectFor(int warmHits) {
        double seconds = Math.min((30 + 15.0 * warmHits) * protectScale, 120 * protectScale);
        return Duration.ofSeconds((long) seconds + 1);
    }

    @Override
    public Optional<KindChooser> kinds() {
        return choosesKinds ? Optional.of(new KindAts()) : Optional.empty();
    }

    @Override
    public Plan plan(ClusterView cluster) {
        Ats ats = new Ats(cluster);
        return fromScratch ? ats.planAfresh() : ats.plan();
    }

    @Override
    public List<Alternative> sizes(ClusterView cluster, JobId job) {
        return new Ats(cluster).sizes(job);
    }

    @Override
    public String spec() {
        return "deepboot:protect-scale=" + protectScale + ":place=" + (fromScratch ? AFRESH : NEAR)
                + (choosesKinds ? "" : ":kinds=" + BLIND);
    }
}
