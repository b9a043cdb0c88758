package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.history.Snapshot;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.state.SnapshotPart;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.operation.SequenceSearch.Batch;
import io.lendstream.launcher.operation.SequenceSearch.Partition;
import io.lendstream.launcher.operation.SequenceSearch.Placed;
import io.lendstream.schemas.snapshot.SnapshotShelf;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The history of domains on the broker, read where it is needed and not from the beginning. */
final class DomainHistory implements DomainLog, AutoCloseable {
    /** Records that may be read in vain: about one fetch. */
    private static final long SLACK = 500;
    /** Snapshots are large; this many parts are read at once, and more further back. */
    private static final long PARTS = 64;

    /** No domain has this name. */
    private static final DomainId OUT_OF_ORDER = new DomainId("out of order");

    /** A second record of a decision comes so soon after the first, or not at all. */
    private static final Duration SECOND_WITHIN = Duration.ofHours(1);

    private static final Duration QUIET = Duration.ofSeconds(2);

    private final DomainTopic<DomainEvent> events;
    private final DomainTopic<Decision> decisions;
    private final DomainTopic<SnapshotPart> snapshots;
    private final DomainTopic<KeptReason> reasons;
    private final Consumer<String> remarks;

    /** @param remarks receives a line every two seconds while a log is read, and one for each unusable snapshot */
    DomainHistory(TopicScan reading, TopicCatalogue topics, Consumer<String> remarks) {
        this.events = new DomainTopic<>(reading, topics, TopicCatalogue.DOMAIN_EVENTS);
        this.decisions = new DomainTopic<>(reading, topics, TopicCatalogue.DECISIONS);
        this.snapshots = new DomainTopic<>(reading, topics, TopicCatalogue.SNAPSHOTS);
        this.reasons = new DomainTopic<>(reading, topics, TopicCatalogue.REASONS);
        this.remarks = remarks;
        for (DomainTopic<?> newer : List.of(snapshots, reasons)) {
            if (!newer.isThere()) {
                remarks.accept(
                        "topic %s is not there, so more of the log is read, and less is known of old decisions; make it with: lendstream topics create"
                                .formatted(newer.name()));
            }
        }
    }

    /** Fails, with a way out, if the topics of nodes and of the log cannot be reached. */
    static void check(Cluster cluster) {
        Connection.check(
                cluster.kafka(),
                cluster.topics(),
                List.of(TopicCatalogue.NODES, TopicCatalogue.DOMAIN_EVENTS),
                cluster.patience());
    }

    @Override
    public Optional<Snapshot> snapshot(DomainId domain, long upTo) {
        Partition<SnapshotPart> partition = snapshots.of(domain);
        long next = upTo == Long.MAX_VALUE
                ? partition.end()
                : new SequenceSearch<>(
                                partition,
                                SnapshotPart::domain,
                                part -> part.position().eventSequence(),
                                PARTS)
                        .before(domain, upTo + 1);
        for (long back = PARTS; ; back *= 4) {
            long from = Math.max(partition.beginning(), next - back);
            SnapshotShelf shelf = new SnapshotShelf();
            boolean[] isPast = {false};
            read(
                    partition,
                    from,
                    placed -> {
                        SnapshotPart part = placed.value();
                        if (!part.domain().equals(domain)) {
                            return;
                        }
                        if (part.position().eventSequence() > upTo) {
                            isPast[0] = true;
                        } else {
                            shelf.take(part);
                        }
                    },
                    () -> isPast[0]);
            boolean isAll = from == partition.beginning();
            List<String> notes = new ArrayList<>();
            Optional<Snapshot> found = shelf.nearest(domain, upTo, notes::add);
            if (found.isPresent() || isAll) {
                notes.forEach(remarks);
                return found;
            }
        }
    }

    @Override
    public void replay(DomainId domain, long after, Consumer<DomainEvent> to, BooleanSupplier enough) {
        Partition<DomainEvent> partition = events.of(domain);
        long from = search(partition).before(domain, after + 1);
        read(
                partition,
                from,
                placed -> {
                    if (placed.value().domain().equals(domain)) {
                        to.accept(placed.value());
                    }
                },
                enough);
    }

    /**
     * Reads the logs of domains up to their present ends.
     *
     * @param since the time from which on events are needed; a log is read after a snapshot before it, and after the
     *     last one if the time is empty
     * @param begin takes the snapshot of a domain after which its log is read
     */
    void replayToTheEnd(
            Collection<DomainId> domains, Optional<Instant> since, Consumer<Snapshot> begin, Consumer<DomainEvent> to) {
        for (DomainId domain : domains) {
            Optional<Snapshot> start = snapshotBefore(domain, since.orElse(Instant.MAX));
            start.ifPresent(begin);
            replay(domain, start.map(Snapshot::sequence).orElse(0L), to, () -> false);
        }
    }

