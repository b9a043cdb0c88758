package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.health.Health;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeRunTest {
    private final Health health = new Health();

    @Test
    void anAgentWhoseRecordsWaitIsNotReadyButLives() {
        NodeRun.tell(health, Optional.empty(), Optional.of("no broker"));

        assertThat(health.whyNotReady()).contains("records are queued: no broker");
        assertThat(health.whyDead()).isEmpty();
    }

    @Test
    void anAgentThatDeliversIsReady() {
        NodeRun.tell(health, Optional.empty(), Optional.empty());

        assertThat(health.whyNotReady()).isEmpty();
    }

    @Test
    void anAgentThatWillNeverDeliverAgainIsDead() {
        NodeRun.tell(health, Optional.of("the thread has ended"), Optional.empty());

        assertThat(health.whyDead()).contains("the thread has ended");
    }
}
