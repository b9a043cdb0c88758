package io.lendstream.embedded;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;

/** The process of the embedded broker: formats its directory at the first start, and stops in order on SIGTERM. */
public final class BrokerMain {

    private static final int FAILED = 1;
    private static final int BAD_USAGE = 2;

    private BrokerMain() {}

    public static void main(String[] args) {
        if (Arrays.asList(args).contains("--help")) {
            System.out.print(BrokerSettings.USAGE);
            return;
        }
        BrokerSettings settings;
        KafkaConfig config;
        try {
            settings = BrokerSettings.parse(args);
            config = KafkaConfig.fromProps(settings.toKafka(), false);
        } catch (RuntimeException e) {
            System.err.println(e.getMessage());
            System.exit(BAD_USAGE);
            return;
        }
        try {
            requireFree("--port", settings.port());
            requireFree("--controller-port", settings.controllerPort());
            format(settings);
            serve(settings, config);
        } catch (IOException | RuntimeException e) {
            System.err.println(e.getMessage());
            System.exit(FAILED);
        } catch (Exception e) { // KafkaRaftServer is Scala and declares nothing
            e.printStackTrace();
            System.exit(FAILED);
        }
    }

    private static void serve(BrokerSettings settings, KafkaConfig config) {
        var server = new KafkaRaftServer(config, Time.SYSTEM);
        server.startup();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "broker-shutdown"));
        System.out.println("READY " + settings.bootstrapServers());
        System.out.flush();
        server.awaitShutdown();
    }

    /** Does the work of {@code kafka-storage format}; a formatted directory keeps its cluster. */
    private static void format(BrokerSettings settings) throws Exception {
        Path directory = settings.metadataDirectory();
        Files.createDirectories(directory);
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setSupportedFeatures(Feature.PRODUCTION_FEATURES)
                .setNodeId(settings.nodeId())
                .setClusterId(clusterIdOf(settings))
                .setControllerListenerName("CONTROLLER")
                .setMetadataLogDirectory(directory.toString())
                .setDirectories(List.of(directory.toString()))
                .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
                .setIgnoreFormatted(true)
                .run();
    }

    private static String clusterIdOf(BrokerSettings settings) throws IOException {
        Path formatted = settings.metadataDirectory().resolve("meta.properties");
        if (!Files.exists(formatted)) {
            return settings.clusterId().orElseGet(() -> Uuid.randomUuid().toString());
        }
        var properties = new Properties();
        try (Reader reader = Files.newBufferedReader(formatted)) {
            properties.load(reader);
        }
        return properties.getProperty("cluster.id", "");
    }

    /** Checks the port first: Kafka reports it seconds later and with a stack trace. */
    private static void requireFree(String option, int port) throws IOException {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new IOException(
                    "%s is %d, but 127.0.0.1:%d cannot be listened on (%s); choose a free port."
                            .formatted(option, port, port, e.getMessage()),
                    e);
        }
    }
}
