package io.lendstream.scheduler;

import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Progress;
import io.lendstream.core.event.ServiceName;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A domain that this task processes: its core state, and the input positions up to which it has been applied. */
final class Domain {
    /** A record younger than this in its topic means that there is no backlog. */
    private static final Duration RECENT = Duration.ofSeconds(5);
    /** After this long without any record, there is no backlog to wait for. */
    private static final Duration SILENT = Duration.ofSeconds(10);

    private final DomainId id;
    private final Map<String, Long> accepted = new HashMap<>();
    private final Map<String, Progress> progress = new HashMap<>();
    private final Map<ServiceId, Instant> firstWindows = new HashMap<>();
    private volatile ClusterState state; // metrics are read by another thread
    private Optional<Instant> answered = Optional.empty();
    private Optional<Scheduler> scheduler = Optional.empty();
    private int refusals;
    private Instant heardAt;
    private boolean caughtUp;
    private Optional<Instant> awaitingForecastSince = Optional.empty();
    private volatile Optional<Stop> stop = Optional.empty();
    private Instant lastTrial = Instant.EPOCH;

    /**
     * Why a domain is stopped: its ticks fail, so no decisions are made in it.
     *
     * @param why the failure, in one line
     * @param failedAt the domain time that could not be reached
     * @param since wall-clock time at which the domain stopped
     * @param triedAt wall-clock time of the last attempt
     */
    record Stop(String why, Instant failedAt, Instant since, Instant triedAt) {
        Stop triedAgain(String reason, Instant wallClock) {
            return new Stop(reason, failedAt, since, wallClock);
        }
    }

    /**
     * Restores a domain from its saved state.
     *
     * @param wallClock the time of the restore
     */
    Domain(ClusterState state, Instant wallClock) {
        this.id = state.domain();
        this.state = state;
        this.heardAt = wallClock;
    }

    DomainId id() {
        return id;
    }

    ClusterState state() {
        return state;
    }

    void state(ClusterState next) {
        state = next;
        scheduler = scheduler.map(appointed -> appointed.in(next));
    }

    /** Whether this task has taken the domain over, which raised its epoch. */
    boolean inOffice() {
        return scheduler.isPresent();
    }

    void claimEpoch(Scheduler appointed) {
        scheduler = Optional.of(appointed);
    }

    /** The core with the declared settings of this domain; present once this task has taken the domain over. */
    Scheduler scheduler() {
        return scheduler.orElseThrow(() -> new IllegalStateException("domain " + id + " has not been taken over yet"));
    }

    /** Why the domain is stopped; empty while it works. Safe for any thread. */
    Optional<Stop> stop() {
        return stop;
    }

    void stop(Optional<Stop> next) {
        stop = next;
    }

    /** Whether a stopped domain may try a signal record now: at most once a second. */
    boolean mayTry(Instant wallClock) {
        if (wallClock.isBefore(lastTrial.plusSeconds(1)) && !wallClock.isBefore(lastTrial)) {
            return false;
        }
        lastTrial = wallClock;
        return true;
    }

    /** Records that the core accepted an event. */
    void worked() {
        refusals = 0;
    }

    /** Records that the core refused an event; returns how many it refused in a row. */
    int refused() {
        refusals++;
        return refusals;
    }

    static String position(Origin origin) {
        return origin.topic() + "-" + origin.partition();
    }

    boolean hasAccepted(Origin origin) {
        return origin.offset() <= accepted(position(origin));
    }

    /** Offset of the last record applied from a topic's partition; -1 before the first. */
    long accepted(String position) {
        return accepted.getOrDefault(position, -1L);
    }

    void accept(String position, long offset) {
        accepted.put(position, offset);
    }

    Optional<Progress> progress(ServiceName service) {
        return Optional.ofNullable(progress.get(service.toString()));
    }

    void progress(Progress next) {
        progress.put(next.service(), next);
    }

    /** Start of the first window of request rates that any source reported for a service. */
    Optional<Instant> firstWindow(ServiceId service) {
        return Optional.ofNullable(firstWindows.get(service));
    }

    void firstWindow(ServiceId service, Instant start) {
        firstWindows.put(service, start);
    }

    /** The time up to which the virtual-time driver has been answered. */
    Optional<Instant> answered() {
        return answered;
    }

    void answered(Optional<Instant> upTo) {
        answered = upTo;
    }

    Optional<Instant> awaitingForecastSince() {
        return awaitingForecastSince;
    }

    void awaitingForecastSince(Optional<Instant> wallClock) {
        awaitingForecastSince = wallClock;
    }

    /** Records that a record was received that had been in its topic since {@code arrived}. */
    void heard(Instant arrived, Instant wallClock) {
        heardAt = wallClock;
        caughtUp = !arrived.plus(RECENT).isBefore(wallClock);
    }

    /** Whether the last record received was part of a backlog. */
    boolean isBehind() {
        return !caughtUp;
    }

    /**
     * Whether the domain's time follows the wall clock. It does not during a backlog: unread events must not be
     * mistaken for silence.
     */
    boolean isUpToDate(Instant wallClock) {
        return caughtUp || !heardAt.plus(SILENT).isAfter(wallClock);
    }
}
