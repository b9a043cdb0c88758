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
 * @param startTimeout how long broker and registry may take until they can be used
 */
public record StackSettings(
        Optional<Path> dataDirectory,
        boolean keepData,
        int brokerPort,
        int registryPort,
        Map<String, String> brokerProperties,
        Duration startTimeout) {

    public StackSettings {
        brokerProperties = Map.copyOf(brokerProperties);
        if (startTimeout.isNegative() || startTimeout.isZero()) {
            throw new IllegalArgumentException("start timeout is %s, but must be positive".formatted(startTimeout));
        }
    }

    public static StackSettings defaults() {
        return new StackSettings(Optional.empty(), false, 0, 0, Map.of(), Duration.ofMinutes(2));
    }

    public StackSettings withDataDirectory(Path directory) {
        return new StackSettings(
                Optional.of(directory), keepData, brokerPort, registryPort, brokerProperties, startTimeout);
    }

    public StackSettings keepingData(boolean keep) {
        return new StackSettings(dataDirectory, keep, brokerPort, registryPort, brokerProperties, startTimeout);
    }

    public StackSettings withBrokerPort(int port) {
        return new StackSettings(dataDirectory, keepData, port, registryPort, brokerProperties, startTimeout);
    }

    public StackSettings withRegistryPort(int port) {
        return new StackSettings(dataDirectory, keepData, brokerPort, port, brokerProperties, startTimeout);
    }
}
