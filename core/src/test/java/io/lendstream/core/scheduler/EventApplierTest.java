package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.NodeState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Records that come late or again, and what the lack of news forbids. */
class EventApplierTest {
    private final Scenario story = Scenario.of("deepboot");

    private DemandForecast forecast(Instant issued, double p99) {
        return new DemandForecast(
                new ServiceId("chat"),
                DOMAIN,
                issued,
                ofMinutes(1),
                "test",
                List.of(new HorizonQuantiles(ofMinutes(10), 0, p99 / 2, p99, p99)),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void anOlderForecastThatComesLateDoesNotReplaceANewerOne() {
        story.node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .after(ofMinutes(5))
                .settled();
        DemandForecast newer = forecast(story.now(), 10);
        story.tell(newer).settled();

        story.tell(forecast(story.now().minusSeconds(60), 30)).settled();

        assertThat(story.state().services().require(new ServiceId("chat")).forecast())
                .contains(newer);
    }

    @Test
    void aSampleThatComesAgainDoesNotMakeASilentNodeLookAlive() {
        story.node("infer", Pool.INFERENCE, 1).sample("infer", Optional.empty()).sample("infer", Optional.empty());
        NodeState heard = story.state().nodes().require(new NodeId("infer"));
        assertThat(heard.sequence()).isEqualTo(2);

        for (long old = 1; old <= 2; old++) {
            story.after(ofSeconds(30))
                    .tell(new GpuTelemetry(new NodeId("infer"), DOMAIN, "boot-1", old, story.now(), List.of()));
        }
        assertThat(story.state().nodes().require(new NodeId("infer"))).isEqualTo(heard);

        story.tell(new GpuTelemetry(new NodeId("infer"), DOMAIN, "boot-2", 1, story.now(), List.of()));
        assertThat(story.state().nodes().require(new NodeId("infer")).lastSampleAt())
                .contains(story.now());
    }

    /** Until then the actuator may still be killing it: twice the notice of 45 s. */
    @Test
    void aReleaseWithoutAReportPutsItsGpuOutOfServiceAfterTwoNotices() {
        story.node("train", Pool.TRAINING, 1).job("a", 1).after(ofSeconds(61)).settled();
        assertThat(story.count("training")).isEqualTo(1);
        story.progress("a", JobPhase.FINISHED);
        assertThat(story.count("releasing")).isEqualTo(1);

        story.after(ofSeconds(89));
        assertThat(story.count("releasing")).isEqualTo(1);
        story.after(ofSeconds(2));

        assertThat(story.count("quarantined")).isEqualTo(1);
    }

    @Test
    void nothingMoreIsLentToAJobWhoseProgressIsStale() {
        story.node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("a", 4);
        quarters(8);
        story.progress("a", JobPhase.RUNNING)
                .settled()
                .control(ControlCommand.Kind.RECLAIM_ALL)
                .settled();
        assertThat(story.job("a").gpus()).isEqualTo(1);
        quarters(24);
        story.control(ControlCommand.Kind.THAW).settled();
        quarters(24);
        assertThat(story.count("lent")).isZero();

        for (int i = 0; i < 40 && story.count("lent") == 0; i++) {
            story.progress("a", JobPhase.RUNNING).settled();
            quarters(1);
        }

        assertThat(story.count("lent")).isPositive();
    }

    /** So many quarters of a minute, each with a rate. */
    private void quarters(int count) {
        for (int i = 0; i < count; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
        }
    }

    @Test
    void sleepingReplicasThatTheirServiceNeedsAreNotStoppedForAnother() {
        story.node("infer", Pool.INFERENCE, 4).service("chat", 1).settled();
        story.service("search", 1).settled();
        story.rate("chat", 25).settled().rate("search", 1).settled();
        assertThat(story.count("serving")).isEqualTo(4);
        for (int i = 0; i < 20; i++) {
            story.rate("chat", 1).rate("search", 1).after(ofSeconds(15)).settled();
        }
        assertThat(story.count("sleeping")).isEqualTo(2);

        story.control(ControlCommand.Kind.ADVISORY_ON);
        story.rate("chat", 15).rate("search", 40).control(ControlCommand.Kind.ADVISORY_OFF);

        assertThat(story.last().stream().filter(decision -> decision.action() instanceof Action.Idle))
                .singleElement()
                .satisfies(stopped -> assertThat(stopped.action().gpus())
                        .as("of two that sleep, one is needed")
                        .hasSize(1));
        assertThat(story.last().stream().filter(decision -> decision.action() instanceof Action.Serve))
                .singleElement()
                .satisfies(woken -> assertThat(woken.action().target()).isEqualTo("chat"));
    }
}
