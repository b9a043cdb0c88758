package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.MigInstance;
import io.lendstream.core.state.Owner;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The replicas of a service in words. */
class RunningReplicasTest {
    private static final Instant NOW = Scenario.START;
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Owner SERVES = new Owner.Serving(CHAT);
    private static final Owner STARTS = new Owner.Binding(
            new Tenant.Service(CHAT), new DecisionId(Scenario.DOMAIN, 1, 1), NOW.plusSeconds(60), Optional.empty(), 1);
    private static final Owner WARM = new Owner.Protected(CHAT, NOW.plusSeconds(60), 0);

    private static GpuState gpu(Owner owner) {
        return GpuState.free(new GpuId("g0"), new NodeId("n"), Pool.INFERENCE, NOW, 0)
                .with(owner, NOW, 0);
    }

    private static GpuState instance(Owner owner) {
        MigInstance instance = new MigInstance(new GpuId("g1"), "1g.10gb", 0, 1, 10L << 30, 0.125);
        return GpuState.free(new GpuId("g1/0:1"), new NodeId("n"), Pool.INFERENCE, Optional.of(instance), NOW, 0)
                .with(owner, NOW, 0);
    }

    private static String words(GpuState... units) {
        return new RunningReplicas(List.of(units)).inWords();
    }

    @Test
    void replicasOnGpusAreANumber() {
        assertThat(words()).isEqualTo("0 running");
        assertThat(words(gpu(SERVES), gpu(SERVES), gpu(WARM))).isEqualTo("2 running");
        assertThat(words(gpu(SERVES), gpu(STARTS))).isEqualTo("1 running, 1 starting");
    }

    @Test
    void instancesAreCountedApartBecauseTheNeedDoesNotIncludeThem() {
        assertThat(words(gpu(SERVES), gpu(SERVES), instance(SERVES), instance(SERVES), instance(SERVES)))
                .isEqualTo("2 GPUs and 3 MIG instances running");
        assertThat(words(instance(SERVES))).isEqualTo("1 MIG instance running");
        assertThat(words(gpu(SERVES), instance(STARTS))).isEqualTo("1 GPU running, 1 MIG instance starting");
        assertThat(words(gpu(STARTS), instance(WARM))).isEqualTo("0 running, 1 GPU starting");
    }
}
