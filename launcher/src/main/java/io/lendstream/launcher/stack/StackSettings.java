package io.lendstream.launcher.stack;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Where a stack keeps its files and listens; a port of 0 is any free one.
 *
 * @param dataDirectory new or empty; a temporary one where it is not named
 * @param keepData whether the files stay after a clean stop
 * @param brokerPort where Kafka clients connect
 * @param registryPort where registry clients connect
 * @param brokerProperties broker properties that replace the embedded broker's small defaults
 * @param clientProperties what the stack's own Kafka client needs to be let in where the broker's properties ask for more than usual
 * @param startTimeout how long broker and registry may take until they can be used
 */
public record StackSettings(
        Optional<Path> dataDirectory,
        boolean keepData,
        int brokerPort,
        int registryPort,
        Map<String, String> brokerProperties,
        Map<String, String> clientProperties,
        Duration startTimeout) {

    public StackSettings {
        brokerProperties = Map.copyOf(brokerProperties);
        clientProperties = Map.copyOf(clientProperties);
        if (startTimeout.isNegative() || startTimeout.isZero()) {
            throw new IllegalArgumentException("start timeout is %s, but must be positive".formatted(startTimeout));
        }
    }

    public static StackSettings defaults() {
        return new StackSettings(Optional.empty(), false, 0, 0, Map.of(), Map.of(), Duration.ofMinutes(2));
    }

    public StackSettings withDataDirectory(Path directory) {
        return new StackSettings(
                Optional.of(directory),
                keepData,
                brokerPort,
                registryPort,
                brokerProperties,
                clientProperties,
                startTimeout);
    }

    public StackSettings keepingData(boolean keep) {
        return new StackSettings(
                dataDirectory, keep, brokerPort, registryPort, brokerProperties, clientProperties, startTimeout);
    }

    public StackSettings withBrokerPort(int port) {
        return new StackSettings(
                dataDirectory, keepData, port, registryPort, brokerProperties, clientProperties, startTimeout);
    }

    public StackSettings withRegistryPort(int port) {
        return new StackSettings(
                dataDirectory, keepData, brokerPort, port, brokerProperties, clientProperties, startTimeout);
    }

    /** With other properties of the broker, and what a client then needs. */
    public StackSettings withBroker(Map<String, String> broker, Map<String, String> client) {
        return new StackSettings(dataDirectory, keepData, brokerPort, registryPort, broker, client, startTimeout);
    }
}
