package io.lendstream.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClusterQueueTest {
    private static final Optional<KindId> A100 = Optional.of(new KindId("A100-SXM4-80GB"));
    private static final Optional<KindId> T4 = Optional.of(new KindId("Tesla-T4-16GB"));
    private static final Optional<KindId> ANY = Optional.empty();

    private static ClusterQueue queue(double weight, KindQuota... quotas) {
        return new ClusterQueue(
                new QueueId("team-a"), new DomainId("test"), Instant.EPOCH, Optional.empty(), weight, List.of(quotas));
    }

    @Test
    void aUnitCountsInTheQuotaOfItsKindOrElseInThatWithoutAKind() {
        ClusterQueue queue = queue(1, KindQuota.of(ANY, 1), KindQuota.of(A100, 2));

        assertThat(queue.quota(A100)).contains(KindQuota.of(A100, 2));
        assertThat(queue.quota(T4)).contains(KindQuota.of(ANY, 1));
        assertThat(queue.quota(ANY)).contains(KindQuota.of(ANY, 1));
    }

    @Test
    void aQueueHasNoQuotaForAKindThatItDoesNotName() {
        assertThat(queue(1, KindQuota.of(A100, 2)).quota(T4)).isEmpty();
        assertThat(queue(1, KindQuota.of(A100, 2)).quota(ANY)).isEmpty();
        assertThat(queue(1).quota(A100)).isEmpty();
    }

    @Test
    void oneKindHasOneQuota() {
        assertThatThrownBy(() -> queue(1, KindQuota.of(A100, 2), KindQuota.of(A100, 3)))
                .hasMessage("queue team-a has two quotas for A100-SXM4-80GB; declare one for each kind");
        assertThatThrownBy(() -> queue(1, KindQuota.of(ANY, 2), KindQuota.of(ANY, 3)))
                .hasMessage("queue team-a has two quotas for other kinds; declare one for each kind");
    }

    /** As in Kueue, where no cohort is an empty name. */
    @Test
    void aBlankNameIsNoCohort() {
        for (String name : List.of("", " ")) {
            ClusterQueue queue = new ClusterQueue(
                    new QueueId("team-a"), new DomainId("test"), Instant.EPOCH, Optional.of(name), 1, List.of());

            assertThat(queue.cohort()).isEmpty();
        }
    }

    @Test
    void weightsAndQuotasAreBounded() {
        for (double weight : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> queue(weight)).hasMessageContaining("the weight of queue team-a must be");
        }
        assertThatThrownBy(() -> KindQuota.of(ANY, -1)).hasMessageContaining("nominalQuota");
        assertThatThrownBy(() -> new KindQuota(ANY, 1, Optional.of(-1.0), Optional.empty()))
                .hasMessageContaining("borrowingLimit");
        assertThatThrownBy(() -> new KindQuota(ANY, 1, Optional.empty(), Optional.of(Double.NaN)))
                .hasMessageContaining("lendingLimit");
    }
}
