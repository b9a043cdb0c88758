package io.lendstream.core.policy.ats;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.JobsOnKinds;
import io.lendstream.core.policy.KindChooser;
import io.lendstream.core.policy.placement.PooledKnapsack;
import io.lendstream.core.policy.placement.Ranks;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Adaptive task scaling over several kinds of GPU: chooses kind and size of all jobs together, so that the sum of
 * speedups is large. A job's speedup is its goodput on a kind over its mean goodput on all kinds that it may use, with
 * a fair share. A change of the kind costs a restart.
 */
final class KindAts implements KindChooser {
    /** A job that waits prefers a faster kind even if it is so young that its speedup does not count yet. */
    private static final double LEAST_LEFT = 0.01;

    /** What a job is worth on a kind that it may not use. */
    private static final double[] NOTHING = {0};

    private static final Comparator<Candidate> BY_SUBMISSION =
            Comparator.comparing(Candidate::any, ClusterView.BY_SUBMISSION);

    /** A job, with what its speedup on a kind counts. */
    private static final class Candidate {
        private final JobsOnKinds.OfJob on;
        private final double attained;
        /** The shares of its speedup that are left after a change, and after a restart on another kind. */
        private final double changed;

        private final double restarted;

        Candidate(JobsOnKinds.OfJob on, Instant now) {
            JobView any = on.any();
            this.on = on;
            this.attained = any.attainedGpuSeconds();
            long age = Limits.millis(any.age(now));
            this.changed = Ats.changed(age, any);
            this.restarted = changed * restarted(age, any.costs());
        }

        JobView any() {
            return on.any();
        }

        /** The share of its speedup that is left after a change to GPUs of a kind, of which it has some or none. */
        double left(int held) {
            if (!on.runs()) {
                return Math.max(LEAST_LEFT, changed);
            }
            return held == 0 ? restarted : changed;
        }
    }

    /** By GPU time given so far, least first; then by submission and name. */
    private static List<Candidate> leastServedFirst(List<Candidate> jobs) {
        double[] attained = new double[jobs.size()];
        for (int i = 0; i < attained.length; i++) {
            attained[i] = jobs.get(i).attained;
        }
        List<Candidate> order = new ArrayList<>(attained.length);
        int alike = 0;
        for (int i : Ranks.ascending(attained)) {
            Candidate job = jobs.get(i);
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

    @Override
    public Map<JobId, KindId> choose(SortedMap<KindId, ClusterView> kinds) {
        if (kinds.isEmpty()) {
            return Map.of();
        }
        List<ClusterView> pools = List.copyOf(kinds.values());
        JobsOnKinds jobs = new JobsOnKinds(pools);
        List<Candidate> open = new ArrayList<>();
        for (JobsOnKinds.OfJob job : jobs.open()) {
            open.add(new Candidate(job, pools.get(0).now()));
        }
        List<Candidate> order = leastServedFirst(open);
        return chosen(
                List.copyOf(kinds.keySet()),
                order,
                choices(pools, order, jobs.all().size()));
    }

    private static List<PooledKnapsack.PoolChoice> choices(List<ClusterView> pools, List<Candidate> order, int jobs) {
        FairSpeeds speeds = new FairSpeeds(pools, jobs);
        List<FairSpeeds.OfJob> ofJobs = new ArrayList<>(order.size());
        for (Candidate job : order) {
            ofJobs.add(speeds.of(job.any()));
        }
        double[][][] values = new double[pools.size()][order.size()][];
        int[] homes = new int[order.size()];
        for (int j = 0; j < homes.length; j++) {
            Candidate job = order.get(j);
            homes[j] = job.on.home();
            FairSpeeds.OfJob own = ofJobs.get(j);
            for (int k = 0; k < values.length; k++) {
                Optional<JobView> here = job.on.on(k);
                values[k][j] = here.isEmpty()
                        ? NOTHING
                        : own.values(here.get(), k, job.left(here.get().gpus().size()));
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
            if ((choice.size() > 0 || !job.on.runs()) && choice.pool() >= 0) {
                chosen.put(job.on.name(), kinds.get(choice.pool()));
            }
        }
        return chosen;
    }
}
