package io.lendstream.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Limits;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node has a name that the scheduler accepts, or the agent does not start. */
class NodeNameTest {
    @ParameterizedTest
    @ValueSource(strings = {"rack 1", "gpu-ö", "a\"b", "c\\d", "pool/../n1", ".", "two\nlines"})
    void aNodeNameThatTheSchedulerWouldRefuseStopsTheStart(String name) {
        assertThatThrownBy(
                        () -> Settings.of(AgentKeys.ALL, "agent.node=" + name).get(AgentKeys.NODE))
                .isInstanceOf(SettingsException.class)
                .hasMessageStartingWith("agent.node is '%s' (", name.replace('\n', '?'))
                .hasMessageContaining("but must be a name: 1 to 249 printable ASCII characters")
                .hasMessageEndingWith("Change it, or leave it out.")
                .extracting(Throwable::getMessage)
                .asString()
                .hasLineCount(1);
    }

    @Test
    void aNodeNameMayHaveAsManyCharactersAsARecord() {
        String longest = "n".repeat(Limits.LONGEST_NAME);

        assertThat(Settings.of(AgentKeys.ALL, "agent.node=" + longest).get(AgentKeys.NODE))
                .contains(longest);
        assertThatThrownBy(() -> Settings.of(AgentKeys.ALL, "agent.node=" + longest + "n")
                        .get(AgentKeys.NODE))
                .hasMessageContaining("1 to 249");
    }

    @Test
    void aNodeWithoutANameHasTheMachines() {
        assertThat(Settings.of(AgentKeys.ALL).get(AgentKeys.NODE)).isEmpty();
        assertThat(Settings.of(AgentKeys.ALL, "agent.node= ").get(AgentKeys.NODE))
                .isEmpty();
    }
}
