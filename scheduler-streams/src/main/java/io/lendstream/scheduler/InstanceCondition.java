package io.lendstream.scheduler;

import io.lendstream.core.id.DomainId;
import io.lendstream.service.settings.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The condition of this instance over all its tasks: its stopped domains, and whether it refuses most records. Either
 * makes the instance not ready. Safe for many threads.
 */
final class InstanceCondition {
    /** The number of latest records that are judged together; records older than {@link #MEMORY} do not count. */
    private static final int WINDOW = 100;

    private static final Duration MEMORY = Duration.ofMinutes(10);
    /** With fewer records, no share is computed. */
    private static final int LEAST = 20;

    private static final double MOST_REFUSED = 0.5;
    private static final int NAMED = 5;

    private final Deque<Taken> latest = new ArrayDeque<>();
    private final SortedMap<DomainId, String> stopped = new TreeMap<>();

    /** A received record, with the reason if it was refused. */
    private record Taken(Instant at, Optional<Refusal> refusal) {}

    private record Refusal(String topic, Poison.Kind kind, Optional<Duration> ahead) {
        String gist() {
            return "%s in %s".formatted(kind.name().toLowerCase(Locale.ROOT), topic);
        }
    }

    synchronized void taken(Instant now) {
        add(new Taken(now, Optional.empty()));
    }

    /** Counts a refused record. A stopped domain is reported once, not for each of its records. */
    synchronized void refused(String topic, Poison poison, Instant now) {
        if (poison.kind() != Poison.Kind.DOMAIN_STOPPED) {
            add(new Taken(now, Optional.of(new Refusal(topic, poison.kind(), poison.ahead()))));
        }
    }

    private void add(Taken taken) {
        latest.addLast(taken);
        if (latest.size() > WINDOW) {
            latest.removeFirst();
        }
    }

    synchronized void stopped(DomainId domain, String why) {
        stopped.put(domain, why);
    }

    /** Records that a domain works, or that this instance no longer has it. */
    synchronized void notStopped(DomainId domain) {
        stopped.remove(domain);
    }

    /** The share of the latest records that were refused; 0 with too few records. */
    synchronized double refusedShare(Instant now) {
        forget(now);
        return latest.size() < LEAST ? 0 : (double) refusals().size() / latest.size();
    }

    private void forget(Instant now) {
        while (!latest.isEmpty() && latest.getFirst().at().isBefore(now.minus(MEMORY))) {
            latest.removeFirst();
        }
    }

    private List<Refusal> refusals() {
        return latest.stream().flatMap(each -> each.refusal().stream()).toList();
    }

    /** Why this instance is not ready; empty if it is ready. */
    synchronized Optional<String> complaint(Instant now) {
        List<String> complaints = new ArrayList<>();
        if (!stopped.isEmpty()) {
            String named = stopped.entrySet().stream()
                    .limit(NAMED)
                    .map(each -> "%s (%s)".formatted(each.getKey(), each.getValue()))
                    .collect(Collectors.joining(", "));
            complaints.add("%s: %s%s"
                    .formatted(
                            stopped.size() == 1
                                    ? "1 of its domains is stopped and makes no decisions"
                                    : stopped.size() + " of its domains are stopped and make no decisions",
                            named,
                            stopped.size() > NAMED ? " and %d more".formatted(stopped.size() - NAMED) : ""));
        }
        if (refusedShare(now) > MOST_REFUSED) {
            complaints.add(mostAreRefused());
        }
        return complaints.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", complaints));
    }

    private String mostAreRefused() {
        List<Refusal> refusals = refusals();
        String share = "%d of the last %d records were refused".formatted(refusals.size(), latest.size());
        List<Duration> ahead = refusals.stream()
                .flatMap(each -> each.ahead().stream())
                .sorted()
                .toList();
        if (2 * ahead.size() > refusals.size()) {
            return "%s for clock skew: the median of %d records is %s ahead of this machine's clock; synchronize this machine and the writers by NTP"
                    .formatted(share, ahead.size(), Units.text(ahead.get(ahead.size() / 2)));
        }
        Map<String, Long> counts =
                refusals.stream().collect(Collectors.groupingBy(Refusal::gist, TreeMap::new, Collectors.counting()));
        String most = counts.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(each -> "%s (%d)".formatted(each.getKey(), each.getValue()))
                .orElseThrow();
        return "%s, most as %s; see the dead letters of that topic for the reason".formatted(share, most);
    }
}
