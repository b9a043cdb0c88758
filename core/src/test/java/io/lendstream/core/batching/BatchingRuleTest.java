package io.lendstream.core.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Bucket;
import io.lendstream.core.seeds.RandomValues;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class BatchingRuleTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration WINDOW = Duration.ofSeconds(10);
    private static final Duration OBJECTIVE = Duration.ofMillis(200);
    private static final SizeHistogram ALIKE = SizeHistogram.empty(NOW);

    /** Milliseconds that grow in proportion; with inputs of a size, each counts by its share of 512. */
    private static BatchLatency linear(double fixed, double each, int most) {
        return new BatchLatency() {
            @Override
            public double millis(double batch) {
                return fixed + each * batch;
            }

            @Override
            public int largestBatch() {
                return most;
            }
        };
    }

    private static BatchingRule rule(double perSecond, BatchLatency latency) {
        return new BatchingRule(OBJECTIVE, perSecond, ALIKE, 1, size -> latency);
    }

    private static BatchingGuard guard(double p99Seconds) {
        return BatchingGuard.fresh(NOW).heard(Optional.of(p99Seconds));
    }

    private static List<Bucket> bucket(int batch, int delayMillis) {
        return List.of(new Bucket(1, batch, Duration.ofMillis(delayMillis)));
    }

    @Test
    void aBatchIsAsLargeAsLeavesThoseInTimeWhoJustMissIt() {
        List<Bucket> buckets =
                rule(500, linear(5, 1, 1000)).next(List.of(), guard(.1), NOW).buckets();

        // 1.12 * 2 * (5 + 84) = 199.4 ms
        assertThat(buckets).isEqualTo(bucket(84, 0));
    }

    @Test
    void aRequestAloneWaitsForCompanyAndABusyInstanceDoesNotNeedTo() {
        BatchLatency latency = linear(8, 2, 1000);

        // 20 requests/s keep it busy for 20 % of the time: a quarter of (200 - 1.12 * 2 * l(2.3)) ms, times 60 %
        assertThat(rule(20, latency).next(List.of(), guard(.1), NOW).buckets()).isEqualTo(bucket(40, 25));
        assertThat(rule(55, latency).next(List.of(), guard(.1), NOW).buckets()).isEqualTo(bucket(40, 0));
        assertThat(rule(.2, latency).next(List.of(), guard(.1), NOW).buckets())
                .as("no request would come")
                .isEqualTo(bucket(40, 0));
        assertThat(rule(20, linear(.1, 10, 1000))
                        .next(List.of(), guard(.1), NOW)
                        .buckets())
                .as("nothing would be saved")
                .isEqualTo(bucket(8, 0));
    }

    @Test
    void afterALateWindowBatchesAreATenthSmallerAndNoRequestWaits() {
        BatchingRule rule = rule(20, linear(8, 2, 1000));

        BatchingRule.Proposal proposal = rule.next(bucket(40, 25), guard(.212), NOW);

        assertThat(proposal.buckets()).isEqualTo(bucket(36, 0));
        assertThat(proposal.isMaterial()).isTrue();
        assertThat(proposal.guard().lateAt()).contains(NOW);
    }

    @Test
    void fiveMinutesAfterALateWindowBatchesGrowAgainByOneAWindow() {
        BatchingRule rule = rule(20, linear(8, 2, 1000));
        BatchingGuard guard = rule.next(bucket(40, 0), guard(.212), NOW).guard();
        List<Bucket> inForce = bucket(36, 0);
        List<Integer> batches = new ArrayList<>();
        for (int i = 28; i < 36; i++) {
            BatchingRule.Proposal proposal =
                    rule.next(inForce, guard.heard(Optional.of(.1)), NOW.plus(WINDOW.multipliedBy(i)));
            guard = proposal.guard();
            inForce = proposal.isMaterial() ? proposal.buckets() : inForce;
            batches.add(proposal.buckets().get(0).maxBatch());
        }

        assertThat(batches).containsExactly(36, 36, 37, 38, 39, 40, 40, 40);
    }

    @Test
    void smallDifferencesChangeNothing() {
        BatchingRule rule = rule(500, linear(5, 1, 1000));

        assertThat(rule.next(bucket(80, 0), guard(.1), NOW).isMaterial()).isFalse();
        assertThat(rule.next(bucket(70, 0), guard(.1), NOW).isMaterial()).isTrue();
        assertThat(rule(20, linear(8, 2, 1000))
                        .next(bucket(40, 22), guard(.1), NOW)
                        .isMaterial())
                .isFalse();
        assertThat(rule(20, linear(8, 2, 1000))
                        .next(bucket(40, 5), guard(.1), NOW)
                        .isMaterial())
                .isTrue();
    }

    @Test
    void serversKeepTheirOwnSettingsUntilEnoughIsKnownOrTheyAreLate() {
        BatchingRule few = rule(5, linear(5, 1, 8));

        assertThat(few.next(List.of(), guard(.1), NOW).isMaterial()).isFalse();
        assertThat(few.next(List.of(), guard(.3), NOW).isMaterial()).isTrue();
        assertThat(rule(5, linear(5, 1, 100)).next(List.of(), guard(.1), NOW).isMaterial())
                .isTrue();
    }

    @Test
    void inputsOfManySizesAreBatchedInBuckets() {
        SizeHistogram sizes = ALIKE.with(new TreeMap<>(Map.of(32, 60.0, 128, 30.0, 512, 10.0)), NOW);
        BatchingRule rule =
                new BatchingRule(OBJECTIVE, 200, sizes, 512, size -> linear(5, size / 128.0, 16 * 512 / size));

        List<Bucket> buckets = rule.next(List.of(), guard(.1), NOW).buckets();

        assertThat(buckets).extracting(Bucket::upToSize).containsExactly(32.0, 128.0, 512.0);
        assertThat(buckets).extracting(Bucket::maxBatch).containsExactly(256, 64, 16);
        assertThat(rule.next(buckets, guard(.1), NOW).isMaterial()).isFalse();
    }

    @Seeds(300)
    void noBatchIsLargerThanMemoryHoldsOrMakesTheNextLate(RandomValues values) {
        int most = values.intBetween(1, 2000);
        BatchLatency latency = linear(values.doubleBetween(.1, 50), values.doubleBetween(.01, 20), most);

        Bucket bucket = rule(values.doubleBetween(0, 2000), latency)
                .next(List.of(), guard(values.doubleBetween(0, .5)), NOW)
                .buckets()
                .get(0);

        assertThat(bucket.maxBatch()).isBetween(1, most);
        assertThat(bucket.maxBatch() == 1 || 2.24 * latency.millis(bucket.maxBatch()) <= 200)
                .isTrue();
        assertThat(bucket.maxQueueDelay()).isBetween(Duration.ZERO, Duration.ofMillis(50));
    }

    @Seeds(300)
    void aLongerP99NeverGivesALargerBatchOrALongerWait(RandomValues values) {
        BatchLatency latency = linear(values.doubleBetween(.1, 50), values.doubleBetween(.01, 20), 500);
        BatchingRule rule = rule(values.doubleBetween(0, 500), latency);
        BatchingGuard before = new BatchingGuard(NOW, values.doubleBetween(.1, 1), Optional.empty(), Optional.empty());
        int inForce = values.intBetween(1, 200);
        double one = values.doubleBetween(0, .4);
        double other = values.doubleBetween(0, .4);

        Bucket shorter = rule.next(bucket(inForce, 0), before.heard(Optional.of(Math.min(one, other))), NOW)
                .buckets()
                .get(0);
        Bucket longer = rule.next(bucket(inForce, 0), before.heard(Optional.of(Math.max(one, other))), NOW)
                .buckets()
                .get(0);

        assertThat(longer.maxBatch()).isLessThanOrEqualTo(shorter.maxBatch());
        assertThat(longer.maxQueueDelay()).isLessThanOrEqualTo(shorter.maxQueueDelay());
    }

    /** Ten seconds of a server that follows its setting, one after the other. */
    private record Windows(List<Double> p99, List<Integer> batches) {
        static Windows of(BatchLatency learned, BatchLatency truth, double perSecond, double cv2, int count) {
            Windows windows = new Windows(new ArrayList<>(), new ArrayList<>());
            BatchingRule rule = rule(perSecond, learned);
            List<Bucket> inForce =
                    rule.next(List.of(), BatchingGuard.fresh(NOW), NOW).buckets();
            BatchingGuard guard = BatchingGuard.fresh(NOW);
            for (int i = 1; i <= count; i++) {
                int batch = inForce.get(0).maxBatch();
                double p99 = new BatchServer(Mix.of(truth.upTo(batch)), .02)
                        .play(perSecond, cv2, (int) (10 * perSecond), 200, i)
                        .p99Millis();
                windows.p99.add(p99);
                windows.batches.add(batch);
                BatchingRule.Proposal next =
                        rule.next(inForce, guard.heard(Optional.of(p99 / 1000)), NOW.plus(WINDOW.multipliedBy(i)));
                guard = next.guard();
                inForce = next.isMaterial() ? next.buckets() : inForce;
            }
            return windows;
        }

        static double p99(BatchLatency truth, double perSecond, double cv2) {
            return new BatchServer(Mix.of(truth), .02)
                    .play(perSecond, cv2, 40_000, 200, 1)
                    .p99Millis();
        }

        long late() {
            return p99.stream().filter(millis -> millis > OBJECTIVE.toMillis()).count();
        }
    }

    /** As learned up to 24 inputs; each further one takes four times as long. */
    private static final BatchLatency SLOW_WHEN_LARGE = new BatchLatency() {
        @Override
        public double millis(double batch) {
            return 5 + batch + 3 * Math.max(0, batch - 24);
        }

        @Override
        public int largestBatch() {
            return 1000;
        }
    };

    @Test
    void whereLargeBatchesAreSlowerThanLearnedItIsInTimeAfterTwentyWindowsAndLateOnceInTwentyLater() {
        Windows windows = Windows.of(linear(5, 1, 1000), SLOW_WHEN_LARGE, 550, 4, 320);
        Windows first = new Windows(windows.p99.subList(0, 10), windows.batches.subList(0, 10));
        Windows later = new Windows(windows.p99.subList(20, 320), windows.batches.subList(20, 320));

        assertThat(first.late()).isGreaterThan(5);
        assertThat(later.late()).isLessThanOrEqualTo(300 / 20);
        assertThat(later.batches).allSatisfy(batch -> assertThat(batch).isBetween(21, 34));
    }

    @Test
    void anInstanceThatIsTooSlowForItsRequestsKeepsItsBatchesAsSmallerOnesWouldMakeItSlower() {
        BatchLatency truth = linear(5, 1, 1000).times(1.3);

        Windows windows = Windows.of(linear(5, 1, 1000), truth, 720, 1, 20);

        assertThat(windows.late()).isEqualTo(20);
        assertThat(windows.batches).containsOnly(84);
        assertThat(Windows.p99(truth.upTo(67), 720, 1)).isGreaterThan(2 * Windows.p99(truth.upTo(84), 720, 1));
    }

    /** An idle server that waits for company: its p99, and for how long it computes. */
    private record Waiting(double p99Millis, double busyMillis) {
        static Waiting of(BatchLatency truth, double perSecond, Bucket bucket) {
            int requests = 4000;
            Random random = new Random(1);
            double[] arrivals = new double[requests];
            double at = 0;
            for (int i = 0; i < requests; i++) {
                at -= Math.log(1 - random.nextDouble()) * 1000 / perSecond;
                arrivals[i] = at;
            }
            double[] took = new double[requests];
            double free = 0;
            double busy = 0;
            int next = 0;
            while (next < requests) {
                int last = Math.min(requests, next + bucket.maxBatch()) - 1;
                double waited = arrivals[next] + bucket.maxQueueDelay().toMillis();
                double start = Math.max(Math.max(free, arrivals[next]), Math.min(waited, arrivals[last]));
                int end = next;
                while (end <= last && arrivals[end] <= start) {
                    end++;
                }
                free = start + truth.millis(end - next);
                busy += free - start;
                for (; next < end; next++) {
                    took[next] = free - arrivals[next];
                }
            }
            Arrays.sort(took);
            return new Waiting(took[(int) (.99 * requests)], busy);
        }
    }

    @Seeds(200)
    void waitingForCompanySavesComputingAndMakesNoRequestLate(RandomValues values) {
        BatchLatency latency = linear(values.doubleBetween(.1, 50), values.doubleBetween(.01, 20), 500);
        double perSecond = values.doubleBetween(1, 300);
        Bucket bucket = rule(perSecond, latency)
                .next(List.of(), guard(.1), NOW)
                .buckets()
                .get(0);
        if (bucket.maxQueueDelay().isZero()) {
            return;
        }

        Waiting waiting = Waiting.of(latency, perSecond, bucket);
        Waiting greedy = Waiting.of(latency, perSecond, new Bucket(1, bucket.maxBatch(), Duration.ZERO));

        assertThat(waiting.p99Millis).isLessThanOrEqualTo(200);
        assertThat(waiting.busyMillis).isLessThan(.99 * greedy.busyMillis);
    }
}
