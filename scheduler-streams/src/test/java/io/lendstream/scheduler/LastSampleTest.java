package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.NodeState;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class LastSampleTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final NodeState described = NodeState.of(
            new Node(new NodeId("n"), new DomainId("d"), Pool.INFERENCE, "boot", NOON, NodeStatus.READY, List.of()));

    @Test
    void aNodeIsRestoredWithItsLastSample() {
        NodeState heard = described.sampled("boot", 1, NOON).sampled("boot", 2, NOON.plusSeconds(1));
        StateCodec<LastSample> codec = StateCodec.of(LastSample.class);

        byte[] kept = codec.write(LastSample.of(heard).orElseThrow());

        assertThat(codec.read(kept, fingerprint -> codec.schema()).in(described))
                .isEqualTo(heard);
    }

    @Test
    void aNodeOfWhichNothingWasHeardHasNone() {
        assertThat(LastSample.of(described)).isEmpty();
    }
}
