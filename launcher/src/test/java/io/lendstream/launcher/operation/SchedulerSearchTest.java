package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.launcher.operation.SchedulerSearch.Batch;
import io.lendstream.launcher.operation.SchedulerSearch.LogPartition;
import io.lendstream.launcher.operation.SchedulerSearch.Placed;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SchedulerSearchTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final DomainId EAST = new DomainId("east");
    private static final DomainId WEST = new DomainId("west");

    private final Partition log = new Partition();

    /** A partition in memory, that counts how often it is read. */
    private static final class Partition implements LogPartition {
        private final List<Placed> records = new ArrayList<>();
        private final Map<DomainId, Long> epochs = new HashMap<>();
        private long beginning;
        private long end;
        private int reads;

        void started(DomainId domain, String policy) {
            long epoch = epochs.merge(domain, 1L, Long::sum);
            append(domain, new SchedulerStarted(domain, NOON, epoch, policy, Map.of(), Optional.empty()));
        }

        void ticks(DomainId domain, int count) {
            for (int i = 0; i < count; i++) {
                append(domain, new Tick(domain, NOON));
            }
        }

        /** Offsets that hold no record, as the marks at the end of transactions. */
        void gap(int offsets) {
            end += offsets;
        }

        private void append(DomainId domain, io.lendstream.core.event.Event event) {
            long epoch = epochs.getOrDefault(domain, 1L);
            records.add(new Placed(
                    end, new DomainEvent(domain, epoch, records.size() + 1L, NOON, Optional.empty(), event)));
            end++;
        }

        void forget(long before) {
            beginning = before;
            records.removeIf(record -> record.offset() < before);
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
        public long since(Instant written) {
            throw new UnsupportedOperationException("schedulers are searched by epochs");
        }

        @Override
        public Batch read(long offset) {
            reads++;
            List<Placed> next = records.stream()
                    .filter(record -> record.offset() >= offset)
                    .limit(100)
                    .toList();
            return new Batch(
                    next, next.isEmpty() ? end : next.get(next.size() - 1).offset() + 1);
        }
    }

    private List<String> found(DomainId... domains) {
        return found(log, domains);
    }

    private static List<String> found(Partition log, DomainId... domains) {
        return new SchedulerSearch(List.of(log))
                .find(List.of(domains)).stream().map(SchedulerStarted::policy).toList();
    }

    @Test
    void findsTheLastStartWithoutReadingTheWholeLog() {
        log.started(EAST, "first");
        log.ticks(EAST, 20_000);
        log.started(EAST, "second");
        log.ticks(EAST, 80_000);

        assertThat(found(EAST)).containsExactly("second");
        assertThat(log.reads).isLessThan(40);
    }

    @Test
    void tellsDomainsInOnePartitionApart() {
        log.started(EAST, "of east");
        log.started(WEST, "of west");
        for (int i = 0; i < 1_000; i++) {
            log.ticks(EAST, 9);
            log.ticks(WEST, 1);
            log.gap(2);
        }
        log.started(WEST, "of west again");
        log.ticks(EAST, 3_000);

        assertThat(found(EAST, WEST)).containsExactly("of east", "of west again");
        assertThat(found(EAST)).containsExactly("of east");
        assertThat(found(new DomainId("nowhere"))).isEmpty();
    }

    @Test
    void whatRetentionHasRemovedIsNotFound() {
        log.started(EAST, "first");
        log.ticks(EAST, 20_000);
        log.forget(5_000);

        assertThat(found(EAST)).isEmpty();
        assertThat(log.reads).isLessThan(40);
    }

    @Test
    void anEmptyLogHasNoScheduler() {
        assertThat(found(EAST)).isEmpty();
    }

    @Seeds(200)
    void findsInAnyLogWhatReadingAllOfItFinds(RandomValues values) {
        List<DomainId> domains = List.of(EAST, WEST, new DomainId("north"));
        Partition any = new Partition();
        Map<DomainId, String> last = new HashMap<>();
        int policies = 0;
        for (DomainId domain : domains) {
            any.started(domain, "policy-" + ++policies);
            last.put(domain, "policy-" + policies);
        }
        for (int i = 0; i < 60; i++) {
            DomainId domain = domains.get(values.intBetween(0, 2));
            if (values.intBetween(0, 9) == 0) {
                any.started(domain, "policy-" + ++policies);
                last.put(domain, "policy-" + policies);
            }
            any.ticks(domain, values.intBetween(1, 60));
            any.gap(values.intBetween(0, 3));
        }

        assertThat(found(any, EAST, WEST, domains.get(2)))
                .containsExactly(last.get(EAST), last.get(WEST), last.get(domains.get(2)));
    }
}
