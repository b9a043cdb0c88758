package io.lendstream.stack;

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
 * The files and ports of a stack; port 0 is any free port.
 *
 * @param dataDirectory a new or empty directory; a temporary one if absent
 * @param keepData whether the files are kept after a clean stop
 * @param broker the settings of the broker
 * @param registryPort the port for registry clients
 * @param startTimeout the time that broker and registry may take to start
 */
public record StackSettings(
        Optional<Path> dataDirectory, boolean keepData, Broker broker, int registryPort, Duration startTimeout) {

    /**
     * The embedded broker.
     *
     * @param port the port for Kafka clients
     * @param properties broker properties that replace the small defaults
     * @param client properties for the stack's own Kafka client, if the broker requires authentication
     * @param jvm the limits of its JVM
     */
    public record Broker(int port, Map<String, String> properties, Map<String, String> client, Jvm jvm) {
        /** Enough for a day of a demo. */
        static final Broker SMALL = new Broker(0, Map.of(), Map.of(), Jvm.quick(192));

        public Broker {
            properties = Map.copyOf(properties);
            client = Map.copyOf(client);
        }
    }

    public StackSettings {
        if (startTimeout.isNegative() || startTimeout.isZero()) {
            throw new IllegalArgumentException("start timeout is %s, but must be positive".formatted(startTimeout));
        }
    }

    public static StackSettings defaults() {
        return new StackSettings(Optional.empty(), false, Broker.SMALL, 0, Duration.ofMinutes(2));
    }

    public StackSettings withDataDirectory(Path directory) {
        return new StackSettings(Optional.of(directory), keepData, broker, registryPort, startTimeout);
    }

    public StackSettings keepingData(boolean keep) {
        return new StackSettings(dataDirectory, keep, broker, registryPort, startTimeout);
    }

    public StackSettings withBrokerPort(int port) {
        return with(new Broker(port, broker.properties, broker.client, broker.jvm));
    }

    public StackSettings withRegistryPort(int port) {
        return new StackSettings(dataDirectory, keepData, broker, port, startTimeout);
    }

    /** These settings with other broker properties and the matching client properties. */
    public StackSettings withBroker(Map<String, String> properties, Map<String, String> client) {
        return with(new Broker(broker.port, properties, client, broker.jvm));
    }

    /** These settings with other limits for the broker. */
    public StackSettings withBroker(Jvm jvm) {
        return with(new Broker(broker.port, broker.properties, broker.client, jvm));
    }

    private StackSettings with(Broker other) {
        return new StackSettings(dataDirectory, keepData, other, registryPort, startTimeout);
    }

    /**
     * Requires TLS and SCRAM with the files of a directory; {@code deploy/secure/prepare.sh} creates them.
     *
     * @throws IOException if {@code broker.properties} or {@code admin.properties} cannot be read
     */
    public StackSettings securedBy(Path directory) throws IOException {
        Map<String, String> properties = properties(directory.resolve("broker.properties"));
        properties.put("listener.security.protocol.map", "PLAINTEXT:SASL_SSL,CONTROLLER:SASL_PLAINTEXT");
        Map<String, String> client = new TreeMap<>();
        properties(directory.resolve("admin.properties"))
                .forEach((name, value) -> client.put(name.substring("kafka.".length()), value));
        return withBroker(properties, client);
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
