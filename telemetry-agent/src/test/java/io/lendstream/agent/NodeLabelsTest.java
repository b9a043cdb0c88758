package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeLabelsTest {
    @Test
    void labelsAreReadByKey() {
        assertThat(NodeLabels.parse("topology.example.com/rack=r12, nvidia.com/gpu.clique=c3"))
                .contains(new NodeFacts(Map.of("topology.example.com/rack", "r12", "nvidia.com/gpu.clique", "c3")));
        assertThat(NodeLabels.parse("")).contains(NodeFacts.NONE);
    }

    @Test
    void aFileAddsLabelsToThoseOfTheSetting(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(
                folder.resolve("labels"),
                "# by the installer\ntopology.example.com/rack=\"r12\"\nzone = z1\nempty=\"\"\n\nrow=7\n");

        assertThat(labels("agent.labels=row=8", "agent.labels-file=" + file))
                .isEqualTo(new NodeFacts(Map.of("topology.example.com/rack", "r12", "zone", "z1", "row", "8")));
        assertThat(labels("agent.labels=row=8")).isEqualTo(new NodeFacts(Map.of("row", "8")));
    }

    @Test
    void aFileOfAnotherFormOrNoFileIsRefusedWithItsLine(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("labels");
        assertThatThrownBy(() -> labels("agent.labels-file=" + file))
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "agent.labels-file is %s, which cannot be read (NoSuchFileException). Create it, or leave the setting out."
                                .formatted(file));

        Files.writeString(file, "rack=r1\nrow 7\n");
        assertThatThrownBy(() -> labels("agent.labels-file=" + file))
                .hasMessage(
                        "agent.labels-file is %s, whose line 2 is 'row 7'. Write KEY=VALUE or KEY=\"VALUE\" on each line, each key once."
                                .formatted(file));

        Files.writeString(file, "rack=r1\nrack=r2\n");
        assertThatThrownBy(() -> labels("agent.labels-file=" + file)).hasMessageContaining("line 2 is 'rack=r2'");
    }

    private static NodeFacts labels(String... settings) {
        return NodeLabels.of(Settings.of(AgentKeys.ALL, settings));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rack", "=r1", "rack=", "rack=r 1", "rack=r1,rack=r2"})
    void otherTextsAreRefused(String text) {
        assertThat(NodeLabels.parse(text)).isEmpty();
    }
}
