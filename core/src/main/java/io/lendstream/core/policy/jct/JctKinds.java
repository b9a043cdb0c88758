package io.lendstream.core.policy.jct;

import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.JobsOnKinds;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.placement.PooledKnapsack;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.IntStream;

/**
 * Chooses kind and size of all jobs together by {@link JctObjective}. The work of a job is measured by the GPU of the
 * kind that does it fastest. A change of the kind is a restart, which has to pay back as any change.
 *
 * @param objective what GPUs are worth to jobs
 */
record JctKinds(JctObjective objective) implements KindChooser {
    /** What a job is worth on a kind that it may not use. */
    private static final double[] NOTHING = {0};

    /**
     * A job to be chosen for.
     *
     * @param alone seconds of its work that remain on one GPU of its fastest kind
     */
    private record Candidate(JobsOnKinds.OfJob on, double alone, double weight) {}

    @Override
    public Map<JobId, KindId> choose(SortedMap<KindId, ClusterView> kinds) {
        if (kinds.isEmpty()) {
            return Map.of();
        }
        List<ClusterView> pools = List.copyOf(kinds.values());
        List<Candidate> jobs = candidates(new JobsOnKinds(pools).all(), pools);
        int[] capacities = pools.stream().mapToInt(ClusterView::capacity).toArray();
        int[] homes = jobs.stream().mapToInt(job -> job.on.home()).toArray();
        double[][][] values = values(jobs, capacities, pools.get(0).now());
        List<PooledKnapsack.PoolChoice> choices = PooledKnapsack.choose(values, capacities, homes);
        Map<JobId, KindId> chosen = new HashMap<>(2 * homes.length);
        List<KindId> names = List.copyOf(kinds.keySet());
        for (int j = 0; j < homes.length; j++) {
            PooledKnapsack.PoolChoice choice = choices.get(j);
            // A job that is to stop stays on its kind, as long as it has GPUs of it.
            if (choice.pool() >= 0 && (choice.size() > 0 || homes[j] < 0)) {
                chosen.put(jobs.get(j).on.name(), names.get(choice.pool()));
            }
        }
        return chosen;
    }

    /** The jobs that may be changed. Those that may not are ranked too, so that they count in the weights of others. */
    private List<Candidate> candidates(List<JobsOnKinds.OfJob> jobs, List<ClusterView> pools) {
        int gpus = pools.stream().mapToInt(ClusterView::gpuCount).sum();
        double equal = (double) gpus / Math.max(1, jobs.size());
        Instant now = pools.get(0).now();
        double[] alone = new double[jobs.size()];
        double[] ranked = new double[alone.length];
        double[] urgency = new double[alone.length];
        for (int j = 0; j < alone.length; j++) {
            JobsOnKinds.OfJob job = jobs.get(j);
            JobView best = job.any();
            alone[j] = best.pace().remainingSeconds(1);
            for (int k = 0; k < pools.size(); k++) {
                Optional<JobView> here = job.on(k);
                double seconds = here.map(any -> any.pace().remainingSeconds(1)).orElse(Double.POSITIVE_INFINITY);
                if (here.isPresent() && seconds < alone[j]) {
                    best = here.get();
                    alone[j] = seconds;
                }
            }
            ranked[j] = JctPlanner.ranked(best, alone[j]);
            urgency[j] = Lateness.of(best, equal, now).factor();
        }
        double[] weights = objective.weights(ranked);
        return IntStream.range(0, alone.length)
                .filter(j -> jobs.get(j).isOpen())
                .mapToObj(j -> new Candidate(jobs.get(j), alone[j], weights[j] * urgency[j]))
                .toList();
    }

    /** By kind and job. */
    private double[][][] values(List<Candidate> jobs, int[] capacities, Instant now) {
        double[][][] values = new double[capacities.length][jobs.size()][];
        for (int j = 0; j < jobs.size(); j++) {
            Candidate job = jobs.get(j);
            double kept = job.on
                    .on(Math.max(0, job.on.home()))
                    .map(home -> objective.stop(home, job.weight, job.alone))
                    .orElse(0.0);
            for (int k = 0; k < capacities.length; k++) {
                Optional<JobView> here = job.on.on(k);
                values[k][j] = here.isEmpty() ? NOTHING : values(job, k, here.get(), capacities[k], now, kept);
            }
        }
        return values;
    }

    private double[] values(Candidate job, int kind, JobView here, int capacity, Instant now, double kept) {
        boolean restarts = job.on.runs() && job.on.home() != kind;
        double[] values = objective.values(here, capacity, job.weight, job.alone, now, restarts);
        for (int w = 1; w < values.length; w++) {
            values[w] += kept;
        }
        return values;
    }
}
