package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SetbacksTest {
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));

    private final Scenario story = Scenario.of("deepboot");
    private final Setbacks setbacks = new Setbacks();

    private void reported(Outcome outcome, List<GpuId> gpus, Optional<Tenant> tenant, String reason) {
        ActuationReport plain = story.report(new DecisionId(story.state().domain(), 1, 1), outcome, gpus, tenant);
        setbacks.take(new ActuationReport(
                plain.domain(),
                plain.decision(),
                "gpu-7",
                plain.at(),
                outcome,
                gpus,
                tenant,
                plain.timings(),
                reason,
                plain.placements()));
    }

    @Test
    void aRefusalIsKnownUntilTheJobRuns() {
        reported(Outcome.REJECTED, List.of(), Optional.of(BERT), "advisory");
        assertThat(setbacks.of(BERT).map(Setbacks::inWords)).contains("refused by actuator gpu-7");

        reported(Outcome.APPLIED, List.of(new GpuId("GPU-a")), Optional.of(BERT), "without GPU-a");
        reported(Outcome.HOLDS, List.of(), Optional.of(BERT), "");
        assertThat(setbacks.of(BERT)).as("it runs on no GPU").isPresent();

        reported(Outcome.BOUND, List.of(new GpuId("GPU-a")), Optional.of(BERT), "");
        assertThat(setbacks.of(BERT)).isEmpty();
    }

    @Test
    void theLastOneCountsAndOthersAreNotMixedUp() {
        reported(Outcome.FAILED, List.of(), Optional.of(BERT), "no program");
        reported(Outcome.TIMED_OUT, List.of(), Optional.of(BERT), "slow");
        reported(Outcome.BOUND, List.of(new GpuId("GPU-a")), Optional.of(new Tenant.Job(new JobId("t5"))), "");
        reported(Outcome.REJECTED, List.of(), Optional.empty(), "of no job");

        assertThat(setbacks.of(BERT).orElseThrow().reason()).isEqualTo("slow");
        assertThat(setbacks.of(BERT).map(Setbacks::inWords)).contains("not started in time by actuator gpu-7");
    }

    @Test
    void aFailedReplicaIsNotHiddenByOthersOfItsService() {
        Optional<Tenant> chat = Optional.of(new Tenant.Service(new ServiceId("chat")));
        reported(Outcome.FAILED, List.of(new GpuId("GPU-a")), chat, "no program");

        reported(Outcome.BOUND, List.of(new GpuId("GPU-b")), chat, "");
        assertThat(setbacks.failedSince(Instant.EPOCH))
                .singleElement(STRING)
                .startsWith("service chat: not started by actuator gpu-7 at ")
                .endsWith(": no program; other replicas of it run");

        reported(Outcome.FAILED, List.of(new GpuId("GPU-c")), chat, "no port");
        assertThat(setbacks.failedSince(Instant.EPOCH))
                .singleElement(STRING)
                .endsWith(": no port; on other GPUs 1 more start failed");

        reported(Outcome.BOUND, List.of(new GpuId("GPU-a")), chat, "");
        reported(Outcome.HOLDS, List.of(new GpuId("GPU-b"), new GpuId("GPU-c")), chat, "");
        assertThat(setbacks.failedSince(Instant.EPOCH)).isEmpty();
        assertThat(setbacks.of(chat.get())).isEmpty();
    }

    @Test
    void aRefusalOfAServiceIsOverWhenAReplicaRuns() {
        Optional<Tenant> chat = Optional.of(new Tenant.Service(new ServiceId("chat")));
        reported(Outcome.REJECTED, List.of(new GpuId("GPU-a")), chat, "advisory");

        reported(Outcome.HOLDS, List.of(new GpuId("GPU-b")), chat, "");

        assertThat(setbacks.of(chat.get())).isEmpty();
    }
}
