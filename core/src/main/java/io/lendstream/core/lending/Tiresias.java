package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Serves jobs that have had little service first, without knowing how long they run: two queues, and a job moves to the second
 * when its run time times its GPUs reaches a threshold. Within a queue the first come are served first. A job gets what its
 * owner asked for or nothing; one that runs stays where it is.
 *
 * <p>Follows the form in which the Pollux and DeepBoot evaluations compare with it: no way back to the first queue, and a
 * job that lost GPUs goes on with the rest.
 *
 * @param demoteGpuHours GPU time after which a job moves to the second queue
 * @see <a href="https://www.usenix.org/conference/nsdi19/presentation/gu">Tiresias, NSDI 2019, discretised 2D-LAS</a>
 */
public record Tiresias(double demoteGpuHours) implements Policy {
    private static final double SECONDS_PER_HOUR = 3600;

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "tiresias",
                "least attained service first, in two queues; jobs get what they asked for or wait",
                false,
                false,
                false);
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    @Override
    public Plan plan(ClusterView cluster) {
        Map<JobId, Standing> standings = new TreeMap<>();
        for (JobView job : cluster.jobs()) {
            standings.put(job.job(), standing(job, cluster));
        }
        List<JobView> queue = new ArrayList<>(cluster.open());
        queue.sort(
                Comparator.<JobView>comparingInt(job -> standing(standings, job).queue())
                        .thenComparing(job -> standing(standings, job).since()));
        int room = cluster.capacity() - cluster.waiting();
        Set<GpuId> kept = new HashSet<>();
        List<JobView> starting = new ArrayList<>();
        Map<JobId, List<GpuId>> targets = new HashMap<>();
        for (JobView job : queue) {
            boolean runs = job.requestedGpus() <= room;
            standings.put(job.job(), standing(standings, job).running(runs));
            targets.put(job.job(), runs ? job.gpus() : List.of());
            if (runs) {
                room -= job.requestedGpus();
                kept.addAll(job.gpus());
                if (job.gpus().isEmpty()) {
                    starting.add(job);
                }
            }
        }
        for (JobView job : cluster.jobs()) {
            if (cluster.fixed().contains(job.job())) {
                standings.put(
                        job.job(), standing(standings, job).running(!job.gpus().isEmpty()));
                kept.addAll(job.gpus());
            }
        }
        Rooms rooms = new Rooms(cluster.gpus(), kept);
        for (JobView job : starting) {
            targets.put(job.job(), rooms.take(job.requestedGpus(), Rooms.Fit.EMPTIEST));
        }
        return new Plan(targets, reasons(cluster, targets, standings), standings, List.of());
    }

    private static Standing standing(Map<JobId, Standing> standings, JobView job) {
        return java.util.Objects.requireNonNull(standings.get(job.job()));
    }

    private Standing standing(JobView job, ClusterView cluster) {
        Standing counted =
                job.standing().orElseGet(() -> Standing.newcomer(cluster.now())).countedTo(cluster.now());
        double gpuSeconds = counted.served().toMillis() / 1000.0 * job.requestedGpus();
        return counted.queue() == 0 && gpuSeconds >= demoteGpuHours * SECONDS_PER_HOUR
                ? counted.movedTo(1, cluster.now())
                : counted;
    }

    private static Map<JobId, String> reasons(
            ClusterView cluster, Map<JobId, List<GpuId>> targets, Map<JobId, Standing> standings) {
        Map<JobId, String> reasons = new HashMap<>();
        for (JobView job : cluster.open()) {
            List<GpuId> target = targets.getOrDefault(job.job(), List.of());
            if (target.size() != job.gpus().size()) {
                reasons.put(
                        job.job(),
                        (target.isEmpty() ? "waits" : "gets the " + target.size() + " GPUs it asked for") + " in queue "
                                + standing(standings, job).queue() + " after "
                                + standing(standings, job).served().toSeconds() + " s of service");
            }
        }
        return reasons;
    }

    @Override
    public String spec() {
        return "tiresias:demote-gpu-hours=" + demoteGpuHours;
    }
}
