package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.QueueId;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PoolShareTest {
    @Test
    void theReasonNamesTheQueueItsShareAndAllQuotas() {
        assertThat(new PoolShare(Optional.of(new QueueId("team-a")), 4, 8, 12, 16.5).inWords(4))
                .isEqualTo(
                        "queue team-a has no share left for 4 GPUs of it: its share is 4 of 12 GPUs, and it has 8, while other queues have less than theirs; all nominal quotas together are 16.50 GPUs");
        assertThat(new PoolShare(Optional.empty(), 0, 1, 12, 12).inWords(1))
                .startsWith(
                        "jobs without a queue have no share left for 1 GPU of it: their share is 0 of 12 GPUs, and they have 1");
    }
}
