package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SchedulerMetricsTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SchedulerMetrics metrics = new SchedulerMetrics(registry);

    private void reclaim(ReasonCode code) {
        metrics.decided(
                new Decision(
                        new DecisionId(new DomainId("d"), 1, 1),
                        NOON,
                        NOON,
                        false,
                        new Reason(code.label(), "", Map.of(), List.of()),
                        new Action.Reclaim(
                                new JobId("bert"),
                                List.of(new GpuId("g0")),
                                NOON,
                                Allocation.suspended(Mechanism.AFE))),
                Duration.ZERO);
    }

    private double decisions(String kind) {
        return registry.counter("lendstream.decisions", "kind", kind).count();
    }

    @Test
    void countersStartAtZeroSoThatAlertsSeeTheFirstEvent() {
        metrics.startAtZero(SchedulerTopology.inputs());

        assertThat(values("lendstream.decisions", "kind")).contains("lend", "reclaim", "release", "hold");
        assertThat(values("lendstream.events", "type")).contains("RequestRate", "Tick");
        assertThat(values("lendstream.state.entries.set.aside", "kind")).contains("gpu", "job");
        assertThat(values("lendstream.duplicates", "topic")).contains("request-rates");
        assertThat(values("lendstream.tombstones.ignored", "topic")).contains("nodes");
        assertThat(registry.get("lendstream.dead.letters")
                        .tags("topic", "request-rates", "reason", "unreadable")
                        .counter()
                        .count())
                .isZero();
        assertThat(registry.get("lendstream.forecasts.missed").counter().count())
                .isZero();
    }

    private List<String> values(String name, String label) {
        return registry.get(name).counters().stream()
                .map(counter -> counter.getId().getTag(label))
                .toList();
    }

    @Test
    void theEndOfAJobIsCountedAsAReleaseAndNotAsAReclaim() {
        reclaim(ReasonCode.OVER);
        reclaim(ReasonCode.DEMAND);
        reclaim(ReasonCode.OVER);

        assertThat(decisions("release")).isEqualTo(2);
        assertThat(decisions("reclaim")).isEqualTo(1);
    }
}
