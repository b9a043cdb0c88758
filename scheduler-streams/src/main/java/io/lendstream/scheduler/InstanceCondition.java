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
 * How this instance fares, over all its tasks: which of its domains are stopped, and whether it refuses most of what arrives. Either
 * makes it not ready. Any thread may tell or ask.
 */
final class InstanceCondition {
    /** Records that are judged together: the latest so many, none older than {@link #MEMORY}. */
    private static final int WINDOW = 100;

    private static final Duration MEMORY = Duration.ofMinutes(10);
    /** Fewer records than this say nothing. */
    private static final int LEAST = 20;

    private static final double MOST_REFUSED = 0.5;
    private static final int NAMED = 5;

    private final Deque<Taken> latest = new ArrayDeque<>();
    private final SortedMap<DomainId, String> stopped = new TreeMap<>();

    /** A record that arrived; with why it was refused, if it was. */
    private record Taken(Instant at, Optional<Refusal> refusal) {}

    private record Refusal(String topic, Poison.Kind kind, Optional<Duration> ahead) {
        String gist() {
            return "%s in %s".formatted(kind.name().toLowerCase(Locale.ROOT), topic);
        }
    }

    synchronized void taken(Instant now) {
        add(new Taken(now, Optional.empty()));
    }

    /** A record was refused. That a domain is stopped is told by itself, not by each of its records. */
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

    /** A domain works, or is no longer with this instance. */
    synchronized void notStopped(DomainId domain) {
        stopped.remove(domain);
    }

    /** The share of the latest records that was refused; 0 where there are too few to judge by. */
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

    /** Why this instance is not ready; empty while it is well. */
    synchronized Optional<String> complaint(Instant now) {
        List<String> complaints = new ArrayList<>();
        if (!stopped.isEmpty()) {
            String named = stopped.entrySet().stream()
                    .limit(NAMED)
                    .map(each -> "%s (%s)".formatted(each.getKey(), each.getValue()))
                    .collect(Collectors.joining(", "));
            complaints.add("%d of its domains stand still, and nothing is decided there: %s%s"
                    .formatted(
                            stopped.size(),
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
            return "%s for clock skew: the median of %d is %s ahead of this machine's clock; have this machine and the writers follow NTP"
                    .formatted(share, ahead.size(), Units.text(ahead.get(ahead.size() / 2)));
        }
        Map<String, Long> counts =
                refusals.stream().collect(Collectors.groupingBy(Refusal::gist, TreeMap::new, Collectors.counting()));
        String most = counts.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(each -> "%s (%d)".formatted(each.getKey(), each.getValue()))
                .orElseThrow();
        return "%s, most as %s; the dead letters of that topic say why".formatted(share, most);
    }
}
