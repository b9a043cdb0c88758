package io.lendstream.core.policy.published;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.ats.Ats;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Searches for the allocation with the best mean speed of all jobs, batch sizes included. Each search starts from the
 * present allocation, seeded with the time of the plan. Published runs also keep the last search's population; here a
 * plan depends only on the view of the cluster.
 *
 * @param original whether the search and the price of a restart are those of the paper's artefact: 100 generations of
 *     100, and 30 s; else those of the evaluation of DeepBoot: 50 of 50, 10 s, and a tenth of the speedup for a move
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021, section 4.2</a>
 */
public record Pollux(boolean original) implements ReclaimsByLeastLoss {
    public static final String ORIGINAL = "osdi21";
    public static final String DEEPBOOT = "deepboot";

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "pollux", "power mean of speedups over fair shares, by genetic search every 60 s", true, false, false);
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        var settings = original ? PolluxSearch.Settings.POLLUX : PolluxSearch.Settings.DEEPBOOT;
        Duration restart = Duration.ofSeconds(original ? 30 : 10);
        Ats ats = new Ats(cluster);
        List<JobView> jobs = ats.leastServedFirst();
        Map<NodeId, List<GpuId>> nodes = gpusByNode(cluster);
        List<NodeId> names = List.copyOf(nodes.keySet());
        List<PolluxSearch.Job> candidates = new ArrayList<>();
        for (JobView job : jobs) {
            candidates.add(new PolluxSearch.Job(
                    (spanned, replicas) -> ats.speedup(job, spanned, replicas),
                    nodes.values().stream().map(gpus -> held(job, gpus).size()).toList(),
                    job.least(),
                    Ats.largest(job),
                    Ats.restartFactor(job, cluster.now(), restart),
                    job.isShaped() ? new ShapedRows(job, names, Ats.largest(job)) : PolluxSearch.RowRule.ANY));
        }
        var problem = new PolluxSearch.Problem(
                candidates, nodes.values().stream().map(List::size).toList());
        var found =
                PolluxSearch.search(problem, settings, List.of(), cluster.now().getEpochSecond());
        return placed(cluster, ats, jobs, new FoundAllocation(problem, found, List.copyOf(nodes.values())));
    }

    /** GPUs that the jobs which may be changed can have. */
    private static Map<NodeId, List<GpuId>> gpusByNode(ClusterView cluster) {
        Set<GpuId> kept = new HashSet<>();
        for (JobView job : cluster.jobs()) {
            if (cluster.fixed().contains(job.job())) {
                kept.addAll(job.gpus());
            }
        }
        Map<NodeId, List<GpuId>> nodes = new LinkedHashMap<>();
        for (GpuState gpu : cluster.gpus()) {
            if (!kept.contains(gpu.gpuId())) {
                nodes.computeIfAbsent(gpu.nodeId(), node -> new ArrayList<>()).add(gpu.gpuId());
            }
        }
        return nodes;
    }

    private static List<GpuId> held(JobView job, List<GpuId> gpus) {
        return gpus.stream().filter(job.gpus()::contains).toList();
    }

    /** A problem, its solution, and the GPUs of each node. */
    private record FoundAllocation(PolluxSearch.Problem problem, PolluxSearch.Found found, List<List<GpuId>> nodes) {}

    /** Jobs keep the GPUs they have on a node, as far as they keep any there. */
    private static Plan placed(ClusterView cluster, Ats ats, List<JobView> jobs, FoundAllocation search) {
        PolluxSearch.Problem problem = search.problem;
        PolluxSearch.Found found = search.found;
        List<List<GpuId>> nodes = search.nodes;
        Map<JobId, List<GpuId>> targets = new HashMap<>();
        Map<JobId, PlanReason> reasons = new TreeMap<>();
        SizeReasons sizes = new SizeReasons(cluster);
        jobs.forEach(job -> targets.put(job.job(), new ArrayList<>()));
        for (int n = 0; n < nodes.size(); n++) {
            List<GpuId> free = new ArrayList<>(nodes.get(n));
            for (int j = 0; j < jobs.size(); j++) {
                List<GpuId> held = held(jobs.get(j), nodes.get(n));
                List<GpuId> stay = held.subList(0, Math.min(held.size(), wanted(found, j, n)));
                targets.computeIfAbsent(jobs.get(j).job(), job -> new ArrayList<>())
                        .addAll(stay);
                free.removeAll(stay);
            }
            for (int j = 0; j < jobs.size(); j++) {
                int stay = Math.min(problem.jobs().get(j).current().get(n), wanted(found, j, n));
                List<GpuId> more = free.subList(0, wanted(found, j, n) - stay);
                targets.computeIfAbsent(jobs.get(j).job(), job -> new ArrayList<>())
                        .addAll(more);
                more.clear();
            }
        }
        for (JobView job : jobs) {
            List<GpuId> target = targets.getOrDefault(job.job(), List.of());
            if (!new HashSet<>(target).equals(new HashSet<>(job.gpus()))) {
                reasons.put(job.job(), reason(ats, sizes, job, target.size(), found.powerMean()));
            }
        }
        return new Plan(targets, reasons);
    }

    private static PlanReason reason(Ats ats, SizeReasons reasons, JobView job, int size, double mean) {
        String limit = ats.limit(job)
                .filter(any -> size == Ats.largest(job))
                .map(why -> "; " + why)
                .orElse("");
        return reasons.of(
                job,
                size,
                "the search found the best mean speed for all jobs, %s of the fair-share speed%s"
                        .formatted(Wording.percent(mean), limit),
                Map.of("meanSpeed", mean));
    }

    private static int wanted(PolluxSearch.Found found, int job, int node) {
        return found.best().get(job).get(node);
    }

    @Override
    public String spec() {
        return "pollux:search=" + (original ? ORIGINAL : DEEPBOOT);
    }
}
