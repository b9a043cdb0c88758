package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class UserDiagnosisTest {
    private static final GpuSample USED = GpuSample.of(new GpuId("a")).build().withUsers(List.of("process/1-2"));
    private static final GpuSample UNUSED = GpuSample.of(new GpuId("b")).build().withUsers(List.of());
    private static final GpuSample NOT_NOW = GpuSample.of(new GpuId("a")).build();
    private static final GpuSample UNKNOWN = GpuSample.of(new GpuId("c")).build();

    private final UserDiagnosis users = new UserDiagnosis();

    private UserDiagnosisTest node(String name, GpuSample... gpus) {
        users.take(new GpuTelemetry(
                new NodeId(name), new DomainId("d"), "boot", 1, Instant.EPOCH.plusSeconds(1), List.of(gpus)));
        return this;
    }

    private String line() {
        return users.finding().line();
    }

    @Test
    void allUsersAreKnown() {
        assertThat(node("n1", USED, UNUSED).node("n2", UNUSED).line())
                .isEqualTo("ok   users: agents name the users of all 3 GPUs and instances");
    }

    @Test
    void nodesWhoseUsersAreNeverKnownAreNamed() {
        node("n1", USED).node("n2", UNUSED, UNKNOWN).node("n1", NOT_NOW);

        assertThat(line())
                .startsWith(
                        "warn users: agents name the users of 2 of 3 GPUs and instances; unknown on n2; see the agent's log");
    }

    @Test
    void agentsThatNameNoUsersAreNoFault() {
        assertThat(line()).isEqualTo("ok   users: no sample in the last minute");
        assertThat(node("n1", UNKNOWN).line()).startsWith("ok   users: no agent names the users of GPUs");
    }
}
