package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.TrustLevel;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ClusterEntities;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.Owner;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DomainGaugesTest {
    private final MeterRegistry registry = new SimpleMeterRegistry();

    private double value(String name, String... tags) {
        return registry.get(name).tag("domain", "test").tags(tags).gauge().value();
    }

    @Test
    void showWhoOwnsGpusAndWhatWasOrderedAsItIsNow() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled();
        try (DomainGauges gauges = new DomainGauges(registry, new DomainLabels(registry, 2))) {
            Domain domain = new Domain(story.state(), Scenario.START);
            gauges.watch(domain);
            gauges.watch(domain);

            assertThat(value("lendstream.gpus", "owner", "serving")).isEqualTo(1);
            assertThat(value("lendstream.gpus", "owner", "free")).isEqualTo(2);
            assertThat(value("lendstream.epoch")).isEqualTo(1);
            assertThat(value("lendstream.frozen")).isZero();
            assertThat(value("lendstream.transfers.most")).isNaN();
            assertThat(value("lendstream.trust.level")).isEqualTo(4);
            domain.state(story.trust(TrustLevel.SHARE, false).state());
            assertThat(value("lendstream.trust.level")).isEqualTo(3);
            assertThat(value("lendstream.late.reclaims")).isZero();
            domain.state(story.control(ControlCommand.Kind.FREEZE).state());
            assertThat(value("lendstream.frozen")).isEqualTo(1);
            assertThat(Owner.LABELS)
                    .contains("lent", "releasing", "quarantined", "foreign")
                    .hasSize(11);
        }

        assertThat(registry.getMeters()).as("of a domain that went elsewhere").isEmpty();
    }

    @Test
    void countTheGpusThatOthersUseBesideTheirTenant() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled();
        try (DomainGauges gauges = new DomainGauges(registry, new DomainLabels(registry, 2))) {
            Domain domain = new Domain(story.state(), Scenario.START);
            gauges.watch(domain);
            assertThat(value("lendstream.gpus.with.intruders")).isZero();

            ClusterEntities entities = story.state().entities();
            for (GpuState unit : story.state().gpus().values()) {
                if (unit.owner().isServing()) {
                    entities = entities.with(
                            unit.beside(Optional.of(new Intruders(List.of("process/7-1"), Scenario.START))));
                }
            }
            ClusterState known = story.state();
            domain.state(new ClusterState(
                    known.domain(),
                    known.position(),
                    known.nextPlanAt(),
                    known.mode(),
                    known.pacing(),
                    known.slices(),
                    known.advice(),
                    known.promises(),
                    known.loanStarts(),
                    entities));

            assertThat(value("lendstream.gpus.with.intruders")).isEqualTo(1);
        }
    }

    @Test
    void showTheQuotasOfQueuesOnceTheseAreDeclared() {
        Scenario story = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 3);
        try (DomainGauges gauges = new DomainGauges(registry, new DomainLabels(registry, 2))) {
            Domain domain = new Domain(story.state(), Scenario.START);
            gauges.watch(domain);
            assertThat(registry.find("lendstream.queue.used.gpus").gauge()).isNull();

            domain.state(story.queue("team-a", 2)
                    .service("chat", 0, "team-a")
                    .rate("chat", 25)
                    .state());
            gauges.watch(domain);

            assertThat(value("lendstream.queue.nominal.gpus", "queue", "team-a"))
                    .isEqualTo(2);
            assertThat(value("lendstream.queue.limit.gpus", "queue", "team-a")).isEqualTo(2);
            assertThat(value("lendstream.queue.used.gpus", "queue", "team-a")).isEqualTo(2);
            assertThat(value("lendstream.queue.refused.gpus", "queue", "team-a"))
                    .isEqualTo(1);
            domain.state(story.queue("team-a", 3).state());
            assertThat(value("lendstream.queue.refused.gpus", "queue", "team-a"))
                    .isZero();
        }

        assertThat(registry.getMeters()).isEmpty();
    }
}
