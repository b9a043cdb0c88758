package io.lendstream.schemas.snapshot;

import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.SnapshotPart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Collects parts of snapshots in the order of their topic, and decodes the snapshot that is wanted. Repeated parts do
 * no harm.
 */
public final class SnapshotShelf {
    private final Map<DomainId, NavigableMap<Long, List<SnapshotPart>>> snapshots = new HashMap<>();

    /** Takes the next part. A snapshot that begins again replaces parts of another one of the same event. */
    public void take(SnapshotPart part) {
        List<SnapshotPart> parts = snapshots
                .computeIfAbsent(part.domain(), domain -> new TreeMap<>())
                .computeIfAbsent(part.position().eventSequence(), sequence -> new ArrayList<>());
        if (parts.isEmpty() || parts.get(0).isOfSame(part)) {
            if (part.part() >= parts.size()) {
                parts.add(part);
            }
        } else if (part.part() == 0) {
            parts.clear();
            parts.add(part);
        }
    }

    /** Events of the snapshots of a domain, oldest first; some may be unusable. */
    public List<Long> sequences(DomainId domain) {
        return List.copyOf(of(domain).keySet());
    }

    /**
     * The last usable snapshot of a domain.
     *
     * @param upTo event sequence that it may contain at most
     * @param notes receives a sentence for each later one that is passed over
     */
    public Optional<Snapshot> nearest(DomainId domain, long upTo, Consumer<String> notes) {
        for (List<SnapshotPart> parts :
                of(domain).headMap(upTo, true).descendingMap().values()) {
            try {
                return Optional.of(SnapshotReading.of(parts));
            } catch (UnusableSnapshotException e) {
                notes.accept("the snapshot of event %d of domain %s is passed over: %s"
                        .formatted(parts.get(0).position().eventSequence(), domain, e.why()));
            }
        }
        return Optional.empty();
    }

    private NavigableMap<Long, List<SnapshotPart>> of(DomainId domain) {
        return snapshots.getOrDefault(domain, new TreeMap<>());
    }
}
