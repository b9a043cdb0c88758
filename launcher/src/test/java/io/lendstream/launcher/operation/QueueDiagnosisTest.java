package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.KindQuota;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class QueueDiagnosisTest {
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final KindQuota ANY = KindQuota.of(Optional.empty(), 4);

    private static Finding finding(Scenario story, Optional<KindId> kind) {
        QueueDiagnosis queues = new QueueDiagnosis();
        story.log().forEach(event -> queues.take(event.event()));
        List<Lease> leases = story.state().gpus().stream()
                .map((GpuState gpu) -> gpu.of(kind).lease(Scenario.DOMAIN, 1))
                .toList();
        return queues.finding(leases);
    }

    private static Scenario training(int gpus) {
        return Scenario.of("deepboot").node("train", Pool.TRAINING, gpus);
    }

    @Test
    void withoutQueuesThereIsNothingToJudge() {
        assertThat(finding(training(2).service("chat", 0), Optional.empty()).line())
                .isEqualTo("ok   queues: none is declared");
    }

    @Test
    void allIsWellIfTenantsHaveAQuotaOfAKindThatIsThere() {
        Scenario story = training(2)
                .queue("team-a", Optional.empty(), KindQuota.of(Optional.of(A100), 4))
                .service("chat", 0, "team-a")
                .rigidJob("bert", 1, "team-a")
                .rigidJob("waits", 9);

        assertThat(finding(story, Optional.of(A100)).line())
                .isEqualTo("ok   queues: 1 queue, each GPU in use has a quota");
    }

    @Test
    void servicesAndJobsWithGpusThatNoQuotaLimitsAreNamed() {
        Scenario story = training(2)
                .queue("team-a", Optional.empty(), ANY)
                .service("chat", 0)
                .rigidJob("bert", 1, "team-z")
                .rigidJob("gpt", 1)
                .rigidJob("waits", 9)
                .after(Duration.ofSeconds(61))
                .settled();
        assertThat(story.count("training")).isEqualTo(2);

        assertThat(finding(story, Optional.empty()).line())
                .isEqualTo(
                        "warn queues: no quota limits service chat (it names no queue), job bert (queue team-z is not"
                                + " declared), job gpt (it names no queue); name a declared queue of the same domain in 'queue'");
    }

    @Test
    void quotasOfKindsThatTheDomainLacksAreNamed() {
        Scenario story = training(1)
                .queue("team-a", Optional.empty(), ANY, KindQuota.of(Optional.of(new KindId("Tesla-T4-16GB")), 2));

        assertThat(finding(story, Optional.of(A100)).line())
                .isEqualTo("warn queues: queue team-a has a quota for Tesla-T4-16GB, which domain test does not have;"
                        + " name kinds as 'lendstream top' shows them");
        assertThat(finding(story, Optional.empty()).line()).contains("the scheduler does not tell kinds apart");
    }
}
