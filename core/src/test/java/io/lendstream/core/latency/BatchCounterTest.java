package io.lendstream.core.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class BatchCounterTest {
    private static final Slice SLICE = new Slice(1, 1);

    /** Inputs take a tenth of the time, outputs another. */
    private static BatchCounter counter(long count, long millis) {
        long tenth = millis * 100_000;
        return new BatchCounter(
                new BatchCounter.Phase(count, tenth),
                new BatchCounter.Phase(count, 8 * tenth),
                new BatchCounter.Phase(count, tenth));
    }

    private static List<ServedBatches> served(Map<Integer, BatchCounter> before, Map<Integer, BatchCounter> now) {
        return BatchCounter.served(SLICE, .5, before, now);
    }

    @Test
    void twoReadingsTellWhatWasServedBetweenThem() {
        var before = Map.of(1, counter(10, 50), 4, counter(3, 30));
        var now = Map.of(1, counter(30, 170), 4, counter(3, 30), 8, counter(2, 40));

        assertThat(served(before, now))
                .containsExactly(ServedBatches.of(SLICE, 1, .5, 20, 6), ServedBatches.of(SLICE, 8, .5, 2, 20));
    }

    @Test
    void theSameReadingTwiceTellsNothing() {
        var reading = Map.of(1, counter(10, 50), 4, counter(3, 30));

        assertThat(served(reading, reading)).isEmpty();
    }

    @Test
    void aServerThatRestartedIsCountedFromItsStart() {
        var before = Map.of(1, counter(10, 50), 4, counter(3, 30));
        var fewer = Map.of(1, counter(12, 72), 4, counter(2, 18));
        var gone = Map.of(1, counter(12, 72));

        assertThat(served(before, fewer))
                .containsExactly(ServedBatches.of(SLICE, 1, .5, 12, 6), ServedBatches.of(SLICE, 4, .5, 2, 9));
        assertThat(served(before, gone)).containsExactly(ServedBatches.of(SLICE, 1, .5, 12, 6));
    }

    @Test
    void countersAreNeverNegative() {
        assertThatThrownBy(() -> new BatchCounter.Phase(-1, 0)).hasMessageContaining("-1 batches");
    }

    /** A server that restarts now and then loses its batches since the last reading, and no batch is reported twice. */
    @Seeds(200)
    void forAnyServerEachBatchIsReportedOnce(RandomValues values) {
        Map<Integer, Long> counts = new TreeMap<>();
        Map<Integer, Long> millis = new TreeMap<>();
        Map<Integer, BatchCounter> last = Map.of();
        long countedOn = 0;
        long told = 0;
        double tookMillis = 0;
        double toldMillis = 0;
        for (int seed : values.listOf(1, 60, () -> values.intBetween(0, 10_000))) {
            boolean restarts = seed % 7 == 0;
            if (restarts) {
                counts.clear();
                millis.clear();
            }
            int batch = 1 + seed % 5;
            int count = restarts ? 0 : seed % 11;
            counts.merge(batch, (long) count, Long::sum);
            millis.merge(batch, (long) count * (1 + seed % 13), Long::sum);
            countedOn += count;
            tookMillis += count * (1 + seed % 13);
            Map<Integer, BatchCounter> now = new TreeMap<>();
            counts.forEach((each, sum) -> now.put(each, counter(sum, millis.getOrDefault(each, 0L))));
            for (ServedBatches served : served(last, now)) {
                told += served.count();
                toldMillis += served.count() * served.meanMillis();
            }
            last = now;
        }

        assertThat(told).isEqualTo(countedOn);
        assertThat(toldMillis).isCloseTo(tookMillis, within(1e-6 * (1 + tookMillis)));
    }
}
