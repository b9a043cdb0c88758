package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.QueueId;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PoolShareTest {
    @Test
    void theReasonNamesTheQueueItsShareAndAllQuotas() {
        PoolShare share = new PoolShare(Optional.of(new QueueId("team-a")), 4, 0, 8, 12, 16.5);

        assertThat(share.inWords(4))
                .isEqualTo(
                        "queue team-a has no share left for 4 GPUs of it: the share is 4 of 12 GPUs, 8 in use, while other queues have less than their share; all nominal quotas together are 16.50 GPUs");
        assertThat(new PoolShare(Optional.empty(), 0, 0, 1, 12, 12).inWords(1))
                .startsWith(
                        "jobs without a queue have no share left for 1 GPU of it: the share is 0 of 12 GPUs, 1 in use");
    }

    @Test
    void jobsOfHigherPriorityUseTheShareFirst() {
        PoolShare share = new PoolShare(Optional.of(new QueueId("team-a")), 4, 0, 4, 12, 12);

        assertThat(share.after(3).inWords(1))
                .contains("the share is 4 of 12 GPUs, 3 of it for jobs of higher priority in the queue;");
        assertThat(share.after(3).after(8).higher())
                .as("never more than the share")
                .isEqualTo(4);
    }
}
