package io.lendstream.launcher.operation;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the active scheduler of each domain: the last {@link SchedulerStarted} of its log. Logs may be long, but
 * epochs only rise along a log, so bisection finds the first event of the present epoch.
 */
final class SchedulerSearch {
    /** The number of records at the end of a partition that are searched for domains first. */
    private static final long TAIL = 500;

    private static final int TAIL_GROWS = 8;
    private static final int TAILS = 3;
    /** The number of reads after which a search stops; bisection of a busy log needs far fewer. */
    private static final int MOST_READS = 1_000;

    private final List<LogPartition> partitions;

    /** A partition of the log that can be read from any offset. */
    interface LogPartition {
        long beginning();

        /** The offset after the last record. */
        long end();

        /** The offset of the first record that was written at a time or later; the end if there is none. */
        long since(Instant written);

        /** The next records from an offset, in order; none only at the end. */
        Batch read(long offset);
    }

    /** Records with the offset after them. */
    record Batch(List<Placed> events, long next) {}

    /** An event with its offset. */
    record Placed(long offset, DomainEvent event) {}

    SchedulerSearch(List<LogPartition> partitions) {
        this.partitions = List.copyOf(partitions);
    }

    /** The last start of a scheduler in each domain, if the log still has it. */
    List<SchedulerStarted> find(Collection<DomainId> domains) {
        List<Search> searches = partitions.stream().map(Search::new).toList();
        Set<DomainId> missing = new TreeSet<>(domains);
        long tail = TAIL;
        for (int i = 0; i < TAILS && !missing.isEmpty(); i++) {
            for (Search search : searches) {
                search.readTail(tail);
                missing.removeAll(search.spans.keySet());
            }
            tail *= TAIL_GROWS;
        }
        List<SchedulerStarted> found = new ArrayList<>();
        for (Search search : searches) {
            for (DomainId domain : domains) {
                search.start(domain).ifPresent(found::add);
            }
        }
        return found;
    }

    /** The offsets between which the present epoch of a domain begins. */
    private static final class Span {
        private final long epoch;
        /** The last known offset of an earlier epoch. */
        private long earlier;
        /** The first known offset of the present epoch. */
        private long present;

        private Optional<SchedulerStarted> started = Optional.empty();

        Span(long epoch, long earlier, long present) {
            this.epoch = epoch;
            this.earlier = earlier;
            this.present = present;
        }
    }

    /** The search in one partition. */
    private static final class Search {
        private final LogPartition log;
        private final long beginning;
        private final Map<DomainId, Span> spans = new HashMap<>();
        private long tailFrom;
        private int reads;

        Search(LogPartition log) {
            this.log = log;
            this.beginning = log.beginning();
            this.tailFrom = log.end();
        }

        /** Searches further records before those read so far. */
        void readTail(long records) {
            long from = Math.max(beginning, tailFrom - records);
            for (long at = from; at < tailFrom; ) {
                Batch batch = read(at);
                at = batch.events().isEmpty() ? tailFrom : batch.next();
            }
            tailFrom = from;
        }

        private Batch read(long offset) {
            reads++;
            Batch batch = log.read(offset);
            batch.events().forEach(this::note);
            return batch;
        }

        private void note(Placed placed) {
            DomainEvent event = placed.event();
            Span known = spans.get(event.domain());
            if (known == null || event.epoch() > known.epoch) {
                long earlier = known == null ? beginning - 1 : known.present;
                known = new Span(event.epoch(), earlier, placed.offset());
                spans.put(event.domain(), known);
            }
            if (event.epoch() < known.epoch) {
                known.earlier = Math.max(known.earlier, placed.offset());
                return;
            }
            known.present = Math.min(known.present, placed.offset());
            Optional<SchedulerStarted> started = event.event().asStarted();
            if (started.isPresent()) {
                known.started = started;
            }
        }

        Optional<SchedulerStarted> start(DomainId domain) {
            Span span = spans.get(domain);
            if (span == null) {
                return Optional.empty();
            }
            while (reads < MOST_READS && span.started.isEmpty() && span.earlier + 1 < span.present) {
                long from = span.present - span.earlier <= TAIL
                        ? span.earlier + 1
                        : span.earlier + (span.present - span.earlier) / 2;
                look(domain, span, from);
                span = spans.getOrDefault(domain, span); // a later scheduler may have started meanwhile
            }
            return span.started;
        }

        /** Reads up to an event of the domain; if there is none before the present epoch, the start is earlier. */
        private void look(DomainId domain, Span span, long from) {
            long until = span.present;
            long at = from;
            while (at < until && reads < MOST_READS) {
                Batch batch = read(at);
                boolean isSeen = batch.events().stream()
                        .anyMatch(placed -> placed.offset() < until
                                && placed.event().domain().equals(domain));
                if (isSeen) {
                    return;
                }
                at = batch.events().isEmpty() ? until : batch.next();
            }
            if (at >= until) {
                span.present = Math.min(span.present, from);
            }
        }
    }
}
