package io.lendstream.core.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.BatchTimes;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SizeCount;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.latency.LatencyLearner;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.seeds.Seeds;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class ServiceBatchesTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow();
    private static final MigGpu H100 = MigGpu.named("H100-SXM5").orElseThrow();
    private static final Slice WHOLE = Slice.whole(A100);
    private static final ServiceBatches NEW = ServiceBatches.of(A100, NOW);

    private static BatchTimes whole(int batch, double size, double millis) {
        return new BatchTimes(Optional.empty(), batch, size, 10, millis);
    }

    private static RequestRate rate(SizeCount... sizes) {
        return new RequestRate(
                new ServiceId("chat"),
                new DomainId("test"),
                "gateway",
                "boot",
                1,
                NOW,
                NOW.plusSeconds(15),
                RequestRate.Requests.answered(10),
                RequestRate.Latency.NOT_MEASURED,
                List.of(sizes),
                List.of());
    }

    private static int largest(ServiceBatches batches, Slice slice, int size) {
        return batches.on(slice).orElseThrow().apply(size).largestBatch();
    }

    @Test
    void nothingIsKnownBeforeAnythingWasMeasured() {
        assertThat(NEW.on(WHOLE)).isEmpty();
        assertThat(NEW.served(List.of(), A100)).isEqualTo(NEW);
    }

    @Test
    void timesAreLearnedByInstance() {
        BatchTimes small = new BatchTimes(Optional.of("1g.10gb"), 8, 1, 100, 40);

        ServiceBatches batches = NEW.served(List.of(whole(8, 1, 10), small), A100);

        Slice slice = Slice.of(A100, A100.profile("1g.10gb").orElseThrow());
        assertThat(batches.learned().bins())
                .extracting(bin -> bin.bin().slice())
                .containsExactly(slice, WHOLE);
        assertThat(batches.on(slice).orElseThrow().apply(1).millis(8))
                .isGreaterThan(batches.on(WHOLE).orElseThrow().apply(1).millis(8));
    }

    @Test
    void instancesThatTheGpuDoesNotHaveAreLeftOut() {
        BatchTimes unknown = new BatchTimes(Optional.of("9g.990gb"), 8, 1, 10, 10);

        assertThat(NEW.served(List.of(unknown), A100)).isEqualTo(NEW);
    }

    @Test
    void anotherKindOfGpuIsLearnedFromTheStart() {
        ServiceBatches batches = NEW.served(List.of(whole(8, 1, 10), whole(16, 1, 20)), A100);

        ServiceBatches moved = batches.served(List.of(whole(4, 1, 3)), H100);

        assertThat(moved.gpu()).isEqualTo("H100-SXM5-80GB");
        assertThat(moved.learned().bins()).hasSize(1);
    }

    @Test
    void anInputLargerThanEverBeforeMakesRoomForTwiceTheSize() {
        ServiceBatches batches = NEW.served(List.of(whole(8, 100, 10)), A100);
        ServiceBatches alike = batches.served(List.of(whole(8, 120, 12)), A100);
        ServiceBatches larger = alike.heard(rate(new SizeCount(500, 3)));

        assertThat(batches.largest()).isEqualTo(112);
        assertThat(alike.largest()).isEqualTo(128);
        assertThat(alike.learned().bins()).hasSize(2);
        assertThat(larger.largest()).isEqualTo(512);
        assertThat(larger.learned().bins()).isEmpty();
    }

    @Test
    void sizesOfInputsAreCountedAsBucketsMayEnd() {
        ServiceBatches batches = NEW.heard(rate(new SizeCount(0, 5), new SizeCount(33.5, 2), new SizeCount(40, 1)));

        assertThat(batches.sizes().bars()).containsExactly(new SizeHistogram.Bar(1, 5), new SizeHistogram.Bar(40, 3));
    }

    @Seeds(100)
    void noBatchHasMoreThanTwiceTheWorkOfThoseThatRan(Random random) {
        List<BatchTimes> ran = new ArrayList<>();
        double work = 0;
        for (int i = 0; i < 5; i++) {
            int batch = 1 + random.nextInt(100);
            int size = 1 + random.nextInt(512);
            ran.add(whole(batch, size, 1 + batch * size / 100.0));
            work = Math.max(work, batch * (double) size);
        }
        ServiceBatches batches = NEW.served(ran, A100);

        for (int size : List.of(1, 16, 64, batches.largest())) {
            int most = largest(batches, WHOLE, size);
            assertThat(most == 1 || most * (double) size <= 2 * work * 1.0001).isTrue();
        }
        Slice half = Slice.of(A100, A100.profile("3g.40gb").orElseThrow());
        assertThat(batches.on(half)).as("nothing ran in as little memory").isEmpty();
    }

    @Test
    void itStaysSmallHoweverManyReportsArrive() {
        Random random = new Random(1);
        ServiceBatches batches = NEW;
        for (int i = 0; i < 120; i++) {
            List<BatchTimes> times = new ArrayList<>();
            List<SizeCount> sizes = new ArrayList<>();
            for (int k = 0; k < 10; k++) {
                times.add(whole(1 + random.nextInt(1000), 1 + random.nextInt(100_000), 1 + random.nextInt(50)));
                sizes.add(new SizeCount(random.nextInt(100_000), 1 + random.nextInt(10)));
            }
            batches = batches.heard(rate(sizes.toArray(SizeCount[]::new))).served(times, A100);
        }

        assertThat(batches.learned().bins()).hasSize(512);
        assertThat(batches.sizes().bars()).hasSizeLessThan(100);
    }

    @Test
    void aDriftWidensTheMargins() {
        ServiceBatches steady = NEW;
        for (int i = 0; i < 40; i++) {
            steady = steady.served(List.of(whole(8, 1, 10), whole(16, 1, 16)), A100);
        }
        ServiceBatches slower = steady;
        for (int i = 0; i < 3; i++) {
            slower = slower.served(List.of(whole(8, 1, 13), whole(16, 1, 20.8)), A100);
        }
        LatencyLearner before = steady.learner();
        LatencyLearner after = slower.learner();

        assertThat(after.state().drifted()).isTrue();
        assertThat(after.needsProbes()).isTrue();
        assertThat(before.margin(WHOLE, 16, 1)).isLessThan(.1);
        assertThat(after.margin(WHOLE, 16, 1)).isGreaterThanOrEqualTo(.14);
        assertThat(slower.on(WHOLE).orElseThrow().apply(1).millis(16)).isGreaterThan(20.8);
    }
}
