package io.lendstream.core.lending;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.JobId;
import io.lendstream.core.cluster.Standing;
import io.lendstream.core.decision.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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

    /** A job in the queue. */
    private record Place(JobView job, Standing standing) {
        static final Comparator<Place> ORDER = Comparator.<Place>comparingInt(place -> place.standing.queue())
                .thenComparing(place -> place.standing.since());

        boolean isHolding() {
            return !job.gpus().isEmpty();
        }
    }

    /** O(jobs x log jobs + GPUs). */
    @Override
    public Plan plan(ClusterView cluster) {
        Map<JobId, Standing> standings = new HashMap<>();
        Map<JobId, List<GpuId>> targets = new HashMap<>();
        Map<JobId, String> reasons = new HashMap<>();
        Set<GpuId> kept = new HashSet<>();
        List<Place> queue = new ArrayList<>(cluster.jobs().size());
        Optional<Instant> demotion = Optional.empty();
        int room = cluster.capacity() - cluster.waiting();
        for (JobView job : cluster.jobs()) {
            Place place = new Place(job, standing(job, cluster.now()));
            if (cluster.fixed().contains(job.job())) {
                kept.addAll(job.gpus());
                demotion = renew(standings, place, place.isHolding(), cluster.now(), demotion);
            } else {
                queue.add(place);
            }
        }
        queue.sort(Place.ORDER);
        List<Place> starting = new ArrayList<>();
        for (Place place : queue) {
            boolean runs = place.job.requestedGpus() <= room;
            demotion = renew(standings, place, runs, cluster.now(), demotion);
            if (runs) {
                room -= place.job.requestedGpus();
                kept.addAll(place.job.gpus());
                if (!place.isHolding()) {
                    starting.add(place);
                }
            } else if (place.isHolding()) {
                targets.put(place.job.job(), List.of());
                reasons.put(place.job.job(), "waits" + reason(place, cluster.now()));
            }
        }
        if (!starting.isEmpty()) {
            Rooms rooms = new Rooms(cluster.gpus(), kept);
            for (Place place : starting) {
                List<GpuId> gpus = rooms.take(place.job.requestedGpus(), Rooms.Fit.EMPTIEST);
                targets.put(place.job.job(), gpus);
                reasons.put(
                        place.job.job(),
                        "gets the %s it asked for".formatted(Reason.counted(gpus.size(), "GPU"))
                                + reason(place, cluster.now()));
            }
        }
        return new Plan(targets, reasons, standings, List.of(), Optional.of(demotion.orElse(Instant.MAX)));
    }

    private Standing standing(JobView job, Instant now) {
        Standing standing = job.standing().orElseGet(() -> Standing.newcomer(now));
        return standing.queue() == 0 && secondsToDemotion(job, standing, now) <= 0
                ? standing.movedTo(1, now)
                : standing;
    }

    private double secondsToDemotion(JobView job, Standing standing, Instant now) {
        double served = standing.servedBy(now).toMillis() / 1000.0;
        return demoteGpuHours * SECONDS_PER_HOUR / job.requestedGpus() - served;
    }

    /** Notes where a job stands after this plan; returns when some job is demoted next. */
    private Optional<Instant> renew(
            Map<JobId, Standing> standings, Place place, boolean runs, Instant now, Optional<Instant> demotion) {
        Standing next = place.standing.running(runs, now);
        if (place.job.standing().filter(next::equals).isEmpty()) {
            standings.put(place.job.job(), next);
        }
        if (!runs || next.queue() > 0) {
            return demotion;
        }
        Instant at = now.plusMillis((long) Math.ceil(1000 * secondsToDemotion(place.job, next, now)));
        return demotion.isPresent() && demotion.get().isBefore(at) ? demotion : Optional.of(at);
    }

    private static String reason(Place place, Instant now) {
        return " in queue %d after %d s of service"
                .formatted(place.standing.queue(), place.standing.servedBy(now).toSeconds());
    }

    @Override
    public String spec() {
        return "tiresias:demote-gpu-hours=" + demoteGpuHours;
    }
}
