package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.agent.gpu.GpuSnapshot;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.service.health.Health;
import java.util.List;
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

    @Test
    void aRunThatReadNoGpuSaysWhyAndWhatToDo() {
        GpuSnapshot none = GpuSnapshot.without(
                NodeStatus.UNAVAILABLE, "no library. (retry after 30 s)", List.of(), Optional.empty());
        GpuSnapshot paused = GpuSnapshot.without(NodeStatus.PAUSED, "maintenance", List.of(), Optional.empty());

        assertThat(NodeRun.unread(Backend.NVML, none))
                .hasValueSatisfying(line -> assertThat(line)
                        .startsWith("agent.backend is nvml, but no GPU was read: no library. Install NVIDIA's driver, ")
                        .contains("use --backend dcgm with agent.dcgm-url, or")
                        .endsWith(", or use --backend simulated for GPUs that do not exist."));
        assertThat(NodeRun.unread(Backend.DCGM, none))
                .hasValueSatisfying(line -> assertThat(line).contains("Check agent.dcgm-url and the dcgm-exporter"));
        assertThat(NodeRun.unread(Backend.RECORDED, none)).as("was read").isEmpty();
        assertThat(NodeRun.unread(Backend.NVML, paused)).as("on purpose").isEmpty();
    }
}
