package io.lendstream.core.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class BucketizerTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private final Bucketizer encoder = new Bucketizer(BucketizerTest::cost, 512, 8);

    /** An encoder's: attention makes the longest inputs half as dear again. */
    private static double cost(int size) {
        return size * (1 + size / 1024.0);
    }

    /** Lengths of sentences: lognormal, with a mean of 108 and at most 512 tokens. */
    private static SizeHistogram sentences(int seed) {
        Random random = new Random(seed);
        TreeMap<Integer, Double> counts = new TreeMap<>();
        for (int i = 0; i < 20_000; i++) {
            int length = (int) Math.ceil(Math.exp(Math.log(77) + .82 * random.nextGaussian()));
            counts.merge(Math.max(1, Math.min(512, length)), 1.0, Double::sum);
        }
        return SizeHistogram.empty(NOW).with(counts, NOW);
    }

    @Test
    void noOtherEdgesCostLess() {
        Bucketizer small = new Bucketizer(BucketizerTest::cost, 40, 8);
        Random random = new Random(3);
        for (int run = 0; run < 30; run++) {
            TreeMap<Integer, Double> counts = new TreeMap<>();
            for (int i = 0; i < 6; i++) {
                counts.put(1 + random.nextInt(40), random.nextDouble());
            }
            SizeHistogram sizes = SizeHistogram.empty(NOW).with(counts, NOW);
            for (int buckets = 1; buckets <= 4; buckets++) {
                double best = small.cost(sizes, small.edges(sizes, buckets));
                double tried = cheapest(small, sizes, new ArrayList<>(), 0, buckets);
                assertThat(best).as("run %d, %d buckets", run, buckets).isCloseTo(tried, within(1e-9));
            }
        }
    }

    private static double cheapest(
            Bucketizer bucketizer, SizeHistogram sizes, List<Integer> edges, int from, int left) {
        List<Integer> candidates = bucketizer.candidates();
        if (left == 1) {
            List<Integer> all = new ArrayList<>(edges);
            all.add(40);
            return bucketizer.cost(sizes, all);
        }
        double best = Double.POSITIVE_INFINITY;
        for (int i = from; i < candidates.size() - 1; i++) {
            List<Integer> more = new ArrayList<>(edges);
            more.add(candidates.get(i));
            best = Math.min(best, cheapest(bucketizer, sizes, more, i + 1, left - 1));
        }
        return best;
    }

    @Test
    void fewBucketsSaveMostOfThePadding() {
        SizeHistogram sizes = sentences(1);
        double unpadded = sizes.bars().stream()
                .mapToDouble(bar -> bar.weight() * cost(bar.size()))
                .sum();

        assertThat(encoder.cost(sizes, encoder.edges(sizes, 1)) / unpadded).isGreaterThan(5);
        assertThat(encoder.cost(sizes, encoder.edges(sizes, 4)) / unpadded).isLessThan(1.6);
        assertThat(encoder.cost(sizes, encoder.edges(sizes, 4)))
                .as("edges at equal distances cost more")
                .isLessThan(.95 * encoder.cost(sizes, List.of(128, 256, 384, 512)));
    }

    @Test
    void thereAreAsManyBucketsAsAreWorthIt() {
        List<Integer> edges = encoder.best(sentences(1));

        assertThat(edges).hasSizeBetween(4, 8).isSorted().endsWith(512);
        assertThat(new Bucketizer(BucketizerTest::cost, 512, 2).best(sentences(1)))
                .hasSize(2);
        assertThat(encoder.best(SizeHistogram.empty(NOW).with(Map.of(512, 9.0), NOW)))
                .as("inputs that are all alike need one")
                .containsExactly(512);
    }

    @Test
    void edgesInUseStayUnlessOthersAreMuchBetter() {
        List<Integer> inUse = encoder.best(sentences(1));

        assertThat(encoder.next(sentences(2), inUse)).isEqualTo(inUse);
        assertThat(encoder.next(sentences(2), List.of(512))).hasSizeGreaterThan(3);
        assertThat(encoder.next(sentences(2), List.of())).endsWith(512);
        SizeHistogram longer = SizeHistogram.empty(NOW).with(Map.of(380, 5.0, 20, 1.0), NOW);
        assertThat(encoder.next(longer, inUse)).isNotEqualTo(inUse).contains(384);
    }

    @Test
    void oldInputsAreForgotten() {
        SizeHistogram sizes = SizeHistogram.empty(NOW)
                .with(Map.of(10, 8.0), NOW)
                .with(Map.of(20, 1.0), NOW.plus(Duration.ofHours(3)));

        assertThat(sizes.bars().get(0).weight()).isCloseTo(1, within(1e-9));
        assertThat(sizes.with(Map.of(30, 1.0), NOW).at())
                .as("late ones do not turn time back")
                .isEqualTo(NOW.plus(Duration.ofHours(3)));
        assertThat(sizes.with(Map.of(30, 1.0), NOW.plus(Duration.ofDays(2))).bars())
                .containsExactly(new SizeHistogram.Bar(30, 1));
        assertThatThrownBy(() -> SizeHistogram.empty(NOW).with(Map.of(0, 1.0), NOW))
                .hasMessageContaining("size 0");
    }
}
