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

/** Which cluster a command is about: the options that services have too, read the same way. */
final class ClusterOptions {

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings, as services read them. See docs/configuration.md.")
    private Optional<Path> config = Optional.empty();

    @Option(
            names = "--bootstrap-server",
            paramLabel = "HOST:PORT",
            description = "Kafka's address. Default: localhost:9092.")
    private Optional<String> bootstrapServer = Optional.empty();

    @Option(
            names = "--registry",
            paramLabel = "URL",
            description = {"The schema registry's address.", "Default: http://localhost:8081."})
    private Optional<String> registry = Optional.empty();

    @Option(
            names = "--set",
            paramLabel = "NAME=VALUE",
            description = "One setting, before those of the environment and of the file; may be repeated.")
    private List<String> sets = new ArrayList<>();

    /** The file that was named. */
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
