package io.lendstream.core.policy.ats;

import io.lendstream.core.event.Limits;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.placement.PooledKnapsack;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Adaptive task scaling over several kinds of GPU: chooses kind and size of all jobs together, so that the sum of
 * speedups is large. A job's speedup is its goodput on a kind over its mean goodput on all kinds that it may use, with
 * a fair share. A change of the kind costs a restart.
 */
final class KindAts implements KindChooser {
    /** A job that waits prefers a faster kind even if it is so young that its speedup does not count yet. */
    private static final double LEAST_LEFT = 0.01;

    private static final int NOWHERE = -1;

    /** A job on each kind that it may use. */
    private static final class Candidate {
        private final JobView any;
        private final double attained;
        /** The shares of its speedup that are left after a change, and after a restart on another kind. */
        private final double changed;

        private final double restarted;
        private final @Nullable JobView[] on;
        /** The kind on which it has GPUs. */
        private int home = NOWHERE;

        Candidate(JobView any, Instant now, int kinds) {
            this.any = any;
            this.attained = any.attainedGpuSeconds();
            this.changed = Ats.changed(any, now);
            this.restarted = changed * restarted(any, now);
            this.on = new @Nullable JobView[kinds];
        }

        boolean runs() {
            return home != NOWHERE;
        }

        /** The share of its speedup that is left after a change to some GPUs of a kind. */
        double left(JobView here) {
            if (!runs()) {
                return Math.max(LEAST_LEFT, changed);
            }
            return here.gpus().isEmpty() ? restarted : changed;
        }
    }

    @Override
    public Map<JobId, KindId> choose(SortedMap<KindId, ClusterView> kinds) {
        if (kinds.isEmpty()) {
            return Map.of();
        }
        List<ClusterView> pools = List.copyOf(kinds.values());
        Map<JobId, Candidate> all = new HashMap<>(2 * pools.get(0).jobCount());
        for (int k = 0; k < pools.size(); k++) {
            for (JobView job : pools.get(k).jobs()) {
                Candidate candidate = all.computeIfAbsent(
                        job.job(), any -> new Candidate(job, pools.get(0).now(), pools.size()));
                if (!pools.get(k).fixed().contains(job.job())) {
                    candidate.on[k] = job;
                    candidate.home = candidate.runs() || job.gpus().isEmpty() ? candidate.home : k;
                }
            }
        }
        List<Candidate> order = new ArrayList<>();
        for (Candidate job : all.values()) {
            if (isOpen(job)) {
                order.add(job);
            }
        }
        order.sort(Comparator.comparingDouble((Candidate job) -> job.attained)
                .thenComparing(job -> job.any.submittedAt())
                .thenComparing(job -> job.any.job()));
        return chosen(List.copyOf(kinds.keySet()), order, choices(pools, order, all.size()));
    }

    private static boolean isOpen(Candidate job) {
        for (JobView here : job.on) {
            if (here != null) {
                return true;
            }
        }
        return false;
    }

    private static List<PooledKnapsack.PoolChoice> choices(List<ClusterView> pools, List<Candidate> order, int jobs) {
        FairSpeeds speeds = new FairSpeeds(pools, jobs);
        List<List<double[]>> values = new ArrayList<>();
        for (int k = 0; k < pools.size(); k++) {
            values.add(new ArrayList<>(order.size()));
        }
        for (Candidate job : order) {
            FairSpeeds.OfJob own = speeds.of(job.any);
            for (int k = 0; k < pools.size(); k++) {
                JobView here = job.on[k];
                values.get(k).add(here == null ? new double[1] : own.values(here, k, job.left(here)));
            }
        }
        return PooledKnapsack.choose(
                values,
                pools.stream().mapToInt(ClusterView::capacity).toArray(),
                order.stream().mapToInt(job -> job.home).toArray());
    }

    /** The share of a job's speedup that is left after a restart on another kind: little for a young job. */
    private static double restarted(JobView job, Instant now) {
        double age = Limits.millis(job.age(now));
        return age / Math.max(1, age + Limits.millis(job.costs().first()));
    }

    private static Map<JobId, KindId> chosen(
            List<KindId> kinds, List<Candidate> order, List<PooledKnapsack.PoolChoice> choices) {
        Map<JobId, KindId> chosen = new HashMap<>(2 * order.size());
        for (int j = 0; j < choices.size(); j++) {
            Candidate job = order.get(j);
            PooledKnapsack.PoolChoice choice = choices.get(j);
            if ((choice.size() > 0 || !job.runs()) && choice.pool() >= 0) {
                chosen.put(job.any.job(), kinds.get(choice.pool()));
            }
        }
        return chosen;
    }
}
