package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cli.GpuNames;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class IntruderDiagnosisTest {
    private static final Instant NOW = Instant.parse("2026-11-27T10:00:00Z");
    private static final String SHARED =
            "training job bert, also used by process/7-1 (not its tenant) since 2026-11-27 10:00:00 UTC";

    private static Lease lease(Optional<Intruders> intruders) {
        return new Lease(
                new GpuId("g0"),
                new NodeId("n"),
                new DomainId("east"),
                Pool.TRAINING,
                new Owner.Training(new JobId("bert")),
                1,
                1,
                NOW,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                intruders);
    }

    private static Lease shared() {
        return lease(Optional.of(new Intruders(List.of("process/7-1"), NOW)));
    }

    @Test
    void doctorNamesTheGpuItsTenantAndTheOthers() {
        assertThat(IntruderDiagnosis.of(List.of(lease(Optional.empty())), new GpuNames())
                        .line())
                .isEqualTo("ok   intruders: no GPU of a tenant is known to be used by others too");
        assertThat(IntruderDiagnosis.of(List.of(shared(), lease(Optional.empty())), new GpuNames())
                        .line())
                .isEqualTo("warn intruders: 1 of 2 are used by others too: g0, " + SHARED
                        + "; stop the others, or leave them: the GPU is foreign when its tenant leaves and they stay");
    }

    @Test
    void topHasAnAlarmAndTheGpuWithItsIntruder() {
        Overview overview = new Overview();
        overview.tell(lease(Optional.empty()));
        assertThat(overview.alarms(NOW)).isEmpty();

        overview.tell(shared());

        assertThat(overview.alarms(NOW)).containsExactly("g0: " + SHARED);
        assertThat(String.join("\n", overview.lines(NOW, false))).contains("g0                     " + SHARED);
        JsonNode gpu = overview.json(NOW).path("gpus").path(0);
        assertThat(gpu.path("intruders").path("users").path(0).asText()).isEqualTo("process/7-1");
        assertThat(gpu.path("intruders").path("since").asText()).isEqualTo(NOW.toString());
    }

    @Test
    void explainNamesTheIntruder() {
        ExplainedGpus explained = new ExplainedGpus(List.of(shared()), Optional.of(new GpuId("g0")), new GpuNames());
        explained.read();

        assertThat(explained.lines(NOW).get(0))
                .startsWith("g0: training job bert; the reason is unknown")
                .endsWith("; also used by process/7-1 (not its tenant) since 2026-11-27 10:00:00 UTC");
        assertThat(explained
                        .json(NOW)
                        .path("domains")
                        .path(0)
                        .path("gpus")
                        .path(0)
                        .path("intruders")
                        .path("users")
                        .path(0)
                        .asText())
                .isEqualTo("process/7-1");
    }
}
