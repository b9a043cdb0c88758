package io.lendstream.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.LoanStory;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LiveStateTest {
    private final Scenario story = LoanStory.ofOneJob();

    private LiveState.Snapshot snapshot() {
        return snapshot(story);
    }

    private static LiveState.Snapshot snapshot(Scenario story) {
        LiveState state = new LiveState();
        story.log().stream().map(DomainEvent::event).forEach(state::tell);
        story.decisions().forEach(state::tell);
        for (GpuState gpu : story.state().gpus().values()) {
            state.tell(gpu.lease(Scenario.DOMAIN, story.state().epoch()));
        }
        return state.snapshot();
    }

    @Test
    void gpusStandByNodeAndIndex() {
        assertThat(snapshot().nodes()).singleElement().satisfies(node -> {
            assertThat(node.node().value()).isEqualTo("infer");
            assertThat(node.groups()).containsExactlyInAnyOrder("lent", "serving");
        });
    }

    @Test
    void aReplicaOfSeveralGpusCountsOnce() {
        Scenario groups =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4).actuator("one", Abilities.USUAL);
        groups.tell(groups.serviceRecord("chat", 1)
                        .inShapes(List.of(ReplicaShape.of("tp2", 2, 1, 20, Duration.ofSeconds(8)))))
                .settled();

        assertThat(snapshot(groups).services())
                .singleElement()
                .satisfies(line -> assertThat(line.replicas()).isEqualTo(1));
    }

    @Test
    void theEndOfAJobIsARelease() {
        long reclaims = reclaims();

        story.progress("bert", JobPhase.FINISHED).settled();

        assertThat(story.decisions()).anyMatch(Decision::isRelease);
        assertThat(snapshot().decided(Decision.RELEASE)).isEqualTo(1);
        assertThat(snapshot().decided("reclaim")).isEqualTo((int) reclaims);
    }

    private long reclaims() {
        List<Decision> all = story.decisions();
        return all.stream()
                .filter(decision -> decision.action() instanceof Action.Reclaim)
                .count();
    }
}
