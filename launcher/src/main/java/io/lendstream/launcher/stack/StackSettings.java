package io.lendstream.launcher.stack;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Where a stack keeps its files and listens; a port of 0 is any free one.
 *
 * @param dataDirectory new or empty; a temporary one where it is not named
 * @param keepData whether the files stay after a clean stop
 * @param brokerPort where Kafka clients connect
 * @param registryPort where registry clients connect
 * @param brokerProperties broker properties that replace the embedded broker's small defaults
 * @param clientProperties what the stack's own Kafka client needs to be let in where the broker's properties ask for more than usual
 * @param brokerJvm how much of the machine the broker may take
 * @param startTimeout how long broker and registry may take until they can be used
 */
public record StackSettings(
        Optional<Path> dataDirectory,
        boolean keepData,
        int brokerPort,
        int registryPort,
        Map<String, String> brokerProperties,
        Map<String, String> clientProperties,
        Jvm brokerJvm,
        Duration startTimeout) {

    /** Enough for a day of a demo. */
    private static final Jvm SMALL_BROKER = Jvm.quick(192);

    public StackSettings {
        brokerProperties = Map.copyOf(brokerProperties);
        clientProperties = Map.copyOf(clientProperties);
        if (startTimeout.isNegative() || startTimeout.isZero()) {
            throw new IllegalArgumentException("start timeout is %s, but must be positive".formatted(startTimeout));
        }
    }

    public static StackSettings defaults() {
        return new StackSettings(
                Optional.empty(), false, 0, 0, Map.of(), Map.of(), SMALL_BROKER, Duration.ofMinutes(2));
    }

    public StackSettings withDataDirectory(Path directory) {
        return new StackSettings(
                Optional.of(directory),
                keepData,
                brokerPort,
                registryPort,
                brokerProperties,
                clientProperties,
                brokerJvm,
                startTimeout);
    }

    public StackSettings keepingData(boolean keep) {
        return new StackSettings(
                dataDirectory,
                keep,
                brokerPort,
                registryPort,
                brokerProperties,
                clientProperties,
                brokerJvm,
                startTimeout);
    }

    public StackSettings withBrokerPort(int port) {
        return new StackSettings(
                dataDirectory,
                keepData,
                port,
                registryPort,
                brokerProperties,
                clientProperties,
                brokerJvm,
                startTimeout);
    }

    public StackSettings withRegistryPort(int port) {
        return new StackSettings(
                dataDirectory, keepData, brokerPort, port, brokerProperties, clientProperties, brokerJvm, startTimeout);
    }

    /** With other properties of the broker, and what a client then needs. */
    public StackSettings withBroker(Map<String, String> broker, Map<String, String> client) {
        return new StackSettings(
                dataDirectory, keepData, brokerPort, registryPort, broker, client, brokerJvm, startTimeout);
    }

    /** With a broker that may take so much of the machine. */
    public StackSettings withBroker(Jvm jvm) {
        return new StackSettings(
                dataDirectory,
                keepData,
                brokerPort,
                registryPort,
                brokerProperties,
                clientProperties,
                jvm,
                startTimeout);
    }

    /**
     * Lets in only whom the files of a directory name, by TLS and SCRAM; {@code deploy/secure/prepare.sh} makes them.
     *
     * @throws IOException where {@code broker.properties} or {@code admin.properties} cannot be read
     */
    public StackSettings securedBy(Path directory) throws IOException {
        Map<String, String> broker = properties(directory.resolve("broker.properties"));
        broker.put("listener.security.protocol.map", "PLAINTEXT:SASL_SSL,CONTROLLER:SASL_PLAINTEXT");
        Map<String, String> client = new TreeMap<>();
        properties(directory.resolve("admin.properties"))
                .forEach((name, value) -> client.put(name.substring("kafka.".length()), value));
        return withBroker(broker, client);
    }

    private static Map<String, String> properties(Path file) throws IOException {
        var properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        var all = new TreeMap<String, String>();
        properties.stringPropertyNames().forEach(name -> all.put(name, properties.getProperty(name)));
        return all;
    }
}
