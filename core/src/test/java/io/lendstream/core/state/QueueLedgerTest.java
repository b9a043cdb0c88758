package io.lendstream.core.state;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QueueLedgerTest {
    private static final QueueId A = new QueueId("a");
    private static final QueueId B = new QueueId("b");
    private static final QueueId C = new QueueId("c");
    private static final Optional<KindId> ANY = Optional.empty();
    private static final Optional<KindId> A100 = Optional.of(new KindId("A100-SXM4-80GB"));
    private static final Optional<KindId> T4 = Optional.of(new KindId("Tesla-T4-16GB"));

    private static ClusterQueue queue(QueueId name, Optional<String> cohort, double weight, KindQuota... quotas) {
        return new ClusterQueue(name, Scenario.DOMAIN, Instant.EPOCH, cohort, weight, List.of(quotas));
    }

    private static ClusterQueue queue(QueueId name, KindQuota... quotas) {
        return queue(name, Optional.of("all"), 1, quotas);
    }

    private static KindQuota quota(double nominal, double borrowing, double lending) {
        return new KindQuota(ANY, nominal, limit(borrowing), limit(lending));
    }

    /** Negative for none. */
    private static Optional<Double> limit(double gpus) {
        return gpus < 0 ? Optional.empty() : Optional.of(gpus);
    }

    private static void use(QueueLedger ledger, QueueId queue, Optional<KindId> kind, int gpus) {
        for (int i = 0; i < gpus; i++) {
            ledger.add(
                    new GpuId(
                            "%s-%s-%d".formatted(queue, kind.map(KindId::value).orElse("any"), i)),
                    queue,
                    kind,
                    1,
                    false);
        }
    }

    /** Kueue's: nominal quota, and what the others of the cohort lend and do not use. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        // the limit of a, with nominal quota 4, beside b; -1: no limit
        "idle cohort,                        -1, 4, -1, 0, 0, 8",
        "borrowing limit,                     1, 4, -1, 0, 0, 5",
        "borrowing limit of 0,                0, 4, -1, 0, 0, 4",
        "lending limit,                      -1, 4,  1, 0, 0, 5",
        "lending limit of 0,                 -1, 4,  0, 0, 0, 4",
        "the other uses some,                -1, 4, -1, 3, 0, 5",
        "the other uses what it would keep,  -1, 4,  2, 1, 0, 6",
        "the other uses more than it keeps,  -1, 4,  2, 3, 0, 5",
        "the other uses all,                 -1, 4, -1, 4, 0, 4",
        "the other has borrowed,             -1, 4, -1, 6, 0, 4",
        "own use does not matter,            -1, 4, -1, 0, 7, 8",
    })
    void theLimitFollowsKueue(
            String any, double borrowing, double nominal, double lending, int used, int own, double limit) {
        QueueLedger ledger =
                new QueueLedger(List.of(queue(A, quota(4, borrowing, -1)), queue(B, quota(nominal, -1, lending))));
        use(ledger, B, ANY, used);
        use(ledger, A, ANY, own);

        assertThat(ledger.use(A, ANY).orElseThrow().limit()).as(any).isEqualTo(limit);
        assertThat(ledger.use(A, ANY).orElseThrow().used()).isEqualTo(own);
    }

    @Test
    void whatAnotherQueueHasBorrowedCannotBeBorrowedAgain() {
        QueueLedger ledger = new QueueLedger(
                List.of(queue(A, quota(1, -1, -1)), queue(B, quota(1, -1, -1)), queue(C, quota(4, -1, -1))));
        use(ledger, B, ANY, 4);

        assertThat(ledger.use(A, ANY).orElseThrow().limit()).isEqualTo(2);
        assertThat(ledger.use(C, ANY).orElseThrow().limit())
                .as("never less than nominal")
                .isEqualTo(4);
    }

    @Test
    void onlyQueuesOfOneCohortLendToEachOther() {
        QueueLedger ledger = new QueueLedger(List.of(
                queue(A, quota(1, -1, -1)),
                queue(B, Optional.of("other"), 1, quota(4, -1, -1)),
                queue(C, Optional.empty(), 1, quota(4, -1, -1))));

        assertThat(ledger.use(A, ANY).orElseThrow().limit()).isEqualTo(1);
        assertThat(ledger.use(C, ANY).orElseThrow().limit()).isEqualTo(4);
    }

    @Test
    void eachKindHasItsOwnQuotaAndLendsForItself() {
        QueueLedger ledger = new QueueLedger(List.of(
                queue(A, KindQuota.of(A100, 1), KindQuota.of(ANY, 2)),
                queue(B, KindQuota.of(A100, 3), KindQuota.of(T4, 5))));
        use(ledger, A, A100, 2);
        use(ledger, A, T4, 1);

        assertThat(ledger.uses(A)).extracting(QuotaUse::used).containsExactly(2.0, 1.0);
        assertThat(ledger.uses(A)).extracting(QuotaUse::limit).containsExactly(4.0, 2.0);
        assertThat(ledger.uses(A)).extracting(QuotaUse::borrowed).containsExactly(1.0, 0.0);
        assertThat(ledger.use(B, ANY)).as("no quota without a kind").isEmpty();
    }

    @Test
    void aUnitCountsOnceAndLastForItsLastTenant() {
        QueueLedger ledger = new QueueLedger(List.of(queue(A, quota(4, -1, -1)), queue(B, quota(4, -1, -1))));
        GpuId gpu = new GpuId("g");

        ledger.add(gpu, A, ANY, 1, false);
        ledger.add(gpu, A, ANY, 1, true);
        assertThat(ledger.use(A, ANY).orElseThrow().used()).isEqualTo(1);
        assertThat(ledger.use(A, ANY).orElseThrow().leaving()).isEqualTo(1);
        assertThat(ledger.withoutLeaving().use(A, ANY).orElseThrow().used()).isZero();

        ledger.add(gpu, B, ANY, 1, false);
        assertThat(ledger.use(A, ANY).orElseThrow().used()).isZero();
        assertThat(ledger.counts(gpu, B, ANY)).isTrue();

        ledger.remove(gpu);
        assertThat(ledger.use(B, ANY).orElseThrow().used()).isZero();
    }

    /** Of whole GPUs, and of parts, whose sum depends on their order. */
    @ParameterizedTest
    @ValueSource(doubles = {1, 1.0 / 7})
    void withoutLeavingUnitsItIsTheLedgerOfTheOthers(double gpus) {
        List<ClusterQueue> queues = List.of(queue(A, quota(4, -1, -1)), queue(B, quota(40, -1, -1)));
        QueueLedger ledger = new QueueLedger(queues);
        QueueLedger others = new QueueLedger(queues);
        for (int i = 10; i < 40; i++) {
            GpuId unit = new GpuId("g" + i);
            ledger.add(unit, i % 3 == 0 ? A : B, ANY, gpus, i % 4 == 0);
            if (i % 4 != 0) {
                others.add(unit, i % 3 == 0 ? A : B, ANY, gpus, false);
            }
        }

        QueueLedger left = ledger.withoutLeaving();

        for (QueueId queue : List.of(A, B)) {
            assertThat(left.uses(queue)).isEqualTo(others.uses(queue)).isNotEqualTo(ledger.uses(queue));
        }
        assertThat(left.counts(new GpuId("g12"), A, ANY)).isFalse();
        assertThat(left.counts(new GpuId("g15"), A, ANY)).isTrue();
        left.remove(new GpuId("g15"));
        assertThat(ledger.counts(new GpuId("g15"), A, ANY)).isTrue();
    }

    @Test
    void theWeightedShareIsWhatWasBorrowedOfWhatTheCohortLends() {
        QueueLedger ledger =
                new QueueLedger(List.of(queue(A, Optional.of("all"), 2, quota(1, -1, -1)), queue(B, quota(4, -1, 3))));
        use(ledger, A, ANY, 3);

        assertThat(ledger.weightedShare(A)).as("2 of 1 + 3, by weight 2").isEqualTo(0.25);
        assertThat(ledger.weightedShare(B)).isZero();
    }

    @Test
    void aUnitCountsFromTheDecisionThatBindsIt() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 3)
                .queue("a", 2)
                .service("chat", 1, "a");
        QuotaUse binding = QueueLedger.of(story.state().entities()).use(A, ANY).orElseThrow();
        story.settled();
        QuotaUse serving = QueueLedger.of(story.state().entities()).use(A, ANY).orElseThrow();

        assertThat(binding.used()).isEqualTo(1);
        assertThat(serving.used()).isEqualTo(1);
        assertThat(serving.leaving()).isZero();
    }

    @Test
    void aUnitCountsUntilItsReleaseIsReported() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .queue("a", 2)
                .rigidJob("bert", 1, "a")
                .settled();
        story.progress("bert", JobPhase.FINISHED);
        QuotaUse leaving = QueueLedger.of(story.state().entities()).use(A, ANY).orElseThrow();
        story.settled();
        QuotaUse left = QueueLedger.of(story.state().entities()).use(A, ANY).orElseThrow();

        assertThat(leaving.used()).isEqualTo(1);
        assertThat(leaving.leaving()).isEqualTo(1);
        assertThat(left.used()).isZero();
    }

    @Test
    void aUnitInQuarantineCountsInNoQueue() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .queue("a", 2)
                .service("chat", 2, "a")
                .settled();
        assertThat(QueueLedger.of(story.state().entities())
                        .use(A, ANY)
                        .orElseThrow()
                        .used())
                .isEqualTo(2);

        story.sample("infer", Optional.of(79));

        assertThat(story.count("quarantined")).isEqualTo(2);
        assertThat(QueueLedger.of(story.state().entities())
                        .use(A, ANY)
                        .orElseThrow()
                        .used())
                .isZero();
    }

    @Test
    void aMigInstanceCountsItsComputeSlices() {
        Scenario story = Scenario.of("deepboot")
                .migNode("cut", Pool.INFERENCE, "3g.40gb@0 3g.40gb@4")
                .queue("a", 4);
        story.tell(story.jobRecord("small", 1, true).onSlicesOf(20L << 30).in(A))
                .after(ofSeconds(61))
                .settled();

        assertThat(QueueLedger.of(story.state().entities())
                        .use(A, ANY)
                        .orElseThrow()
                        .used())
                .isCloseTo(3.0 / 7, within(1e-9));
    }

    @Test
    void numbersAreWordedWithoutNoise() {
        QuotaUse use = new QuotaUse(A, A100, 4, 3.0 / 7, 0, 8);

        assertThat(use.inWords()).isEqualTo("0.43 of at most 8 GPUs of A100-SXM4-80GB (nominal quota 4)");
        assertThat(new QuotaUse(A, ANY, 4, 6, 1, 6).inWords())
                .isEqualTo("6 of at most 6 GPUs (nominal quota 4, 1 being released)");
    }

    @Test
    void sevenSeventhsAreAGpu() {
        QuotaUse use = new QuotaUse(A, ANY, 1, 1.0 / 7 + 2.0 / 7 + 3.0 / 7, 0, 1);

        assertThat(use.takes(1.0 / 7)).isTrue();
        assertThat(use.takes(2.0 / 7)).isFalse();
        assertThat(use.room()).isZero();
    }
}
