package io.lendstream.core.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.mig.MigGpu;
import io.lendstream.core.scheduler.CuttableGpus.Cuttable;
import io.lendstream.core.scheduler.CuttableGpus.Unit;
import io.lendstream.core.state.Owner;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The GPUs that may be cut, and their units. */
class CuttableGpusTest {
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final Tenant CHATS = new Tenant.Service(CHAT);
    private static final Tenant JOB = new Tenant.Job(new JobId("a"));
    private static final DecisionId BEFORE = new DecisionId(Scenario.DOMAIN, 1, 1);
    private static final String A100 = "NVIDIA A100-SXM4-80GB";
    private static final String H100 = "NVIDIA H100 80GB HBM3";

    private final Scenario story = Scenario.of("deepboot");
    private EditedState state = new EditedState(story);

    /** A GPU of 80 GiB in MIG mode with these instances. */
    private static Gpu mig(String name, String product, GpuInstance... instances) {
        return Gpu.whole(new GpuId(name), 0, product, 80L << 30).cutInto(Arrays.asList(instances));
    }

    private void node(String name, Pool pool, NodeStatus status, Gpu... gpus) {
        story.tell(
                new Node(new NodeId(name), Scenario.DOMAIN, pool, "boot-1", story.now(), status, Arrays.asList(gpus)));
        state = new EditedState(story);
    }

    private Scenario cut(String... cuts) {
        story.migNode("cut", Pool.INFERENCE, cuts);
        state = new EditedState(story);
        return story;
    }

    private Scenario switchable(int gpus) {
        story.switchableNode(
                "mig",
                Pool.INFERENCE,
                IntStream.range(0, gpus).mapToObj(i -> "").toArray(String[]::new));
        state = new EditedState(story);
        return story;
    }

    private Optional<CuttableGpus> found() {
        return CuttableGpus.of(state.draft());
    }

    private CuttableGpus gpus() {
        return found().orElseThrow();
    }

    private Cuttable gpu(String name) {
        return gpus().gpus().get(new GpuId(name));
    }

    private List<String> names() {
        return gpus().gpus().keySet().stream().map(GpuId::value).toList();
    }

