package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A GPU that two nodes report. */
class MovedUnitsTest {
    private static final GpuId GPU = new GpuId("n-g0");

    private final Scenario story = new Scenario(new Scheduler(
            Policies.parse("deepboot"),
            SchedulerSettings.of(
                    Map.of("heed-users", "true", "quarantine-evidence", "PT10M", "strict-users", "true"))));
    private long samples;

    private void sample(String node, String... users) {
        samples++;
        story.tell(new GpuTelemetry(
                new NodeId(node),
                Scenario.DOMAIN,
                "boot-" + node,
                samples,
                story.now(),
                List.of(GpuSample.of(GPU).build().withUsers(List.of(users)))));
    }

    private void inventory(String node) {
        Node known = story.state().nodes().require(new NodeId("n")).node();
        story.tell(new Node(
                new NodeId(node),
                Scenario.DOMAIN,
                known.pool(),
                "boot-" + node,
                story.now(),
                NodeStatus.READY,
                known.gpus()));
    }

    private GpuState unit() {
        return story.state().gpus().require(GPU);
    }

    private void free() {
        story.node("n", Pool.TRAINING, 1);
        sample("n");
        assertThat(unit().isFree()).isTrue();
    }

    @Test
    void itGoesToTheNodeThatReportsItOnceTheOldOneIsSilentAndIsJudgedAnew() {
        free();
        story.after(ofSeconds(90));
        inventory("m");
        assertThat(unit().nodeId()).isEqualTo(new NodeId("m"));
        assertThat(unit().owner().isForeign()).isTrue();

        sample("m", "process/9-9");
        story.rigidJob("bert", 1).after(ofMinutes(5));
        assertThat(unit().owner().isForeign()).isTrue();
        assertThat(story.job("bert").gpus()).isZero();
    }

    @Test
    void itIsGivenToNobodyWhileBothReportIt() {
        free();
        inventory("m");
        story.rigidJob("bert", 1);
        for (int i = 0; i < 60; i++) {
            story.after(ofSeconds(20)).settled();
            sample("n");
            sample("m");
            inventory("m");
        }

        assertThat(unit().nodeId()).isEqualTo(new NodeId("n"));
        assertThat(unit().owner().asQuarantined().orElseThrow().reason()).startsWith("nodes n and m both report it");
        assertThat(story.job("bert").gpus()).isZero();
    }

    @Test
    void oneWithATenantStays() {
        free();
        story.rigidJob("bert", 1).after(ofSeconds(60)).settled();
        assertThat(story.job("bert").gpus()).isOne();
        story.after(ofSeconds(90));
        inventory("m");

        assertThat(unit().nodeId()).isEqualTo(new NodeId("n"));
        assertThat(story.job("bert").gpus()).isOne();
    }
}
