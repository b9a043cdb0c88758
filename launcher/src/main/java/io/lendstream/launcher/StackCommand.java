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

/** A broker and a registry to try services with. */
@Command(
        name = "stack",
        description = {
            "Start a Kafka broker and a schema registry on this machine, until Ctrl-C.",
            "Creates the topics and registers the schemas. For trials of single services, not for production data."
        },
        footer = "Example: lendstream stack --broker-port 9092 --registry-port 8081")
final class StackCommand implements Callable<Integer> {
    @Option(
            names = "--broker-port",
            paramLabel = "P",
            defaultValue = "9092",
            description = {"Port for Kafka clients; 0 for any free port.", "Default: ${DEFAULT-VALUE}."})
    private int brokerPort;

    @Option(
            names = "--registry-port",
            paramLabel = "P",
            defaultValue = "8081",
            description = "Port for registry clients; 0 for any free port. Default: ${DEFAULT-VALUE}.")
    private int registryPort;

    @Option(
            names = "--secure",
            paramLabel = "DIR",
            description = {
                "Require TLS and passwords from the files in DIR; 'deploy/secure/prepare.sh DIR' creates them.",
                "'lendstream acls apply' grants the rights.",
                "Default: no authentication."
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
                    Ready, with all topics and schemas. Start services with --config FILE and these lines in it:

                    kafka.bootstrap.servers=%s
                    schema.registry.url=%s

                    %sCtrl-C stops the stack%s.
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
            throw UserError.badUsage(
                    "--secure is '%s', but %s cannot be read; create it with 'deploy/secure/prepare.sh %s'."
                            .formatted(secure.get(), e.getMessage(), secure.get()));
        }
    }

    private static String rights(Path directory) {
        return """
                and the lines of %1$s/USER.properties for authentication. First grant the rights:
                lendstream acls apply deploy/acl --config %1$s/admin.properties --passwords %1$s/passwords.properties

                """.formatted(directory);
    }
}
