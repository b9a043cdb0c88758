package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindNeeds;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Lease;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KindDiagnosisTest {
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final KindId T4 = new KindId("T4");

    private final KindDiagnosis kinds = new KindDiagnosis();

    private static KindNeeds only(KindId... allowed) {
        return new KindNeeds(List.of(allowed), Optional.empty(), Optional.empty(), List.of());
    }

    private static List<Lease> leases(Scenario story, Optional<KindId> kind) {
        return story.state().gpus().stream()
                .map((GpuState gpu) -> gpu.of(kind).lease(Scenario.DOMAIN, 1))
                .toList();
    }

    private Optional<String> line(Scenario story, Optional<KindId> kind) {
        story.log().forEach(event -> kinds.take(event.event()));
        return kinds.finding(leases(story, kind)).map(Finding::line);
    }

    private static Scenario node() {
        return Scenario.of("deepboot").node("train", Pool.TRAINING, 2, "NVIDIA A100-SXM4-80GB");
    }

    @Test
    void kindsThatADomainLacksAreNamedWithTheJobsAndServicesThatNameThem() {
        Scenario story = node().job("bert", 1, only(A100)).job("gpt", 1, only(A100, T4));
        story.tell(story.serviceRecord("chat", 0).onKinds(List.of(KindCapacity.of(T4, 5), KindCapacity.of(A100, 10))));

        assertThat(line(story, Optional.of(A100)))
                .contains(
                        "warn kinds: service chat names T4, job gpt names T4, but domain test has only A100-SXM4-80GB;"
                                + " name kinds as 'lendstream top' shows them");
    }

    @Test
    void aProductThatCountsAsAnotherKindIsKnown() {
        assertThat(line(node().job("bert", 1, only(A100)), Optional.of(new KindId("A100"))))
                .isEmpty();
    }

    @Test
    void nothingIsSaidWhereKindsAreNotToldApart() {
        assertThat(line(node().job("bert", 1, only(T4)), Optional.empty())).isEmpty();
    }

    @Test
    void aJobThatHasEndedIsNotNamed() {
        Scenario story = node().job("gpt", 1, only(T4)).progress("gpt", JobPhase.FINISHED);
        assertThat(line(story, Optional.of(A100))).isPresent();
        assertThat(kinds.isAboutJobs(leases(story, Optional.of(A100)))).isTrue();

        story.log().stream()
                .map(event -> event.event())
                .filter(TrainingProgress.class::isInstance)
                .map(TrainingProgress.class::cast)
                .forEach(kinds::ended);

        assertThat(kinds.finding(leases(story, Optional.of(A100)))).isEmpty();
    }
}
