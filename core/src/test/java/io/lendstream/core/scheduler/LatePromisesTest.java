package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Promise;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A service gives up GPUs that it was promised after others were asked in the same step: these are asked again. */
class LatePromisesTest {
    private static final ReplicaShape TP2 = ReplicaShape.of("tp2", 2, 1, 20, ofSeconds(30));
    private static final Tenant LARGE = new Tenant.Service(new ServiceId("large"));
    private static final GpuId G0 = new GpuId("infer-g0");
    private static final GpuId G1 = new GpuId("infer-g1");

    /** Two GPUs: one is free, the other is left by a replica that slept. Both are promised to a replica of two. */
    private final Scenario story = Scenario.of("deepboot")
            .node("infer", Pool.INFERENCE, 2)
            .actuator("one", Abilities.USUAL)
            .service("idle", 0)
            .rate("idle", 1)
            .settled()
            .rate("idle", 0)
            .after(ofMinutes(2));

    private void largeIsPromisedBoth() {
        story.tell(story.serviceRecord("large", 0).inShapes(List.of(TP2)))
                .service("small", 0)
                .rate("large", 5);
        assertThat(story.state().promises()).extracting(Promise::unit).containsExactly(G0, G1);
        assertThat(story.state().promises()).extracting(Promise::tenant).containsOnly(LARGE);
        assertThat(story.owner("infer-g1").isFree()).isTrue();
    }

    @Test
    void aFreeGpuIsKeptForTheReplicaOfTwo() {
        largeIsPromisedBoth();

        story.rate("small", 1);

        assertThat(story.owner("infer-g1").isFree()).isTrue();
    }

    @Test
    void itIsGivenToTheOtherServiceInTheStepInWhichThePromiseEnds() {
        largeIsPromisedBoth();
        story.rate("small", 1);

        story.rate("large", 0);

        assertThat(story.last())
                .extracting(Decision::action)
                .singleElement()
                .satisfies(action ->
                        assertThat(action.asServe().orElseThrow().gpus()).containsExactly(G1));
        assertThat(story.state().promises()).isEmpty();
    }

    private boolean haveFreed(String unit) {
        var step = new StepBuilder(story.state(), story.log().get(story.log().size() - 1), StepListener.NONE);
        var earlier = new Promise(new GpuId(unit), LARGE, story.state().now().plusSeconds(60));
        return step.promises().haveFreed(step, List.of(earlier));
    }

    @Test
    void gpusThatAreFreeOrWillBeAreOffered() {
        story.tell(story.serviceRecord("large", 0).inShapes(List.of(TP2))).rate("large", 5);
        assertThat(haveFreed("infer-g0")).as("still promised").isFalse();

        story.rate("large", 0);
        assertThat(story.owner("infer-g0").isReleasing()).isTrue();
        assertThat(haveFreed("infer-g0")).as("is being released").isTrue();
        assertThat(haveFreed("infer-g1")).as("is free").isTrue();

        story.service("small", 0).rate("small", 5);
        assertThat(story.owner("infer-g1").isBinding()).isTrue();
        assertThat(haveFreed("infer-g1")).as("has another tenant").isFalse();
    }
}
