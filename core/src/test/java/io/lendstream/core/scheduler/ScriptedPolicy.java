package io.lendstream.core.scheduler;

import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A policy that proposes what a test tells it to, and keeps what it was shown. */
final class ScriptedPolicy implements ReclaimsByLeastLoss {
    private final List<ClusterView> shown = new ArrayList<>();
    private Plan next = new Plan(Map.of(), Map.of());
    private Duration planEvery = Duration.ofMinutes(1);

    void propose(Plan plan) {
        next = plan;
    }

    void planEvery(Duration period) {
        planEvery = period;
    }

    /** The views that it was asked to plan for, in order. */
    List<ClusterView> shown() {
        return shown;
    }

    @Override
    public PolicyInfo info() {
        return new PolicyInfo("scripted", "does what a test says", true, false, false);
    }

    @Override
    public Duration planEvery() {
        return planEvery;
    }

    @Override
    public Plan plan(ClusterView cluster) {
        shown.add(cluster);
        return next;
    }

    @Override
    public String spec() {
        return "scripted";
    }
}
