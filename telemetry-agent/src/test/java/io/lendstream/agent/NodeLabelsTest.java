package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.NodeFacts;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeLabelsTest {
    @Test
    void labelsAreReadByKey() {
        assertThat(NodeLabels.parse("topology.example.com/rack=r12, nvidia.com/gpu.clique=c3"))
                .contains(new NodeFacts(Map.of("topology.example.com/rack", "r12", "nvidia.com/gpu.clique", "c3")));
        assertThat(NodeLabels.parse("")).contains(NodeFacts.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rack", "=r1", "rack=", "rack=r 1", "rack=r1,rack=r2"})
    void otherTextsAreRefused(String text) {
        assertThat(NodeLabels.parse(text)).isEmpty();
    }
}
