package io.lendstream.service.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.service.settings.SettingsException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A node has a name that the scheduler accepts, or its agent or actuator does not start. */
class HostNameTest {
    @Test
    void aNodeWithoutANameHasTheMachines() {
        assertThat(HostName.or(Optional.empty(), "agent.node")).isNotBlank();
        assertThat(HostName.or(Optional.of("n1"), "agent.node")).isEqualTo("n1");
    }

    @Test
    void aHostNameThatNoRecordMayHaveStopsTheStart() {
        assertThatThrownBy(() -> HostName.checked("my host", "agent.node"))
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "agent.node is not set, and this machine's host name cannot be used instead: a node's name may"
                                + " have printable ASCII characters without blanks, quotes (\" ' `) and backslashes, but character 3 of 'my host' is"
                                + " U+0020; rename it, or set agent.node to another name.");
    }
}
