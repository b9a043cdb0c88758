package io.lendstream.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BrokerSettingsTest {

    private static final String[] COMPLETE = {"--data-dir", "data", "--port", "9092", "--controller-port", "9093"};

    @Test
    void listensOnTheLoopbackAddressOnly() {
        var kafka = BrokerSettings.parse(COMPLETE).toKafka();

        assertThat(kafka.getProperty("listeners")).isEqualTo("PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093");
    }

    @Test
    void setReplacesASmallDefaultAndKeepsTheRest() {
        var kafka = BrokerSettings.parse(with("--set", "num.io.threads=8", "--set", "a=b=c"))
                .toKafka();

        assertThat(kafka)
                .containsEntry("num.io.threads", "8")
                .containsEntry("a", "b=c")
                .containsEntry("num.network.threads", "2");
    }

    @Test
    void isTheOnlyNodeOfItsClusterUnlessTold() {
        assertThat(BrokerSettings.parse(COMPLETE).toKafka())
                .containsEntry("node.id", "1")
                .containsEntry("controller.quorum.voters", "1@127.0.0.1:9093");
        assertThat(BrokerSettings.parse(with("--node-id", "3", "--cluster-id", "ours")))
                .returns(3, BrokerSettings::nodeId)
                .returns(Optional.of("ours"), BrokerSettings::clusterId);
    }

    @Test
    void aMissingOptionIsNamed() {
        assertThatThrownBy(() -> BrokerSettings.parse("--port", "9092", "--controller-port", "9093"))
                .hasMessage("--data-dir is missing; give it, see --help.");
    }

    @Test
    void anOptionWithoutValueIsNamed() {
        assertThatThrownBy(() -> BrokerSettings.parse("--data-dir"))
                .hasMessage("--data-dir has no value; give it one, see --help.");
    }

    @Test
    void anUnknownOptionIsNamed() {
        assertThatThrownBy(() -> BrokerSettings.parse(with("--colour", "red")))
                .hasMessage("'--colour' is not an option; see --help for the options.");
    }

    @Test
    void anInvalidPortIsNamedWithItsBound() {
        assertThatThrownBy(() -> BrokerSettings.parse(with("--port", "70000")))
                .hasMessage("--port is 70000, but must be between 1 and 65535; choose a free one.");
        assertThatThrownBy(() -> BrokerSettings.parse(with("--port", "many")))
                .hasMessage("--port is 'many', but must be a number.");
    }

    @Test
    void brokerAndControllerDoNotShareAPort() {
        assertThatThrownBy(() -> BrokerSettings.parse(with("--controller-port", "9092")))
                .hasMessage("--controller-port and --port are both 9092; give each its own port.");
    }

    @Test
    void aSettingIsAPair() {
        assertThatThrownBy(() -> BrokerSettings.parse(with("--set", "num.io.threads")))
                .hasMessageContaining("--set is 'num.io.threads', but must be KEY=VALUE");
    }

    private static String[] with(String... more) {
        return Stream.of(COMPLETE, more).flatMap(Stream::of).toArray(String[]::new);
    }
}
