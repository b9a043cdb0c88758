package io.lendstream.core.policy.published;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.JobView;
import io.lendstream.core.policy.Plan;
import io.lendstream.core.policy.PlanReason;
import io.lendstream.core.policy.PolicyInfo;
import io.lendstream.core.policy.Resized;
import io.lendstream.core.policy.ShapedJob;
import io.lendstream.core.policy.ats.ReclaimsByLeastLoss;
import io.lendstream.core.policy.placement.FreeGpusByNode;
import io.lendstream.core.policy.placement.SitePlacement;
import io.lendstream.core.state.QueuePosition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Serves jobs with little GPU time so far first, without their run times. There are two queues; a job moves to the
 * second when its run time times its GPUs reaches a threshold. Within a queue the first come are served first. A job
 * gets what its owner asked for or nothing; one that runs stays where it is, until jobs before it need its GPUs.
 *
 * <p>Follows the form in which the Pollux and DeepBoot evaluations compare with it: no way back to the first queue, and
 * a job that lost GPUs goes on with the rest.
 *
 * @param demoteGpuHours GPU time after which a job moves to the second queue
 * @see <a href="https://www.usenix.org/conference/nsdi19/presentation/gu">Tiresias, NSDI 2019, discretised 2D-LAS</a>
 */
public record Tiresias(double demoteGpuHours) implements ReclaimsByLeastLoss {
    private static final double SECONDS_PER_HOUR = 3600;
    private static final long NEVER = Long.MAX_VALUE;
    private static final String ORDER = "queue 0 comes first, and in a queue the job that joined it first";

    @Override
    public PolicyInfo info() {
        return new PolicyInfo(
                "tiresias",
                "least attained service first, in two queues; jobs get what they asked for or wait; after a loss they keep the rest",
                false,
                false,
                false);
    }

    @Override
    public boolean givesAllAskedFor() {
        return true;
    }

    @Override
    public Duration planEvery() {
        return Duration.ofSeconds(60);
    }

    /** O(jobs that run + jobs that start + GPUs): the plan reads the queue only as far as there is room. */
    @Override
    public Plan plan(ClusterView cluster) {
        return new Planning(cluster).plan();
    }

    private final class Planning {
        private final ClusterView cluster;
        private final Instant now;
        private final long nowMillis;
        private final Map<JobId, QueuePosition> standings = new HashMap<>();
        private final Map<JobId, List<GpuId>> targets = new HashMap<>();
        private final Map<JobId, PlanReason> reasons = new HashMap<>();
        private final List<JobView> served = new ArrayList<>();
        private final List<JobView> starting = new ArrayList<>();
        private long nextDemotion = NEVER;
        private int room;

        Planning(ClusterView cluster) {
            this.cluster = cluster;
            this.now = cluster.now();
            this.nowMillis = now.toEpochMilli();
            this.room = cluster.capacity() - cluster.waiting();
        }

        Plan plan() {
            List<JobView> demoted = new ArrayList<>();
            for (JobView job : cluster.queue()) {
                if (room <= 0) {
                    break;
                }
                if (cluster.fixed().contains(job.job())) {
                    continue;
                }
                if (isDemoted(standing(job), job)) {
                    demoted.add(job);
                } else {
                    offer(job);
                }
            }
            demoted.forEach(this::offer);
            if (served.size() < cluster.holding().size()) {
                suspend();
            }
            if (!starting.isEmpty()) {
                place();
            }
            Instant until = nextDemotion == NEVER ? Instant.MAX : Instant.ofEpochMilli(nextDemotion);
            return new Plan(targets, reasons, standings, List.of(), Optional.of(until));
        }

        /** Takes the GPUs of jobs that were not served, but for those that are being changed. */
        private void suspend() {
            Set<JobId> kept = new HashSet<>();
            served.forEach(job -> kept.add(job.job()));
            for (JobView job : cluster.holding()) {
                if (cluster.fixed().contains(job.job())) {
                    note(job, true);
                } else if (!kept.contains(job.job())) {
                    QueuePosition standing = note(job, false);
                    targets.put(job.job(), List.of());
                    reasons.put(job.job(), PlanReason.later(() -> reason(job, 0, standing)));
                }
            }
        }

