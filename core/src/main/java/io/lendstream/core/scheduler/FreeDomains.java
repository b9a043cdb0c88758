package io.lendstream.core.scheduler;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.ScheduledJob;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.JobState;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The topology domains that plans leave free, by kind of GPU. A policy chooses kinds by numbers of GPUs, so that a job
 * may wait for a domain of one kind while another kind has one. A kind is taken once, because the job's domain is not
 * known before the next plan.
 */
final class FreeDomains {
    private final StepBuilder builder;
    private final TrainingView training;
    private final SortedMap<KindId, List<GpuState>> left = new TreeMap<>();

    FreeDomains(StepBuilder builder, TrainingView training) {
        this.builder = builder;
        this.training = training;
    }

    /** Adds the GPUs of a kind that no job has in a plan. */
    void add(KindId kind, ClusterView view, Plan plan) {
        Set<GpuId> used = new HashSet<>();
        for (JobView job : view.jobs()) {
            used.addAll(plan.targets().getOrDefault(job.job(), job.gpus()));
        }
        for (JobView job : view.holding()) {
            used.addAll(plan.targets().getOrDefault(job.job(), job.gpus()));
        }
        List<GpuState> free =
                view.gpus().stream().filter(gpu -> !used.contains(gpu.gpuId())).toList();
        left.put(kind, free);
    }

    /** Takes a kind whose free GPUs hold a job in its shape; empty if there is none. */
    Optional<KindId> take(JobState job, Predicate<KindId> mayUse) {
        for (Map.Entry<KindId, List<GpuState>> kind : left.entrySet()) {
            if (mayUse.test(kind.getKey()) && holds(kind.getKey(), kind.getValue(), job)) {
                left.remove(kind.getKey());
                return Optional.of(kind.getKey());
            }
        }
        return Optional.empty();
    }

    private boolean holds(KindId kind, List<GpuState> gpus, JobState job) {
        return new ShapeView(builder, training.settings().model().topology(), () -> gpus, Optional.of(kind))
                .shaped(job, training.seen(job, training.largest(), ScheduledJob.Kinds.ALIKE))
                .hasSize();
    }
}
