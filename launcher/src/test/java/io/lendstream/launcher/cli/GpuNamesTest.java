package io.lendstream.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GpuNamesTest {
    private static final GpuId FIRST = new GpuId("GPU-5a3f09c1-0000-0000-0000-000000000001");
    private static final GpuId SECOND = new GpuId("GPU-5a3f09c1-0000-0000-0000-000000000002");
    private static final GpuId CUT = new GpuId("GPU-77777777-0000-0000-0000-000000000003");
    private static final GpuId SLICE = new GpuId(CUT + "/2:1");
    private static final GpuId STRANGER = new GpuId("GPU-99999999-0000-0000-0000-000000000009");

    private final GpuNames names = new GpuNames();

    GpuNamesTest() {
        names.take(node("node-10", Gpu.whole(SECOND, 0, "test GPU", 1)));
        names.take(node(
                "node-2",
                Gpu.whole(FIRST, 5, "test GPU", 1),
                Gpu.whole(CUT, 1, "test GPU", 1)
                        .cutInto(List.of(new GpuInstance(SLICE, "1g.10gb", 2, 1, 1, Optional.empty())))));
    }

    private static Node node(String name, Gpu... gpus) {
        return new Node(
                new NodeId(name),
                new DomainId("test"),
                Pool.INFERENCE,
                "boot",
                Instant.EPOCH,
                NodeStatus.READY,
                List.of(gpus));
    }

    @Test
    void aGpuHasItsNodeAndIndexAndAnInstanceItsProfileAndStartToo() {
        assertThat(names.of(FIRST)).isEqualTo("node-2/5");
        assertThat(names.of(SLICE)).isEqualTo("node-2/1:1g.10gb-2");
        assertThat(names.of(STRANGER)).isEqualTo(STRANGER.value());
        assertThat(names.detailed(FIRST)).isEqualTo("node-2/5 (%s)", FIRST);
    }

    @Test
    void aGpuThatMovedKeepsItsNameWhenItsOldNodeIsDeclaredAgain() {
        names.take(node("node-10", Gpu.whole(SECOND, 0, "test GPU", 1), Gpu.whole(FIRST, 1, "test GPU", 1)));
        names.take(node("node-2", Gpu.whole(CUT, 1, "test GPU", 1)));

        assertThat(names.of(FIRST)).isEqualTo("node-10/1");
        assertThat(names.named("node-10/1", List.of())).isEqualTo(FIRST);
    }

    @Test
    void aShortNameOfTwoGpusIsRefused() {
        names.take(node("node-3", Gpu.whole(FIRST, 0, "test GPU", 1), Gpu.whole(STRANGER, 0, "test GPU", 1)));

        assertThatThrownBy(() -> names.named("node-3/0", List.of()))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith("GPU 'node-3/0' names 2 GPUs: node-3/0 (%s), node-3/0 (%s)", FIRST, STRANGER);
    }

    @Test
    void gpusAreInTheOrderOfNodesAndIndexes() {
        assertThat(names.list(List.of(STRANGER, SECOND, FIRST, SLICE)))
                .isEqualTo("node-2/1:1g.10gb-2, node-2/5, node-10/0, " + STRANGER);
    }

    @Test
    void uuidsInATextBecomeShortNames() {
        assertThat(names.in("lend %s, %s: see decision test/1/5 (%s).".formatted(FIRST, SLICE, STRANGER)))
                .isEqualTo("lend node-2/5, node-2/1:1g.10gb-2: see decision test/1/5 (%s).".formatted(STRANGER));
    }

    @Test
    void aLaterInventoryReplacesTheEarlierOneOfItsNode() {
        names.take(node("node-2", Gpu.whole(STRANGER, 5, "test GPU", 1)));

        assertThat(names.of(STRANGER)).isEqualTo("node-2/5");
        assertThat(names.of(FIRST)).isEqualTo(FIRST.value());
    }

    @Test
    void aGpuIsFoundByItsUuidItsShortNameAndTheBeginningOfItsUuid() {
        assertThat(names.named(FIRST.value(), List.of())).isEqualTo(FIRST);
        assertThat(names.named("node-2/5", List.of())).isEqualTo(FIRST);
        assertThat(names.named("node-2/1:1g.10gb-2", List.of())).isEqualTo(SLICE);
        assertThat(names.named("GPU-7777", List.of())).isEqualTo(CUT);
        assertThat(names.named("GPU-9999", List.of(STRANGER))).isEqualTo(STRANGER);
        assertThat(names.named("none", List.of())).isEqualTo(new GpuId("none"));
    }

    @Test
    void aNameOfSeveralGpusIsAnErrorThatListsThem() {
        assertThatThrownBy(() -> names.named("GPU-5a3f", List.of()))
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "GPU 'GPU-5a3f' names 2 GPUs: node-2/5 (%s), node-10/0 (%s). Name one of them.", FIRST, SECOND);
    }
}
