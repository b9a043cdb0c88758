package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.launcher.operation.SequenceSearch.Batch;
import io.lendstream.launcher.operation.SequenceSearch.Partition;
import io.lendstream.launcher.operation.SequenceSearch.Placed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SequenceSearchTest {
    private static final DomainId ONE = new DomainId("one");
    private static final DomainId OTHER = new DomainId("other");

    private record Entry(DomainId domain, long number) {}

    /** A partition with gaps of offsets, as markers of transactions leave them. */
    private static final class Memory implements Partition<Entry> {
        private final List<Placed<Entry>> records = new ArrayList<>();
        private final long beginning;
        private final int batch;
        private long end;
        private int reads;

        Memory(long beginning, int batch) {
            this.beginning = beginning;
            this.end = beginning;
            this.batch = batch;
        }

        void add(DomainId domain, long number, int gap) {
            records.add(new Placed<>(end + gap, new Entry(domain, number), Instant.EPOCH));
            end += gap + 1;
        }

        @Override
        public long beginning() {
            return beginning;
        }

        @Override
        public long end() {
            return end;
        }

        @Override
        public Batch<Entry> read(long offset) {
            reads++;
            List<Placed<Entry>> next = records.stream()
                    .filter(record -> record.offset() >= offset)
                    .limit(batch)
                    .toList();
            return new Batch<>(
                    next, next.isEmpty() ? end : next.get(next.size() - 1).offset() + 1);
        }
    }

    private static long before(Memory partition, DomainId domain, long number, long slack) {
        return new SequenceSearch<>(partition, Entry::domain, Entry::number, slack).before(domain, number);
    }

    @Seeds(300)
    void neverMissesARecordAndIsNear(Random random) {
        Memory partition = new Memory(random.nextInt(1000), 1 + random.nextInt(20));
        long first = 1L + random.nextInt(50);
        long number = first;
        for (int i = random.nextInt(400); i > 0; i--) {
            boolean isOne = random.nextInt(3) > 0;
            partition.add(isOne ? ONE : OTHER, isOne ? number++ : i, random.nextInt(3));
        }
        long slack = 1L + random.nextInt(30);
        for (long wanted = first; wanted < number; wanted += 1 + random.nextInt(9)) {
            long sought = wanted;
            long place = partition.records.stream()
                    .filter(record -> record.value().equals(new Entry(ONE, sought)))
                    .findFirst()
                    .orElseThrow()
                    .offset();
            long from = before(partition, ONE, wanted, slack);

            assertThat(from).isLessThanOrEqualTo(place);
            assertThat(partition.records.stream()
                            .filter(record -> record.offset() >= from && record.offset() < place)
                            .filter(record -> record.value().domain().equals(ONE))
                            .count())
                    .isLessThanOrEqualTo(slack);
        }
    }

    @Test
    void readsFewPlacesOfALongLog() {
        Memory partition = new Memory(0, 50);
        for (long number = 1; number <= 20_000; number++) {
            partition.add(ONE, number, 0);
        }

        assertThat(before(partition, ONE, 13_579, 50)).isBetween(13_500L, 13_578L);
        assertThat(partition.reads).isLessThan(12);
    }

    @Test
    void anEmptyPartitionAndAStrangeDomainHaveNoPlace() {
        Memory partition = new Memory(7, 5);
        assertThat(before(partition, ONE, 1, 2)).isEqualTo(7);
        for (long number = 1; number <= 100; number++) {
            partition.add(OTHER, number, 0);
        }
        assertThat(before(partition, ONE, 1, 2)).isEqualTo(7);
    }
}