    private Unit unit(String gpu, String unit) {
        return gpu(gpu).units().stream()
                .filter(each -> each.state().gpuId().value().equals(unit))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theKindThatMostGpusAreOfIsTaken() {
        node("h", Pool.INFERENCE, NodeStatus.READY, mig("h0", H100), mig("h1", H100));
        node("a", Pool.INFERENCE, NodeStatus.READY, mig("a0", A100));

        assertThat(gpus().kind().model()).isEqualTo("H100-SXM5-80GB");
        assertThat(names()).containsExactly("h0", "h1");

        node("b", Pool.INFERENCE, NodeStatus.READY, mig("b0", A100), mig("b1", A100));
        assertThat(gpus().kind().model()).isEqualTo("A100-80GB");
        assertThat(names()).containsExactly("a0", "b0", "b1");
    }

    @Test
    void ofTwoKindsWithEquallyManyGpusTheLastByNameIsTaken() {
        node("h", Pool.INFERENCE, NodeStatus.READY, mig("h0", H100));
        node("a", Pool.INFERENCE, NodeStatus.READY, mig("a0", A100));

        assertThat(gpus().kind().model()).isEqualTo("H100-SXM5-80GB");
    }

    @Test
    void onlyGpusOfInferenceOnReadyNodesThatMayBeCutAndAreKnownCount() {
        node("train", Pool.TRAINING, NodeStatus.READY, mig("t0", A100));
        node("away", Pool.INFERENCE, NodeStatus.UNAVAILABLE, mig("u0", A100));
        node("odd", Pool.INFERENCE, NodeStatus.READY, mig("o0", "test GPU"));
        node("whole", Pool.INFERENCE, NodeStatus.READY, Gpu.whole(new GpuId("w0"), 0, A100, 80L << 30));

        assertThat(found()).isEmpty();
        assertThat(CuttableGpus.kind(state.draft(), "A100-80GB")).isEmpty();

        node("good", Pool.INFERENCE, NodeStatus.READY, mig("g0", A100));
        assertThat(names()).containsExactly("g0");
    }

    @Test
    void aKindIsFoundByItsNameWithoutInstancesThatHaveMediaEngines() {
        node("h", Pool.INFERENCE, NodeStatus.READY, mig("h0", H100));
        node("a", Pool.INFERENCE, NodeStatus.READY, mig("a0", A100));

        MigGpu kind = CuttableGpus.kind(state.draft(), "A100-80GB").orElseThrow();
        assertThat(kind.model()).isEqualTo("A100-80GB");
        assertThat(kind.profile("1g.10gb+me")).isEmpty();
        assertThat(kind.profile("1g.10gb")).isPresent();
        assertThat(CuttableGpus.kind(state.draft(), "B200-180GB")).isEmpty();
    }

    @Test
    void aWholeGpuIsCuttableWhereItsModeMayBeSwitched() {
        switchable(1).node("whole", Pool.INFERENCE, 1, A100);
        state = new EditedState(story);

        assertThat(CuttableGpus.isCuttable(state.draft(), state.state().gpus().require(new GpuId("mig-g0"))))
                .isTrue();
        assertThat(CuttableGpus.isCuttable(state.draft(), state.state().gpus().require(new GpuId("whole-g0"))))
                .isFalse();
    }

    @Test
    void onANodeWithBothKindsOnlyTheSwitchableGpuIsCuttable() {
        node(
                "both",
                Pool.INFERENCE,
                NodeStatus.READY,
                Gpu.whole(new GpuId("fixed"), 0, A100, 80L << 30),
                Gpu.whole(new GpuId("switchable"), 1, A100, 80L << 30).switchable());

        assertThat(CuttableGpus.isCuttable(state.draft(), state.state().gpus().require(new GpuId("fixed"))))
                .isFalse();
        assertThat(CuttableGpus.isCuttable(state.draft(), state.state().gpus().require(new GpuId("switchable"))))
                .isTrue();
    }

    @Test
    void unitsAreListedBiggestFirstThenByName() {
        cut("1g.10gb@0 1g.10gb@1 2g.20gb@2 3g.40gb@4");

        assertThat(gpu("cut-g0").units())
                .extracting(unit -> unit.state().gpuId().value())
                .containsExactly("cut-g0/4:4", "cut-g0/2:2", "cut-g0/0:1", "cut-g0/1:1");
        assertThat(gpu("cut-g0").units())
                .extracting(unit -> unit.place().toString())
                .contains("3g.40gb@4");
        assertThat(gpu("cut-g0").node()).isEqualTo(new NodeId("cut"));
        assertThat(gpu("cut-g0").memoryBytes()).isEqualTo(80L << 30);
        assertThat(gpu("cut-g0").switchable()).isFalse();
    }

    @Test
    void aWholeGpuIsAsLargeAsTheLargestInstance() {
        switchable(1);

        assertThat(gpu("mig-g0").switchable()).isTrue();
        assertThat(gpu("mig-g0").units()).singleElement().satisfies(unit -> {
            assertThat(unit.isWhole()).isTrue();
            assertThat(unit.place().toString()).isEqualTo("7g.80gb@0");
        });
    }

    @Test
    void aGpuWithAQuarantinedUnitOrOneThatCannotBePlacedIsLeftAlone() {
        cut("1g.10gb@0 1g.10gb@1", "7g.80gb@0", "7g.80gb@0");
        state.owner("cut-g0/1:1", new Owner.Quarantined("for the test"));
        assertThat(names()).containsExactly("cut-g1", "cut-g2");

        GpuInstance media = new GpuInstance(new GpuId("m0/0:1"), "1g.10gb+me", 0, 1, 9L << 30, Optional.empty());
        node("media", Pool.INFERENCE, NodeStatus.READY, mig("m0", A100, media));
        state.owner("cut-g0/1:1", new Owner.Quarantined("for the test"));
        assertThat(names()).containsExactly("cut-g1", "cut-g2");
    }

    @Test
    void aUnitThatGoesIsNotThereAndOneThatComesIs() {
        cut("1g.10gb@0 1g.10gb@1 2g.20gb@2");
        state.owner("cut-g0/0:1", new Owner.Recutting(BEFORE, story.now().plusSeconds(120), false));
        state.owner("cut-g0/1:1", new Owner.Recutting(BEFORE, story.now().plusSeconds(120), true));

        assertThat(gpu("cut-g0").there().map(unit -> unit.state().gpuId().value()))
                .containsExactly("cut-g0/2:2", "cut-g0/1:1");
        assertThat(unit("cut-g0", "cut-g0/0:1").isGoing()).isTrue();
        assertThat(unit("cut-g0", "cut-g0/1:1").isGoing()).isFalse();
        assertThat(unit("cut-g0", "cut-g0/2:2").isGoing()).isFalse();
        assertThat(unit("cut-g0", "cut-g0/0:1").isRecut()).isTrue();
        assertThat(unit("cut-g0", "cut-g0/1:1").isRecut()).isTrue();
        assertThat(unit("cut-g0", "cut-g0/2:2").isRecut()).isFalse();
    }

    @Test
    void anInstanceServesFromItsBindToItsReleaseAndAWholeGpuWhileItsReplicaIsAtWork() {
        cut("1g.10gb@0").switchableNode("mig", Pool.INFERENCE, "");
        state = new EditedState(story);
        Owner binding = new Owner.Binding(CHATS, BEFORE, story.now(), Optional.empty(), 1);
        Owner releasing = new Owner.Releasing(CHATS, BEFORE, story.now(), story.now());
        for (Owner owner : List.of(new Owner.Serving(CHAT), binding)) {
            state.owner("cut-g0/0:1", owner).owner("mig-g0", owner);
            assertThat(gpus().serving())
                    .as("%s", owner)
                    .extracting(each -> each.gpu().value() + " " + each.place() + " " + each.service())
                    .containsExactly("cut-g0 1g.10gb@0 chat", "mig-g0 7g.80gb@0 chat");
        }
        state.owner("cut-g0/0:1", new Owner.Sleeping(CHAT)).owner("mig-g0", new Owner.Sleeping(CHAT));
        assertThat(gpus().serving()).extracting(each -> each.gpu().value()).containsExactly("cut-g0");
        assertThat(unit("mig-g0", "mig-g0").isAsleep()).isTrue();
        assertThat(unit("mig-g0", "mig-g0").isLeaving()).isFalse();

        state.owner("cut-g0/0:1", releasing).owner("mig-g0", releasing);
        assertThat(gpus().serving()).isEmpty();
        assertThat(unit("cut-g0", "cut-g0/0:1").isLeaving()).isTrue();
        assertThat(unit("cut-g0", "cut-g0/0:1").isAsleep()).isFalse();

        Owner lent = new Owner.Lent(new JobId("a"), BEFORE, story.now().plusSeconds(600));
        state.owner("cut-g0/0:1", lent).owner("mig-g0", lent);
        assertThat(gpus().serving()).isEmpty();
    }

    @Test
    void aGpuThatAnotherServiceHasAsAWholeIsLeftToIt() {
        switchable(3).migNode("cut", Pool.INFERENCE, "1g.10gb@0");
        state = new EditedState(story);
        state.owner("mig-g0", new Owner.Serving(new ServiceId("search")))
                .owner("mig-g1", new Owner.Serving(CHAT))
                .owner("mig-g2", new Owner.Sleeping(new ServiceId("search")))
                .owner("cut-g0/0:1", new Owner.Serving(new ServiceId("search")));

        assertThat(gpus().servingOnly(Set.of(CHAT)).gpus().keySet())
                .extracting(GpuId::value)
                .containsExactly("cut-g0", "mig-g1", "mig-g2");
        assertThat(unit("mig-g0", "mig-g0").replica()).contains(new ServiceId("search"));
        assertThat(unit("cut-g0", "cut-g0/0:1").replica()).isEmpty();
    }

    @Test
    void aStepIsInFlightWhileAUnitIsRecutOrAReplicaComesOrGoes() {
        cut("1g.10gb@0 1g.10gb@1");
        for (Owner owner : List.of(
                new Owner.Recutting(BEFORE, story.now().plusSeconds(120), true),
                new Owner.Binding(CHATS, BEFORE, story.now().plusSeconds(16), Optional.empty(), 1),
                new Owner.Releasing(CHATS, BEFORE, story.now(), story.now().plusSeconds(45)))) {
            state.owner("cut-g0/1:1", owner);
            assertThat(gpus().isInFlight()).as("%s", owner).isTrue();
        }
        for (Owner owner : List.of(
                new Owner.Free(),
                new Owner.Serving(CHAT),
                new Owner.Lent(new JobId("a"), BEFORE, story.now().plusSeconds(600)),
                new Owner.Binding(JOB, BEFORE, story.now().plusSeconds(60), Optional.empty(), 1),
                new Owner.Releasing(JOB, BEFORE, story.now(), story.now().plusSeconds(45)))) {
            state.owner("cut-g0/1:1", owner);
            assertThat(gpus().isInFlight()).as("%s", owner).isFalse();
        }
    }

    @Test
    void aUnitIsFreeWithoutAnOwner() {
        cut("1g.10gb@0 1g.10gb@1");
        state.owner("cut-g0/1:1", new Owner.Serving(CHAT));

        assertThat(unit("cut-g0", "cut-g0/0:1").isFree()).isTrue();
        assertThat(unit("cut-g0", "cut-g0/0:1").isWhole()).isFalse();
        assertThat(unit("cut-g0", "cut-g0/0:1").state().owner().holder()).isEmpty();
        assertThat(unit("cut-g0", "cut-g0/1:1").isFree()).isFalse();
        assertThat(unit("cut-g0", "cut-g0/1:1").state().owner().holder()).contains(CHATS);
    }

    @Test
    void theLayoutsAreThoseOfTheKind() {
        cut("1g.10gb@0");

        assertThat(gpus().layouts().isLegal(List.of(unit("cut-g0", "cut-g0/0:1").place())))
                .isTrue();
        assertThat(gpus().layouts()).isSameAs(gpus().layouts());
    }
}
