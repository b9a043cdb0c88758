package io.lendstream.launcher;

import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Preparation;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.text.Printable;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A broker and a registry to try services against. */
@Command(
        name = "stack",
        description = {
            "Start a real Kafka broker and a schema registry on this machine, with our topics and schemas, until Ctrl-C.",
            "For trying the services one by one; not for data that matters."
        },
        footer = {"", "Example: lendstream stack --broker-port 9092 --registry-port 8081"})
final class StackCommand implements Callable<Integer> {
    @Option(
            names = "--broker-port",
            paramLabel = "P",
            defaultValue = "9092",
            description = "Where Kafka clients connect; 0 is any free port. Default: ${DEFAULT-VALUE}.")
    private int brokerPort;

    @Option(
            names = "--registry-port",
            paramLabel = "P",
            defaultValue = "8081",
            description = "Where registry clients connect; 0 is any free port. Default: ${DEFAULT-VALUE}.")
    private int registryPort;

    @Option(
            names = "--secure",
            paramLabel = "DIR",
            description = {
                "Let in only whom the files there name, by TLS and passwords; 'deploy/secure/prepare.sh DIR' makes them.",
                "Rights are given by 'lendstream acls apply'.",
                "Default: everybody is let in."
            })
    private Optional<Path> secure = Optional.empty();

    @Mixin
    private DataOptions data = new DataOptions();

    @Override
    public Integer call() throws InterruptedException {
        PrintStream out = System.out;
        StackSettings settings = settings();
        try (Stack stack = Stack.start(settings, Installation.find(), line -> out.println(Printable.line(line)))) {
            List<String> administrator = new ArrayList<>(List.of(
                    "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                    "schema.registry.url=" + stack.confluentUrl()));
            settings.broker().client().forEach((name, value) -> administrator.add("kafka." + name + "=" + value));
            Preparation.of(
                    KafkaSettings.of("stack", Settings.of(CommonKeys.ALL, administrator.toArray(String[]::new))),
                    TopicCatalogue.standard());
            out.printf(
                    """
                    ready, with all topics and schemas. Services find it by --config FILE with these lines:

                    kafka.bootstrap.servers=%s
                    schema.registry.url=%s

                    %sCtrl-C stops it%s.
                    """,
                    stack.bootstrapServers(),
                    stack.confluentUrl(),
                    secure.map(StackCommand::rights).orElse(""),
                    data.keepsData() ? "" : " and deletes its data");
            throw stack.failure().get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a failure is never completed exceptionally", e);
        }
    }

    private StackSettings settings() {
        StackSettings settings = data.stack(brokerPort, registryPort);
        if (secure.isEmpty()) {
            return settings;
        }
        try {
            return settings.securedBy(secure.get());
        } catch (IOException e) {
            throw UserError.badUsage("--secure is '%s', but %s cannot be read; 'deploy/secure/prepare.sh %s' makes it."
                    .formatted(secure.get(), e.getMessage(), secure.get()));
        }
    }

    private static String rights(Path directory) {
        return """
                and those of %1$s/USER.properties, which say who they are. First give them their rights:
                lendstream acls apply deploy/acl --config %1$s/admin.properties --passwords %1$s/passwords.properties

                """.formatted(directory);
    }
}
