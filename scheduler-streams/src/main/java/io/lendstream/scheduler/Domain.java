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

/** A domain in work: its state as the core sees it, and how far its inputs have been taken. */
final class Domain {
    /** A record that was in its topic no longer than this means that there is no backlog. */
    private static final Duration RECENT = Duration.ofSeconds(5);
    /** Without any record for this long there is nothing that could be waited for. */
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
     * That nothing is decided in a domain, as its steps fail.
     *
     * @param why what failed, in one line
     * @param failedAt the domain's time that could not be reached
     * @param since when it stopped, by the wall clock
     * @param triedAt when a step was last tried, by the wall clock
     */
    record Stop(String why, Instant failedAt, Instant since, Instant triedAt) {
        Stop triedAgain(String reason, Instant wallClock) {
            return new Stop(reason, failedAt, since, wallClock);
        }
    }

    /**
     * A domain as it was left.
     *
     * @param wallClock the time of taking it up
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
    }

    /** Whether this task has raised the domain's epoch and thereby taken it over. */
    boolean inOffice() {
        return scheduler.isPresent();
    }

    void claimEpoch(Scheduler appointed) {
        scheduler = Optional.of(appointed);
    }

    /** Who decides, once this task is in office. */
    Scheduler scheduler() {
        return scheduler.orElseThrow(() -> new IllegalStateException("nobody has taken domain " + id + " over yet"));
    }

    /** Why nothing is decided; empty while all is well. Any thread may ask. */
    Optional<Stop> stop() {
        return stop;
    }

    void stop(Optional<Stop> next) {
        stop = next;
    }

    /** Whether it is time for a stopped domain to try a record that only says how things are: once a second. */
    boolean mayTry(Instant wallClock) {
        if (wallClock.isBefore(lastTrial.plusSeconds(1)) && !wallClock.isBefore(lastTrial)) {
            return false;
        }
        lastTrial = wallClock;
        return true;
    }

    /** The core took an event. */
    void worked() {
        refusals = 0;
    }

    /** The core refused an event; how many it did in a row. */
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

    /** Offset of the last record taken from a topic's partition; -1 before the first. */
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

    /** Start of the first window of requests that any source reported of a service. */
    Optional<Instant> firstWindow(ServiceId service) {
        return Optional.ofNullable(firstWindows.get(service));
    }

    void firstWindow(ServiceId service, Instant start) {
        firstWindows.put(service, start);
    }

    /** The time up to which the environment has been answered. */
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

    /** A record came in that had been in its topic since {@code arrived}. */
    void heard(Instant arrived, Instant wallClock) {
        heardAt = wallClock;
        caughtUp = !arrived.plus(RECENT).isBefore(wallClock);
    }

    /** Whether the record that came in last had waited to be read. */
    boolean isBehind() {
        return !caughtUp;
    }

    /**
     * Whether the domain's time is that of the wall clock. With a backlog it is not: events that wait to be read are no
     * silence, and must not be taken for it.
     */
    boolean isUpToDate(Instant wallClock) {
        return caughtUp || !heardAt.plus(SILENT).isAfter(wallClock);
    }
}
