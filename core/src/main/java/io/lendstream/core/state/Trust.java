package io.lendstream.core.state;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.id.ServiceId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The level of trust of a domain, and what counts for and against the next one.
 *
 * @param service the service whose idle GPUs are lent at {@link TrustLevel#ONE_SERVICE}, kept at higher levels; if
 *     there is none, nothing is lent at that level
 * @param since when the level last changed
 * @param by who changed it
 * @param lateReclaims inference GPUs that came back late since the level is kept
 * @param lastLateAt when the last of them did
 * @param loweredAt when the scheduler last lowered the level by itself
 * @param misses services that miss their SLO now, at most 200 rows of windows
 */
public record Trust(
        TrustLevel level,
        Optional<ServiceId> service,
        Instant since,
        String by,
        long lateReclaims,
        Optional<Instant> lastLateAt,
        Optional<Instant> loweredAt,
        List<SloMisses> misses) {
    /** The sources that are kept: the state must stay small. */
    private static final int MOST_MISSES = 200;

    public Trust {
        misses = List.copyOf(misses);
    }

    /** A level that begins. */
    public static Trust of(TrustLevel level, Optional<ServiceId> service, Instant since, String by) {
        return new Trust(level, service, since, by, 0, Optional.empty(), Optional.empty(), List.of());
    }

    /** From when the time without a late reclaim counts. */
    public Instant cleanSince() {
        return lastLateAt.filter(since::isBefore).orElse(since);
    }

    /** Another level from a time on; a service that is not named stays. */
    public Trust at(TrustLevel next, Optional<ServiceId> named, Instant at, String who) {
        return new Trust(next, named.or(() -> service), at, who, lateReclaims, lastLateAt, loweredAt, List.of());
    }

    /** After a service was deleted: if the level names it, it names none. */
    public Trust without(ServiceId deleted) {
        return service.filter(deleted::equals).isEmpty()
                ? this
                : new Trust(level, Optional.empty(), since, by, lateReclaims, lastLateAt, loweredAt, misses);
    }

    /** A lower level, by the scheduler itself. */
    public Trust loweredTo(TrustLevel next, Instant at) {
        return new Trust(next, service, at, "the scheduler", lateReclaims, lastLateAt, Optional.of(at), List.of());
    }

    /** After GPUs came back late. */
    public Trust late(int gpus, Instant at) {
        return gpus == 0
                ? this
                : new Trust(level, service, since, by, lateReclaims + gpus, Optional.of(at), loweredAt, misses);
    }

    /** After a window in which a service met or missed its SLO. */
    public Trust measured(RequestRate rate, boolean isMissed) {
        List<SloMisses> next = SloMisses.after(misses, rate, isMissed);
        return next.equals(misses)
                ? this
                : new Trust(
                        level,
                        service,
                        since,
                        by,
                        lateReclaims,
                        lastLateAt,
                        loweredAt,
                        SloMisses.longest(next, MOST_MISSES));
    }

    /** The windows in a row in which a service missed its SLO, by the source of a rate. */
    public Optional<SloMisses> misses(RequestRate rate) {
        return SloMisses.of(misses, rate);
    }

    /** The level with its service, such as {@code one (service chat)}. */
    public String inWords() {
        return level == TrustLevel.ONE_SERVICE
                ? "one (%s)".formatted(service.map(name -> "service " + name).orElse("no service named"))
                : level.label();
    }
}
