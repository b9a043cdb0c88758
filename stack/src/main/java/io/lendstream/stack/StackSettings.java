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
 * Where a stack keeps its files and listens; a port of 0 is any free one.
 *
 * @param dataDirectory new or empty; a temporary one where it is not named
 * @param keepData whether the files stay after a clean stop
 * @param broker its Kafka
 * @param registryPort where registry clients connect
 * @param startTimeout how long broker and registry may take until they can be used
 */
public record StackSettings(
        Optional<Path> dataDirectory, boolean keepData, Broker broker, int registryPort, Duration startTimeout) {

    /**
     * The embedded broker.
     *
     * @param port where Kafka clients connect
     * @param properties broker properties that replace the small defaults
     * @param client what the stack's own Kafka client needs to be let in where those properties ask for more than usual
     * @param jvm how much of the machine it may take
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

    /** With other properties of the broker, and what a client then needs. */
    public StackSettings withBroker(Map<String, String> properties, Map<String, String> client) {
        return with(new Broker(broker.port, properties, client, broker.jvm));
    }

    /** With a broker that may take so much of the machine. */
    public StackSettings withBroker(Jvm jvm) {
        return with(new Broker(broker.port, broker.properties, broker.client, jvm));
    }

    private StackSettings with(Broker other) {
        return new StackSettings(dataDirectory, keepData, other, registryPort, startTimeout);
    }

    /**
     * Lets in only whom the files of a directory name, by TLS and SCRAM; {@code deploy/secure/prepare.sh} makes them.
     *
     * @throws IOException where {@code broker.properties} or {@code admin.properties} cannot be read
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
