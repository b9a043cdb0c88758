package io.lendstream.launcher.cluster;

import io.lendstream.launcher.cli.UserError;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that name a cluster: the same as those of services. */
final class ClusterOptions {

    @Option(
            names = "--config",
            order = 102,
            paramLabel = "FILE",
            description = "File with settings, as services read them. See docs/configuration.md.")
    private Optional<Path> config = Optional.empty();

    @Option(
            names = "--bootstrap-server",
            order = 100,
            paramLabel = "HOST:PORT",
            description = "Address of Kafka. Default: localhost:9092.")
    private Optional<String> bootstrapServer = Optional.empty();

    @Option(
            names = "--registry",
            order = 101,
            paramLabel = "URL",
            description = {"Address of the schema registry.", "Default: http://localhost:8081."})
    private Optional<String> registry = Optional.empty();

    @Option(
            names = "--set",
            order = 103,
            paramLabel = "NAME=VALUE",
            description = "One setting; overrides the environment and the file. May be repeated.")
    private List<String> sets = new ArrayList<>();

    /** The file of --config. */
    Optional<Path> config() {
        return config;
    }

    Cluster read() {
        return read(System.getenv());
    }

    Cluster read(Map<String, String> environment) {
        var arguments = new ArrayList<String>();
        bootstrapServer.ifPresent(address -> arguments.add("kafka.bootstrap.servers=" + address));
        registry.ifPresent(address -> arguments.add("schema.registry.url=" + address));
        arguments.addAll(sets);
        SettingsFile file = config.map(SettingsFile::read).orElse(SettingsFile.NONE);
        Settings settings = Settings.of(CommonKeys.ALL, file, environment, arguments);
        return new Cluster(
                KafkaSettings.of("command", settings),
                catalogue(settings),
                settings.get(CommonKeys.CONNECT_TIMEOUT),
                settings);
    }

    private static TopicCatalogue catalogue(Settings settings) {
        String prefix = settings.get(CommonKeys.TOPIC_PREFIX);
        try {
            return new TopicCatalogue(prefix, settings.get(CommonKeys.INTAKES), Optional.empty());
        } catch (IllegalArgumentException e) {
            throw UserError.badUsage("topic-prefix is '%s': %s".formatted(prefix, e.getMessage()));
        }
    }
}
