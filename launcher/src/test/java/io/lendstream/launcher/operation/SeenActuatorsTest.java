package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Services whose replicas have several GPUs need an actuator that has described itself. */
class SeenActuatorsTest {
    private static final DomainId EAST = new DomainId("east");
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final SeenActuators seen = new SeenActuators();

    private static InferenceService service(int gpus) {
        return new InferenceService(
                        new ServiceId("llm"),
                        EAST,
                        NOW,
                        List.of(),
                        Duration.ofSeconds(1),
                        10,
                        Optional.empty(),
                        0,
                        Duration.ofSeconds(8))
                .inShapes(List.of(ReplicaShape.of("tp", gpus, 1, 10, Duration.ofSeconds(60))));
    }

    @Test
    void warnsAboutShapesThatNoActuatorStarts() {
        seen.take(service(4));
        assertThat(seen.finding().line())
                .contains("services have shapes, and no actuator of their domain has described itself: llm");

        seen.take(new ActuatorDescription("one", EAST, NOW, "process", List.of(), Abilities.USUAL));

        assertThat(seen.finding().line()).contains("no node has two actuators: one (process)");
    }

    @Test
    void aShapeOfOneGpuNeedsNoDescription() {
        seen.take(service(1));

        assertThat(seen.finding().line()).contains("no actuator has described itself; each node may be used by any");
    }
}
