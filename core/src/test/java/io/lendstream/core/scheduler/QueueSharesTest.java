package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QueueSharesTest {
    private static QueueShares.Quota quota(double nominal) {
        return new QueueShares.Quota(Optional.of("all"), nominal, Double.MAX_VALUE, 0, 0);
    }

    private static QueueShares.Asker asker(int useful, double weight, QueueShares.Quota quota) {
        return new QueueShares.Asker(0, (int) Math.min(useful, quota.nominal()), useful, weight, Optional.of(quota));
    }

    private static QueueShares.Asker withoutQueue(int useful) {
        return new QueueShares.Asker(0, 0, useful, 1, Optional.empty());
    }

    private static List<Integer> shares(int gpus, QueueShares.Asker... askers) {
        QueueShares shares = QueueShares.of(gpus, List.of(askers), List.of());
        return IntStream.range(0, askers.length).mapToObj(shares::get).toList();
    }

    @Test
    void eachQueueHasItsNominalQuota() {
        assertThat(shares(10, asker(100, 1, quota(4)), asker(6, 1, quota(6)))).containsExactly(4, 6);
    }

    @Test
    void aQueueThatUsesLessLendsTheRest() {
        assertThat(shares(10, asker(100, 1, quota(4)), asker(2, 1, quota(6)))).containsExactly(8, 2);
    }

    @Test
    void theRestGoesByWeight() {
        assertThat(shares(12, asker(100, 2, quota(0)), asker(100, 1, quota(0)), asker(3, 1, quota(12))))
                .containsExactly(6, 3, 3);
    }

    @Test
    void ofQueuesThatAreAlikeTheFirstGetsTheOddGpu() {
        assertThat(shares(5, asker(100, 1, quota(0)), asker(100, 1, quota(0)), asker(0, 1, quota(5))))
                .containsExactly(3, 2, 0);
        assertThat(shares(5, asker(100, 1, quota(4)), asker(100, 1, quota(4)))).containsExactly(3, 2);
    }

    @Test
    void aBorrowingLimitAndALendingLimitHold() {
        QueueShares.Quota limited = new QueueShares.Quota(Optional.of("all"), 4, 1, 0, 0);
        QueueShares.Quota keeping = new QueueShares.Quota(Optional.of("all"), 6, Double.MAX_VALUE, 5, 0);

        assertThat(shares(10, asker(100, 1, limited), asker(0, 1, quota(6)))).containsExactly(5, 0);
        assertThat(shares(10, asker(100, 1, quota(4)), asker(0, 1, keeping))).containsExactly(5, 0);
    }

    @Test
    void aQueueWithoutACohortBorrowsNothing() {
        QueueShares.Quota alone = new QueueShares.Quota(Optional.empty(), 4, Double.MAX_VALUE, 0, 0);

        assertThat(shares(10, asker(100, 1, alone), asker(2, 1, quota(6)))).containsExactly(4, 2);
    }

    @Test
    void jobsWithoutAQueueGetWhatNominalQuotasLeave() {
        assertThat(shares(10, withoutQueue(100), asker(6, 1, quota(6)))).containsExactly(4, 6);
    }

    @Test
    void tooFewGpusAreSharedInProportionToNominalQuotas() {
        assertThat(shares(6, asker(100, 1, quota(4)), asker(100, 1, quota(8)))).containsExactly(2, 4);
    }

    @Test
    void fixedGpusAreKeptAndOtherUseCounts() {
        QueueShares.Quota used = new QueueShares.Quota(Optional.of("all"), 4, Double.MAX_VALUE, 0, 3);
        QueueShares.Asker fixed = new QueueShares.Asker(5, 1, 5, 1, Optional.of(used));

        assertThat(shares(10, fixed, asker(100, 1, quota(6)))).containsExactly(5, 5);
    }

    @Test
    void whatAQueueLeavesMayBeBorrowed() {
        QueueShares shares = QueueShares.of(10, List.of(asker(100, 1, quota(4)), asker(100, 1, quota(6))), List.of());
        assertThat(shares.room(0)).isZero();

        shares.set(1, 2);

        assertThat(shares.room(0)).isEqualTo(4);
    }
}
