package io.lendstream.launcher;

import io.lendstream.launcher.cluster.Preparation;
import io.lendstream.launcher.stack.Installation;
import io.lendstream.launcher.stack.Stack;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.CommonKeys;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.Settings;
import java.io.PrintStream;
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

    @Mixin
    private DataOptions data = new DataOptions();

    @Override
    public Integer call() throws InterruptedException {
        PrintStream out = System.out;
        try (Stack stack = Stack.start(data.stack(brokerPort, registryPort), Installation.find(), out::println)) {
            Preparation.of(
                    KafkaSettings.of(
                            "stack",
                            Settings.of(
                                    CommonKeys.ALL,
                                    "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                                    "schema.registry.url=" + stack.confluentUrl())),
                    TopicCatalogue.standard());
            out.printf(
                    """
                    ready, with all topics and schemas. Services find it by --config FILE with these lines:

                    kafka.bootstrap.servers=%s
                    schema.registry.url=%s

                    Ctrl-C stops it%s.
                    """,
                    stack.bootstrapServers(), stack.confluentUrl(), data.keepsData() ? "" : " and deletes its data");
            throw stack.failure().get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a failure is never completed exceptionally", e);
        }
    }
}
