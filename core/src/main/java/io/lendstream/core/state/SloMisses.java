package io.lendstream.core.state;

import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Windows in a row in which a service missed its SLO, as one source of request rates saw it.
 *
 * @param source who measured the latency
 * @param windows their number; at least 1
 * @param lastEnd end of the last of them
 */
public record SloMisses(ServiceId service, String source, int windows, Instant lastEnd) {
    /** Sources that are silent for this time are forgotten: a replaced gateway sends no more under its name. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);

    private static final Comparator<SloMisses> LONGEST = Comparator.comparingInt(SloMisses::windows)
            .reversed()
            .thenComparing(SloMisses::service)
            .thenComparing(SloMisses::source);

    /** The windows in a row by the source of a rate. */
    public static Optional<SloMisses> of(List<SloMisses> all, RequestRate rate) {
        return all.stream().filter(each -> each.isOf(rate)).findFirst();
    }

    /**
     * All of them after a window in which a service met or missed its SLO; the same list if nothing changes. A window
     * that came before counts once. Windows are in a row if less than one is missing between them.
     */
    public static List<SloMisses> after(List<SloMisses> all, RequestRate rate, boolean isMissed) {
        Optional<SloMisses> known = of(all, rate);
        if (known.filter(before -> !rate.windowEnd().isAfter(before.lastEnd)).isPresent()
                || (known.isEmpty() && !isMissed)) {
            return all;
        }
        List<SloMisses> next = new ArrayList<>();
        for (SloMisses other : all) {
            boolean isOld = other.lastEnd.plus(FORGOTTEN_AFTER).isBefore(rate.windowEnd());
            if (!isOld && !other.isOf(rate)) {
                next.add(other);
            }
        }
        if (isMissed) {
            Duration window = Duration.between(rate.windowStart(), rate.windowEnd());
            int before = known.filter(last -> rate.windowStart().isBefore(last.lastEnd.plus(window)))
                    .map(SloMisses::windows)
                    .orElse(0);
            next.add(new SloMisses(rate.service(), rate.source(), before + 1, rate.windowEnd()));
        }
        return next;
    }

    /** At most so many, the longest rows first: the state must stay small. */
    public static List<SloMisses> longest(List<SloMisses> all, int most) {
        return all.size() <= most
                ? all
                : all.stream().sorted(LONGEST).limit(most).toList();
    }

    private boolean isOf(RequestRate rate) {
        return service.equals(rate.service()) && source.equals(rate.source());
    }
}
