package io.lendstream.launcher.operation;

import io.lendstream.core.id.DomainId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Finds the place of a number in a partition in which the numbers of each domain only rise, such as the sequences of
 * events. Partitions may be long and have several domains, so bisection reads a few places of it.
 */
final class SequenceSearch<T> {
    /** The number of reads after which the search is content with the place that it knows. */
    private static final int MOST_READS = 1_000;

    private final Partition<T> partition;
    private final Function<T, DomainId> domains;
    private final ToLongFunction<T> numbers;
    private final long slack;

    /** A partition that can be read from any offset. */
    interface Partition<T> {
        long beginning();

        /** The offset after the last record. */
        long end();

        /** The next records from an offset, in order; none only at the end. */
        Batch<T> read(long offset);
    }

    /** Records with the offset after them. */
    record Batch<T>(List<Placed<T>> records, long next) {}

    /**
     * A record with its offset.
     *
     * @param written when the broker appended it
     */
    record Placed<T>(long offset, T value, Instant written) {}

    /**
     * A search.
     *
     * @param domains the domain of a record
     * @param numbers the number of a record
     * @param slack offsets that may be read in vain before the place
     */
    SequenceSearch(Partition<T> partition, Function<T, DomainId> domains, ToLongFunction<T> numbers, long slack) {
        this.partition = partition;
        this.domains = domains;
        this.numbers = numbers;
        this.slack = slack;
    }

    /** An offset with no record of a domain before it that has a number or a greater one. */
    long before(DomainId domain, long number) {
        long from = partition.beginning();
        long to = partition.end();
        int reads = 0;
        while (to - from > slack && reads < MOST_READS) {
            long middle = from + (to - from) / 2;
            Optional<Placed<T>> next = Optional.empty();
            long at = middle;
            while (next.isEmpty() && at < to && reads < MOST_READS) {
                Batch<T> batch = partition.read(at);
                reads++;
                next = batch.records().stream()
                        .filter(record -> domains.apply(record.value()).equals(domain))
                        .findFirst();
                at = batch.records().isEmpty() ? to : batch.next();
            }
            if (next.isPresent() && numbers.applyAsLong(next.get().value()) < number) {
                from = next.get().offset() + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }
}
