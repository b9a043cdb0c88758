package io.lendstream.core.demand;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.decision.Wording;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Limits;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.SloFeedback;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The replicas that a service needs, by cause.
 *
 * @param now replicas for the current load
 * @param ahead replicas for the load expected within the time of a reclaim and a warm-up; 0 if the policy ignores
 *     forecasts
 * @param floor replicas that the service always keeps
 * @param peakAt the time of the forecast peak, if the forecast decides the need
 * @param besideInstances whether the service also runs on MIG instances, so that this counts only the load beyond them
 * @param more replicas beyond these, because the service missed its SLO with those for its load
 * @param roles the needs of the roles that this is the sum of, in the order of roles; else empty
 */
public record ReplicaNeed(
        int now,
        int ahead,
        int floor,
        Optional<Instant> peakAt,
        boolean besideInstances,
        int more,
        SortedMap<ReplicaRole, ReplicaNeed> roles) {
    private static final SortedMap<ReplicaRole, ReplicaNeed> NO_ROLES =
            Collections.unmodifiableSortedMap(new TreeMap<>());

    public ReplicaNeed {
        roles = roles.isEmpty() ? NO_ROLES : Collections.unmodifiableSortedMap(new TreeMap<>(roles));
    }

    /** A need of one role. */
    public ReplicaNeed(int now, int ahead, int floor, Optional<Instant> peakAt, boolean besideInstances) {
        this(now, ahead, floor, peakAt, besideInstances, 0, NO_ROLES);
    }

    /** A need on whole GPUs that no forecast decides. */
    public ReplicaNeed(int now, int ahead, int floor) {
        this(now, ahead, floor, Optional.empty(), false);
    }

    /** The sum of the needs of roles; the need itself if there is only the role of whole requests. */
    public static ReplicaNeed of(SortedMap<ReplicaRole, ReplicaNeed> roles) {
        if (roles.size() == 1 && !roles.firstKey().isPart()) {
            return roles.values().iterator().next();
        }
        int now = 0;
        int ahead = 0;
        int floor = 0;
        int more = 0;
        for (ReplicaNeed role : roles.values()) {
            now += role.now;
            ahead += role.ahead;
            floor += role.floor;
            more += role.more;
        }
        return new ReplicaNeed(now, ahead, floor, Optional.empty(), false, more, roles);
    }

    /**
     * The replicas needed: the greatest of the three numbers with those beyond, or the sum of roles. A forecast can
     * only raise them.
     */
    public int replicas() {
        if (!roles.isEmpty()) {
            int sum = 0;
            for (ReplicaNeed role : roles.values()) {
                sum += role.replicas();
            }
            return sum;
        }
        return Math.max(floor, Math.max(now, ahead)) + more;
    }

    /** The replicas of one role for the requests there are, whatever is expected. */
    public int present(Optional<SloFeedback> feedback) {
        int base = Math.max(now, floor);
        return base + feedback.map(missed -> Math.min(missed.added(base), more)).orElse(0);
    }

    /** Whether the expected load decides the need, and not the current load or the floor. */
    public boolean isAhead() {
        if (!roles.isEmpty()) {
            return roles.values().stream().anyMatch(ReplicaNeed::isAhead);
        }
        return ahead > Math.max(now, floor);
    }

    /** Whether a forecast decides the need, and not the peak of the last minutes that replaces a missing one. */
    public boolean isByForecast() {
        if (!roles.isEmpty()) {
            return roles.values().stream().anyMatch(ReplicaNeed::isByForecast);
        }
        return isAhead() && peakAt.isPresent();
    }

    /** The need and its cause, such as {@code 4 needed for the current load}. */
    public String explained() {
        if (!roles.isEmpty()) {
            List<String> parts = new ArrayList<>();
            roles.forEach((role, need) -> parts.add(role.inWords() + ": " + need.explained()));
            return String.join("; ", parts);
        }
        return more == 0 ? byLoad() : byLoad() + ", and " + more + " more, as it missed its SLO with them";
    }

    private String byLoad() {
        if (isAhead()) {
            return ahead + " needed (" + now + " for the current load, " + ahead + " by "
                    + peakAt.map(at -> "the forecast for " + Wording.timeOfDay(at))
                            .orElse("the peak of the last 10 minutes")
                    + ")";
        }
        if (floor > now) {
            return floor + " needed as its floor (" + now + " for the current load)";
        }
        return now + " needed for the " + (besideInstances ? "load beyond its MIG instances" : "current load");
    }

    /**
     * The need of a service at a time.
     *
     * @param lead time from a decision to a replica that answers
     * @param outlook how much expected demand counts; if a forecast is missing or old, the peak of the last ten minutes
     *     replaces it
     */
    public static ReplicaNeed of(ServiceState service, Instant now, Duration lead, Outlook outlook) {
        return of(service, now, lead, outlook, ReplicaCapacity.of(service.spec()));
    }

    /**
     * The same of a service whose replicas are not alike.
     *
     * @param counting how its replicas are counted
     */
    public static ReplicaNeed of(
            ServiceState service, Instant now, Duration lead, Outlook outlook, ReplicaCounting counting) {
        return of(service, now, lead, outlook, counting, service.spec().floorReplicas());
    }

    /** The same with another floor than that of the service. */
    public static ReplicaNeed of(
            ServiceState service, Instant now, Duration lead, Outlook outlook, ReplicaCounting counting, int floor) {
        return byLoad(service, now, lead, outlook, counting, floor).with(service.feedback());
    }

    private static ReplicaNeed byLoad(
            ServiceState service, Instant now, Duration lead, Outlook outlook, ReplicaCounting counting, int floor) {
        int present = present(service, counting);
        if (!outlook.looksAhead()) {
            return new ReplicaNeed(present, 0, floor);
        }
        Optional<DemandForecast> fresh = service.forecast().filter(forecast -> forecast.isFresh(now));
        if (fresh.isEmpty()) {
            return new ReplicaNeed(present, counting.replicasFor(service.recentPeak(now)), floor);
        }
        DemandForecast forecast = fresh.get();
        Duration within = lead.plus(Duration.between(forecast.issuedAt(), now));
        Outlook.Expected peak = outlook.peak(forecast, within, lead);
        int ahead = counting.replicasFor(peak.perSecond());
        Optional<Instant> peakAt = ahead > Math.max(present, floor) ? Optional.of(peak.at()) : Optional.empty();
        return new ReplicaNeed(present, ahead, floor, peakAt, false);
    }

    /** With the replicas beyond, of a need without any. */
    private ReplicaNeed with(Optional<SloFeedback> feedback) {
        return feedback.isEmpty()
                ? this
                : new ReplicaNeed(
                        now,
                        ahead,
                        floor,
                        peakAt,
                        besideInstances,
                        feedback.get().added(replicas()),
                        roles);
    }

    /**
     * The replicas that a service needs beside its planned MIG instances, which also cover its floor.
     *
     * @param answered requests per second that the planned instances answer
     * @param expected requests per second to be ready for
     */
    public static ReplicaNeed beside(ServiceState service, double answered, double expected) {
        return beside(service, answered, expected, ReplicaCapacity.of(service.spec()));
    }

    /** The same of a service whose replicas are not alike. */
    public static ReplicaNeed beside(ServiceState service, double answered, double expected, ReplicaCounting counting) {
        return new ReplicaNeed(
                        counting.replicasFor(Math.max(0, perSecond(service) - answered)),
                        counting.replicasFor(Math.max(0, expected - answered)),
                        0,
                        Optional.empty(),
                        true)
                .with(service.feedback());
    }

    private static int present(ServiceState service, ReplicaCounting counting) {
        Optional<Integer> concurrency = service.spec().replicaConcurrency();
        if (concurrency.isPresent()) {
            return ceilDiv((long) service.inFlight() + service.queueDepth(), concurrency.get());
        }
        return counting.replicasFor(perSecond(service));
    }

    /** Requests that arrive, plus the queue spread over one window. */
    private static double perSecond(ServiceState service) {
        double backlogPerSecond = service.queueDepth() / Math.max(1.0, Limits.millis(service.window()) / 1000.0);
        return service.arrivalsPerSecond() + backlogPerSecond;
    }

    /** Rounded up; at most what an int holds. */
    private static int ceilDiv(long total, int each) {
        return (int) Math.min(Integer.MAX_VALUE, (total + each - 1) / each);
    }
}
