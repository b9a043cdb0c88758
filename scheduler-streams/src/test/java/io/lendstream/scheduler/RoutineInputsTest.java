package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Only what leads to no decision at once may wait for the regular commit. */
class RoutineInputsTest {
    private final RoutineInputs inputs = new RoutineInputs();
    private long sequence;

    private GpuTelemetry sample(String node, String boot, GpuSample... gpus) {
        return new GpuTelemetry(new NodeId(node), Scenario.DOMAIN, boot, ++sequence, Scenario.START, List.of(gpus));
    }

    private static GpuSample gpu(double utilization, Optional<Integer> xid, String... users) {
        var sample = GpuSample.of(new GpuId("g")).utilization(utilization);
        xid.ifPresent(sample::lastXid);
        return sample.build().withUsers(List.of(users));
    }

    @Test
    void aSampleIsRoutineIfItRepeatsWhatTheLastOneOfItsNodeSaidOfErrorsAndUsers() {
        assertThat(inputs.isRoutine(sample("n", "1", gpu(0.5, Optional.empty()))))
                .as("the first")
                .isFalse();
        assertThat(inputs.isRoutine(sample("m", "1", gpu(0.5, Optional.empty()))))
                .as("of another node")
                .isFalse();
        assertThat(inputs.isRoutine(sample("n", "1", gpu(0.9, Optional.empty()))))
                .isTrue();
        assertThat(inputs.isRoutine(sample("n", "1", gpu(0.9, Optional.of(79)))))
                .as("an error")
                .isFalse();
        assertThat(inputs.isRoutine(sample("n", "1", gpu(0.9, Optional.of(79)))))
                .isTrue();
        assertThat(inputs.isRoutine(sample("n", "1", gpu(0.9, Optional.of(79), "slurm/7"))))
                .as("a user")
                .isFalse();
        assertThat(inputs.isRoutine(sample("n", "2", gpu(0.9, Optional.of(79), "slurm/7"))))
                .as("a boot")
                .isFalse();
        assertThat(inputs.isRoutine(sample("n", "2"))).as("other GPUs").isFalse();
        assertThat(inputs.isRoutine(sample("m", "1", gpu(0.1, Optional.empty()))))
                .isTrue();
    }

    @Test
    void whatLeadsToDecisionsAtOnceIsNotRoutine() {
        Scenario story = Scenario.of("lendstream")
                .node("node", Pool.INFERENCE, 2)
                .service("chat", 0)
                .job("bert", 2)
                .rate("chat", 5)
                .forecast("chat", 10)
                .progress("bert", JobPhase.RUNNING)
                .progress("bert", JobPhase.FINISHED);

        assertThat(story.log().stream()
                        .map(DomainEvent::event)
                        .filter(inputs::isRoutine)
                        .map(Event::getClass))
                .extracting(Class::getSimpleName)
                .containsExactly("DemandForecast", "TrainingProgress");
    }
}
