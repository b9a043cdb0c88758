package io.lendstream.embedded;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The settings of the embedded broker.
 *
 * @param dataDirectory the directory of topics and metadata; kept when the broker ends
 * @param port the port for clients, on the loopback address
 * @param controllerPort the port for the controller, on the loopback address
 * @param nodeId its number in the cluster
 * @param clusterId the cluster that the directory is formatted for; a default if absent
 * @param overrides broker properties that replace the small defaults
 */
record BrokerSettings(
        Path dataDirectory,
        int port,
        int controllerPort,
        int nodeId,
        Optional<String> clusterId,
        Map<String, String> overrides) {

    static final String USAGE = """
            Usage: BrokerMain --data-dir DIR --port N --controller-port N [--set KEY=VALUE]...
            Runs a single-node Kafka (KRaft) on 127.0.0.1 and prints one line, READY, when it serves.

              --data-dir DIR          where topics and metadata lie; kept when the broker ends
              --port N                where clients connect
              --controller-port N     where the broker talks to its own controller
              --node-id N             its number in its cluster (1)
              --cluster-id ID         the cluster that a new directory is formatted for (a new one of this broker alone);
                                      name its brokers with --set controller.quorum.voters=...
              --set KEY=VALUE         any broker property; may be repeated

            Example: BrokerMain --data-dir /tmp/kafka --port 9092 --controller-port 9093 --set num.partitions=3
            """;

    BrokerSettings {
        requirePort("--port", port);
        requirePort("--controller-port", controllerPort);
        if (port == controllerPort) {
            throw new IllegalArgumentException(
                    "--controller-port and --port are both %d; give each its own port.".formatted(port));
        }
        if (nodeId < 0) {
            throw new IllegalArgumentException("--node-id is %d, but must be at least 0.".formatted(nodeId));
        }
        overrides = Map.copyOf(overrides);
    }

    static BrokerSettings parse(String... args) {
        var values = new TreeMap<String, String>();
        var overrides = new TreeMap<String, String>();
        Iterator<String> rest = Arrays.asList(args).iterator();
        while (rest.hasNext()) {
            String option = rest.next();
            switch (option) {
                case "--data-dir", "--port", "--controller-port", "--node-id", "--cluster-id" ->
                    values.put(option, valueOf(option, rest));
                case "--set" -> {
                    String[] pair = valueOf(option, rest).split("=", 2);
                    if (pair.length < 2 || pair[0].isBlank()) {
                        throw new IllegalArgumentException(
                                "--set is '%s', but must be KEY=VALUE, as in --set num.partitions=3."
                                        .formatted(String.join("=", pair)));
                    }
                    overrides.put(pair[0], pair[1]);
                }
                default ->
                    throw new IllegalArgumentException(
                            "'%s' is not an option; see --help for the options.".formatted(option));
            }
        }
        return new BrokerSettings(
                directory(required(values, "--data-dir")),
                number("--port", required(values, "--port")),
                number("--controller-port", required(values, "--controller-port")),
                number("--node-id", values.getOrDefault("--node-id", "1")),
                Optional.ofNullable(values.get("--cluster-id")),
                overrides);
    }

    String bootstrapServers() {
        return "127.0.0.1:" + port;
    }

    Path metadataDirectory() {
        return dataDirectory.resolve("log").toAbsolutePath();
    }

    /** The configuration of Kafka: one node, one replica, little memory, and then the overrides. */
    Properties toKafka() {
        var kafka = new Properties();
        kafka.putAll(place());
        kafka.putAll(alone());
        kafka.putAll(small());
        kafka.putAll(overrides);
        return kafka;
    }

    /** Listeners and directories. */
    private Map<String, String> place() {
        return Map.of(
                "process.roles",
                "broker,controller",
                "node.id",
                String.valueOf(nodeId),
                "controller.quorum.voters",
                nodeId + "@127.0.0.1:" + controllerPort,
                "controller.listener.names",
                "CONTROLLER",
                "inter.broker.listener.name",
                "PLAINTEXT",
                "listener.security.protocol.map",
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "listeners",
                "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
                "advertised.listeners",
                "PLAINTEXT://" + bootstrapServers(),
                "log.dirs",
                metadataDirectory().toString());
    }

    /** Replication factors for one broker. */
    private static Map<String, String> alone() {
        return Map.of(
                "auto.create.topics.enable", "false",
                "default.replication.factor", "1",
                "min.insync.replicas", "1",
                "offsets.topic.replication.factor", "1",
                "transaction.state.log.replication.factor", "1",
                "transaction.state.log.min.isr", "1",
                "share.coordinator.state.topic.replication.factor", "1",
                "share.coordinator.state.topic.min.isr", "1",
                "group.initial.rebalance.delay.ms", "0");
    }

    /** Eight processes share two cores and two gigabytes: few threads, few partitions, small buffers. */
    private static Map<String, String> small() {
        return Map.of(
                "offsets.topic.num.partitions", "4",
                "transaction.state.log.num.partitions", "4",
                "share.coordinator.state.topic.num.partitions", "1",
                "num.network.threads", "2",
                "num.io.threads", "2",
                "background.threads", "2",
                "group.coordinator.threads", "1",
                "log.cleaner.dedupe.buffer.size", String.valueOf(8 << 20),
                "log.index.size.max.bytes", String.valueOf(1 << 20),
                "log.segment.bytes", String.valueOf(64 << 20));
    }

    private static String valueOf(String option, Iterator<String> rest) {
        if (!rest.hasNext()) {
            throw new IllegalArgumentException("%s has no value; give it one, see --help.".formatted(option));
        }
        return rest.next();
    }

    private static String required(Map<String, String> values, String option) {
        String value = values.get(option);
        if (value == null) {
            throw new IllegalArgumentException("%s is missing; give it, see --help.".formatted(option));
        }
        return value;
    }

    private static int number(String option, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("%s is '%s', but must be a number.".formatted(option, value), e);
        }
    }

    private static Path directory(String value) {
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("--data-dir is '%s', which is no path here.".formatted(value), e);
        }
    }

    private static void requirePort(String option, int port) {
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException(
                    "%s is %d, but must be between 1 and 65535; choose a free one.".formatted(option, port));
        }
    }
}
