package io.lendstream.core.policy.ats;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.placement.PooledKnapsack;
import io.lendstream.core.policy.placement.Ranks;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** What a job is worth on a kind that it may not use. */
    private static final double[] NOTHING = {0};

    private static final Comparator<Candidate> BY_SUBMISSION =
            Comparator.comparing(job -> job.any, ClusterView.BY_SUBMISSION);

    /** A job on each kind that it may use. */
    private static final class Candidate {
        private final JobView any;
        private final JobId name;
        private final double attained;
        /** The shares of its speedup that are left after a change, and after a restart on another kind. */
        private final double changed;

        private final double restarted;
        private final @Nullable JobView[] on;
        /** The kind on which it has GPUs. */
        private int home = NOWHERE;

        private boolean isOpen;

        Candidate(JobView any, JobId name, Instant now, int kinds) {
            this.any = any;
            this.name = name;
            this.attained = any.attainedGpuSeconds();
            long age = Limits.millis(any.age(now));
            this.changed = Ats.changed(age, any);
            this.restarted = changed * restarted(age, any.costs());
            this.on = new @Nullable JobView[kinds];
        }

        void add(int kind, JobView here) {
            isOpen = true;
            on[kind] = here;
            if (!runs() && !here.gpus().isEmpty()) {
                home = kind;
            }
        }

        boolean runs() {
            return home != NOWHERE;
        }

        /** The share of its speedup that is left after a change to GPUs of a kind, of which it has some or none. */
        double left(int held) {
            if (!runs()) {
                return Math.max(LEAST_LEFT, changed);
            }
            return held == 0 ? restarted : changed;
        }
    }

    /**
     * The jobs of all kinds, each once. The jobs of a kind usually come in the order of those before: only those that
     * do not are looked up by name.
     */
    private static final class Candidates {
        private final List<Candidate> all;
        private final Map<JobId, Integer> places = new HashMap<>();

        Candidates(List<ClusterView> pools) {
            this.all = new ArrayList<>(pools.get(0).jobCount());
            for (int k = 0; k < pools.size(); k++) {
                ClusterView pool = pools.get(k);
                Set<JobId> fixed = pool.fixed();
                int next = 0;
                for (JobView job : pool.jobs()) {
                    JobId name = job.job();
                    int place = k == 0 || isAt(next, name) ? next : place(name);
                    if (place == all.size()) {
                        all.add(new Candidate(job, name, pools.get(0).now(), pools.size()));
                    }
                    next = place + 1;
                    if (fixed.isEmpty() || !fixed.contains(name)) {
                        all.get(place).add(k, job);
                    }
                }
            }
        }

        private boolean isAt(int place, JobId name) {
            return place < all.size() && all.get(place).name.equals(name);
        }

        /** The place of a job, or the next one. */
        private int place(JobId name) {
            for (int i = places.size(); i < all.size(); i++) {
                places.put(all.get(i).name, i);
            }
            return places.getOrDefault(name, all.size());
        }

        /** Those that may be changed, by GPU time given so far, least first; then by submission and name. */
        List<Candidate> leastServedFirst() {
            List<Candidate> open = new ArrayList<>(all.size());
            for (Candidate job : all) {
                if (job.isOpen) {
                    open.add(job);
                }
            }
            double[] attained = new double[open.size()];
            for (int i = 0; i < attained.length; i++) {
                attained[i] = open.get(i).attained;
            }
            List<Candidate> order = new ArrayList<>(attained.length);
            int alike = 0;
            for (int i : Ranks.ascending(attained)) {
                Candidate job = open.get(i);
                if (Double.compare(order.isEmpty() ? job.attained : order.get(alike).attained, job.attained) != 0) {
                    bySubmission(order.subList(alike, order.size()));
                    alike = order.size();
                }
                order.add(job);
            }
            bySubmission(order.subList(alike, order.size()));
            return order;
        }

        private static void bySubmission(List<Candidate> jobs) {
            if (jobs.size() > 1) {
                jobs.sort(BY_SUBMISSION);
            }
        }
    }

    @Override
    public Map<JobId, KindId> choose(SortedMap<KindId, ClusterView> kinds) {
        if (kinds.isEmpty()) {
            return Map.of();
        }
        List<ClusterView> pools = List.copyOf(kinds.values());
        Candidates candidates = new Candidates(pools);
        List<Candidate> order = candidates.leastServedFirst();
        return chosen(List.copyOf(kinds.keySet()), order, choices(pools, order, candidates.all.size()));
    }

    private static List<PooledKnapsack.PoolChoice> choices(List<ClusterView> pools, List<Candidate> order, int jobs) {
        FairSpeeds speeds = new FairSpeeds(pools, jobs);
        List<FairSpeeds.OfJob> ofJobs = new ArrayList<>(order.size());
        for (Candidate job : order) {
            ofJobs.add(speeds.of(job.any));
        }
        double[][][] values = new double[pools.size()][order.size()][];
        int[] homes = new int[order.size()];
        for (int j = 0; j < homes.length; j++) {
            Candidate job = order.get(j);
            homes[j] = job.home;
            FairSpeeds.OfJob own = ofJobs.get(j);
            for (int k = 0; k < values.length; k++) {
                JobView here = job.on[k];
                values[k][j] = here == null
                        ? NOTHING
                        : own.values(here, k, job.left(here.gpus().size()));
            }
        }
        return PooledKnapsack.choose(
                values, pools.stream().mapToInt(ClusterView::capacity).toArray(), homes);
    }

    /** The share of a job's speedup that is left after a restart on another kind: little for a young job. */
    private static double restarted(long ageMillis, RescaleCosts costs) {
        double age = ageMillis;
        return age / Math.max(1, age + Limits.millis(costs.first()));
    }

    private static Map<JobId, KindId> chosen(
            List<KindId> kinds, List<Candidate> order, List<PooledKnapsack.PoolChoice> choices) {
        Map<JobId, KindId> chosen = new HashMap<>(2 * order.size());
        for (int j = 0; j < choices.size(); j++) {
            Candidate job = order.get(j);
            PooledKnapsack.PoolChoice choice = choices.get(j);
            if ((choice.size() > 0 || !job.runs()) && choice.pool() >= 0) {
                chosen.put(job.name, kinds.get(choice.pool()));
            }
        }
        return chosen;
    }
}
