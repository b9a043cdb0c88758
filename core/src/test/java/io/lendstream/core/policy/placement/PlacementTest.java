package io.lendstream.core.policy.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlacementTest {
    private static final List<GpuId> G =
            IntStream.range(0, 4).mapToObj(i -> new GpuId("g" + i)).toList();

    private static Placement onOneNode() {
        return new Placement(G.stream()
                .map(gpu -> GpuState.free(gpu, new NodeId("node"), Pool.TRAINING, Instant.EPOCH, 1))
                .toList());
    }

    @Test
    void aJobThatShrinksKeepsWhatItHas() {
        assertThat(onOneNode().place(2, List.of(G.get(1), G.get(2), G.get(3)))).containsExactly(G.get(1), G.get(2));
    }

    @Test
    void aJobThatShrinksGetsItsNumberThoughOthersWereGivenItsGpus() {
        Placement placement = onOneNode();
        placement.keep(List.of(G.get(2), G.get(3)));

        assertThat(placement.place(2, List.of(G.get(1), G.get(2), G.get(3)))).containsExactly(G.get(1), G.get(0));
    }
}