    @Override
    public Optional<DomainEvent> event(DomainId domain, long sequence) {
        Partition<DomainEvent> partition = events.of(domain);
        return first(
                        partition,
                        search(partition).before(domain, sequence),
                        event -> event.domain().equals(domain) && event.sequence() >= sequence)
                .map(Placed::value)
                .filter(event -> event.sequence() == sequence);
    }

    @Override
    public Optional<DomainEvent> firstEvent(DomainId domain) {
        Partition<DomainEvent> partition = events.of(domain);
        return first(partition, partition.beginning(), event -> event.domain().equals(domain))
                .map(Placed::value);
    }

    /** A decision with the time when it was written; empty if it is not found where its number is. */
    Optional<Placed<Decision>> decision(DecisionId id) {
        Partition<Decision> partition = decisions.of(id.domain());
        long from = new SequenceSearch<>(
                        partition,
                        decision -> decision.id().domain(),
                        decision -> decision.id().sequence(),
                        SLACK)
                .before(id.domain(), id.sequence());
        return first(
                        partition,
                        from,
                        decision -> decision.id().domain().equals(id.domain())
                                && decision.id().sequence() >= id.sequence())
                .filter(placed -> placed.value().id().equals(id));
    }

    /** The last decisions of a domain's partition, some of which may be of other domains. */
    void lastDecisions(DomainId domain, Consumer<Decision> to) {
        Partition<Decision> partition = decisions.of(domain);
        long from = Math.max(partition.beginning(), partition.end() - SLACK);
        read(partition, from, placed -> to.accept(placed.value()), () -> false);
    }

    /** What is kept of a decision; empty if nothing is. */
    Optional<KeptReason> reason(DecisionId id) {
        Partition<KeptReason> partition = reasons.of(id.domain());
        long from = new SequenceSearch<>(
                        partition,
                        DomainHistory::domainInOrder,
                        reason -> reason.id().sequence(),
                        SLACK)
                .before(id.domain(), id.sequence());
        List<KeptReason> found = new ArrayList<>();
        long[] later = {0};
        Instant[] until = {Instant.MAX};
        boolean[] isLate = {false};
        read(
                partition,
                from,
                placed -> {
                    if (placed.written().isAfter(until[0])) {
                        isLate[0] = true;
                    } else if (placed.value().id().equals(id)) {
                        found.add(placed.value());
                        until[0] = placed.written().plus(SECOND_WITHIN);
                    } else if (placed.value().id().domain().equals(id.domain())
                            && placed.value().id().compareTo(id) > 0) {
                        later[0]++;
                    }
                },
                () -> later[0] > SLACK || isLate[0]);
        return found.stream()
                .reduce(KeptReason::and)
                .filter(reason -> reason.decision().isPresent());
    }

    /** The domain of a record whose place is in the order of decisions; second records come at any time. */
    private static DomainId domainInOrder(KeptReason reason) {
        return reason.decision().isPresent() ? reason.id().domain() : OUT_OF_ORDER;
    }

    private static SequenceSearch<DomainEvent> search(Partition<DomainEvent> partition) {
        return new SequenceSearch<>(partition, DomainEvent::domain, DomainEvent::sequence, SLACK);
    }

    private <T> Optional<Placed<T>> first(Partition<T> partition, long from, Predicate<T> wanted) {
        for (long at = from; at < partition.end(); ) {
            Batch<T> batch = partition.read(at);
            Optional<Placed<T>> found = batch.records().stream()
                    .filter(placed -> wanted.test(placed.value()))
                    .findFirst();
            if (found.isPresent()) {
                return found;
            }
            at = batch.records().isEmpty() ? partition.end() : batch.next();
        }
        return Optional.empty();
    }

    private <T> void read(Partition<T> partition, long from, Consumer<Placed<T>> to, BooleanSupplier enough) {
        long read = 0;
        long said = System.nanoTime();
        for (long at = from; at < partition.end() && !enough.getAsBoolean(); ) {
            Batch<T> batch = partition.read(at);
            batch.records().forEach(to);
            read += batch.records().size();
            at = batch.records().isEmpty() ? partition.end() : batch.next();
            if (System.nanoTime() - said > QUIET.toNanos()) {
                said = System.nanoTime();
                remarks.accept("%d records read".formatted(read));
            }
        }
    }

    @Override
    public void close() {
        events.close();
        decisions.close();
        snapshots.close();
        reasons.close();
    }
}
