package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.latency.Slice;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.mig.MigProfile;
import io.lendstream.core.state.Owner;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The known facts about the GPUs and instances of a service's replicas. */
class InstancesTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Owner SERVES = new Owner.Serving(CHAT);
    private static final MigGpu A100 = MigGpu.named("A100-80GB").orElseThrow();

    private final Scenario story = Scenario.of("deepboot")
            .migNode("cut", Pool.INFERENCE, "3g.40gb@4 1g.10gb@0 2g.20gb@2", "7g.80gb@0")
            .node("whole", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB")
            .node("hopper", Pool.INFERENCE, 1, "NVIDIA H100 80GB HBM3")
            .node("odd", Pool.INFERENCE, 1);
    private final EditedState state = new EditedState(story);

    private Optional<Instances> instances() {
        return Instances.of(state.draft(), CHAT);
    }

    private static MigProfile profile(String name) {
        return A100.profile(name).orElseThrow();
    }

    @Test
    void withoutReplicasNothingIsKnown() {
        assertThat(instances()).isEmpty();
    }

    @Test
    void theSmallestInstanceThatServesCountsAndAllThatServeAreListed() {
        state.owner("cut-g0/4:4", SERVES).owner("cut-g0/2:2", SERVES).owner("cut-g1/0:8", SERVES);

        Instances instances = instances().orElseThrow();

        assertThat(instances.gpu()).isEqualTo(A100);
        assertThat(instances.serving())
                .containsExactly(new GpuId("cut-g0/2:2"), new GpuId("cut-g0/4:4"), new GpuId("cut-g1/0:8"));
        assertThat(instances.smallest()).contains(profile("2g.20gb"));
        assertThat(instances.slice()).isEqualTo(Slice.of(A100, profile("2g.20gb")));
    }

    @Test
    void theSmallestIsFoundWhereverItIsInTheList() {
        state.owner("cut-g0/0:1", SERVES).owner("cut-g0/4:4", SERVES);
        assertThat(instances().orElseThrow().smallest()).contains(profile("1g.10gb"));

        state.owner("whole-g0", SERVES);
        assertThat(instances().orElseThrow().smallest())
                .as("a whole GPU is larger")
                .contains(profile("1g.10gb"));
    }

    @Test
    void replicasThatDoNotServeYetAreOfNoSizeButTellOfTheGpu() {
        state.owner("cut-g0/0:1", new Owner.Sleeping(CHAT));

        Instances instances = instances().orElseThrow();
        assertThat(instances.gpu()).isEqualTo(A100);
        assertThat(instances.serving()).isEmpty();
        assertThat(instances.smallest()).isEmpty();

        state.owner("cut-g0/4:4", SERVES);
        assertThat(instances().orElseThrow().smallest()).contains(profile("3g.40gb"));
    }

    @Test
    void wholeGpusHaveNoProfileAndAllOfAGpu() {
        state.owner("whole-g0", SERVES);

        Instances instances = instances().orElseThrow();

        assertThat(instances.smallest()).isEmpty();
        assertThat(instances.slice()).isEqualTo(Slice.whole(A100));
    }

    @Test
    void replicasOfOtherServicesDoNotCount() {
        state.owner("cut-g0/0:1", new Owner.Serving(new ServiceId("another")))
                .owner("cut-g0/4:4", SERVES)
                .owner("hopper-g0", new Owner.Serving(new ServiceId("search")));

        assertThat(instances().orElseThrow().serving()).containsExactly(new GpuId("cut-g0/4:4"));
    }

    @Test
    void nothingIsKnownOfReplicasOnGpusOfTwoKindsOrOfAnUnknownKind() {
        state.owner("whole-g0", SERVES).owner("hopper-g0", SERVES);
        assertThat(instances()).isEmpty();

        state.owner("hopper-g0", new Owner.Free()).owner("odd-g0", SERVES);
        assertThat(instances()).isEmpty();
    }
}
