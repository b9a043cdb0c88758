package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.actuation.Actuation;
import io.lendstream.core.actuation.Holding;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Limits;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A state file that the version before bounds wrote. Jobs hold GPUs by leases there whose names have a NUL, a line
 * break, or are {@code ..}; one of the leases ends at 2^63-1 ms.
 */
class OldStateFileTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    @TempDir
    Path folder;

    @Test
    void loadsAndItsLeasesEnd() throws IOException {
        Files.copy(Path.of("src/test/resources/state/actuator.avro"), folder.resolve("actuator.avro"));
        ActuatorState state = StateFile.in(folder).load().orElseThrow();
        ActuatorSettings settings = ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS));
        Actuation actuation = Actuation.restore(
                settings.name(), settings.leaseNotice(), settings.choice().changeDriver(), state.actuation());
        actuation.know(new Node(
                new NodeId("n2"),
                new DomainId("d"),
                Pool.INFERENCE,
                "boot",
                NOON,
                NodeStatus.READY,
                Stream.of("i1", "i2", "i3", "i4", "i5")
                        .map(name -> Gpu.whole(new GpuId(name), name.charAt(1) - '1', "A100", 80L << 30))
                        .toList()));

        assertThat(actuation.holdings())
                .extracting(Holding::gpu)
                .extracting(GpuId::value)
                .contains("i1", "i2", "i3", "i4");
        assertThat(loans(actuation)).contains(Limits.LATEST);
        assertThat(actuation.advance(NOON.plus(Duration.ofHours(1))))
                .filteredOn(report -> report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED)
                .flatExtracting(report -> report.gpus())
                .extracting(GpuId::value)
                .contains("i1", "i3", "i4")
                .doesNotContain("i2");
        assertThat(actuation.stock()).isNotEmpty();

        StateFile.in(folder)
                .save(new ActuatorState(
                        "actuator",
                        actuation.snapshot(),
                        state.decisions(),
                        state.reports(),
                        state.answered(),
                        state.alone()));
        assertThat(StateFile.in(folder).load().orElseThrow().actuation()).isEqualTo(actuation.snapshot());
    }

    /**
     * The state of a version in which simulated steps were planned: {@code t2} and {@code i4} change hands, {@code
     * i3} starts, the job on {@code t3} is stuck, and that on {@code t4} will not start.
     */
    @Test
    void stepsThatASimulationHadPlannedHappenWhenTheyWereDue() throws IOException {
        Files.copy(Path.of("src/test/resources/state/planned-steps.avro"), folder.resolve("actuator.avro"));
        ActuatorState state = StateFile.in(folder).load().orElseThrow();
        ActuatorSettings settings = ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS));
        Actuation actuation = Actuation.restore(
                settings.name(), settings.leaseNotice(), settings.choice().changeDriver(), state.actuation());

        assertThat(actuation.advance(NOON.plusSeconds(200)))
                .extracting(report -> "%d %s %s %s"
                        .formatted(
                                Duration.between(NOON, report.at()).toSeconds(),
                                report.decision(),
                                report.outcome(),
                                report.gpus()))
                .containsExactly(
                        "103 d/1/7 RELEASED [t2]",
                        "103 d/1/5 FAILED [t4]",
                        "104 d/1/6 BOUND [i3]",
                        "106 d/1/7 BOUND [i4]",
                        "121 d/1/6 APPLIED [i3]",
                        "121 d/1/7 APPLIED [i4, t1]",
                        "130 d/1/4 FORCED [t3]",
                        "130 d/1/4 APPLIED []");
        assertThat(actuation.holdings())
                .extracting(Holding::gpu)
                .extracting(GpuId::value)
                .containsExactly("i1", "i2", "i3", "i4", "t1");
    }

    private static List<Instant> loans(Actuation actuation) {
        return actuation.holdings().stream()
                .filter(holding -> holding.tenant() instanceof Tenant.Job)
                .flatMap(holding -> holding.loan().stream())
                .map(Holding.Loan::until)
                .toList();
    }
}