        private void offer(JobView job) {
            boolean runs = job.requestedGpus() <= room;
            if (runs) {
                room -= job.requestedGpus();
            }
            if (!job.gpus().isEmpty()) {
                if (runs) {
                    served.add(job);
                    note(job, true);
                }
            } else {
                note(job, runs);
                if (runs) {
                    starting.add(job);
                }
            }
        }

        private void place() {
            Set<GpuId> kept = new HashSet<>(2 * cluster.gpus().size());
            for (JobView job : cluster.holding()) {
                if (!targets.containsKey(job.job())) {
                    kept.addAll(job.gpus());
                }
            }
            if (SitePlacement.isNeeded(starting)) {
                placeSites(kept);
            }
            FreeGpusByNode rooms = new FreeGpusByNode(cluster.gpus(), kept);
            for (JobView job : starting) {
                if (!targets.containsKey(job.job())) {
                    start(job, rooms.take(job.requestedGpus(), FreeGpusByNode.Fit.EMPTIEST));
                }
            }
        }

        /** Places the jobs with rules about their nodes. */
        private void placeSites(Set<GpuId> kept) {
            SitePlacement sites = new SitePlacement(cluster.gpus(), kept);
            for (JobView job : starting) {
                if (job.site().isPresent()) {
                    List<GpuId> gpus = sites.place(job, job.requestedGpus());
                    kept.addAll(gpus);
                    start(job, gpus);
                }
            }
        }

        private void start(JobView job, List<GpuId> gpus) {
            targets.put(job.job(), gpus);
            QueuePosition standing = standings.getOrDefault(job.job(), standing(job));
            reasons.put(job.job(), PlanReason.later(() -> reason(job, gpus.size(), standing)));
        }

        /** Notes where a job stands after this plan, and when it would be demoted. */
        private QueuePosition note(JobView job, boolean runs) {
            QueuePosition before = standing(job);
            boolean demoted = isDemoted(before, job);
            QueuePosition after = (demoted ? before.movedTo(1, now) : before).running(runs, now);
            if (demoted
                    || runs != before.runningSince().isPresent()
                    || job.standing().isEmpty()) {
                standings.put(job.job(), after);
            }
            nextDemotion = Math.min(nextDemotion, demotion(after, job));
            return after;
        }

        private QueuePosition standing(JobView job) {
            return job.standing().orElseGet(() -> QueuePosition.newcomer(now));
        }

        private boolean isDemoted(QueuePosition standing, JobView job) {
            return demotion(standing, job) <= nowMillis;
        }

        /** When a job will have had its time in the first queue, if it runs; in milliseconds since 1970. */
        private long demotion(QueuePosition standing, JobView job) {
            if (standing.queue() > 0 || standing.runningSince().isEmpty()) {
                return NEVER;
            }
            // A job that no number of GPUs fits now counts with those that it has.
            boolean hasSize = job.requestedGpus() < ShapedJob.NO_SIZE;
            int asked = hasSize ? job.requestedGpus() : Math.max(1, job.gpus().size());
            double seconds = demoteGpuHours * SECONDS_PER_HOUR / asked;
            long millis = (long) Math.ceil(1000 * seconds - 1e-6);
            return standing.runningSince().get().toEpochMilli()
                    + millis
                    - standing.served().toMillis();
        }

        private PlanReason reason(JobView job, int size, QueuePosition standing) {
            long served = standing.servedBy(now).toSeconds();
            String text = job.job() + " " + Resized.of(cluster, job, size).inWords() + ": it is in queue "
                    + standing.queue() + " after " + served + " s of run time, and "
                    + left(job.requestedGpus(), size) + "; " + ORDER;
            return new PlanReason(text, Map.of("queue", (double) standing.queue(), "servedSeconds", (double) served));
        }

        /** The GPUs that are left for a job, against those that it asked for. */
        private static String left(int requested, int size) {
            String asked = Reason.counted(requested, "GPU");
            if (requested == ShapedJob.NO_SIZE) {
                return "the nodes have no number of GPUs that its shape allows";
            }
            if (size == 0) {
                return requested == 1
                        ? "no GPU is left for it"
                        : "fewer than the " + asked + " that it asked for are left";
            }
            return size < requested
                    ? "only " + size + " of the " + asked + " that it asked for " + (size == 1 ? "is" : "are") + " free"
                    : "the " + asked + " that it asked for " + (requested == 1 ? "is" : "are") + " left";
        }
    }

    @Override
    public String spec() {
        return "tiresias:demote-gpu-hours=" + demoteGpuHours;
    }
}
