package io.lendstream.launcher.cluster;

import io.lendstream.launcher.UserError;
import io.lendstream.launcher.cluster.ClusterOptions.Cluster;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.service.kafka.Connection;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The topics that Lendstream talks through. */
@Command(
        name = "topics",
        description = "Create or describe the topics in a cluster.",
        synopsisSubcommandLabel = "COMMAND",
        footer = "Example: lendstream topics describe --bootstrap-server broker:9092",
        subcommands = {TopicsCommand.Create.class, TopicsCommand.Describe.class})
public final class TopicsCommand implements Runnable {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw UserError.badUsage("No command given; name one of those above, as in: lendstream topics describe");
    }

    @Command(
            name = "create",
            description = {
                "Create the topics that are missing.",
                "May be run again at any time: what is there is compared and never changed."
            },
            footer = {
                "Example: lendstream topics create --bootstrap-server broker:9092 \\",
                "             --partitions 12 --replication 3"
            })
    static final class Create implements Callable<Integer> {

        @Mixin
        private ClusterOptions options = new ClusterOptions();

        @Mixin
        private OutputOptions output = new OutputOptions();

        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private CommandSpec spec;

        @Option(
                names = "--partitions",
                paramLabel = "N",
                defaultValue = "6",
                description = {
                    "Partitions of each topic; as many domains and services can be worked on at once.",
                    "Default: ${DEFAULT-VALUE}."
                })
        private int partitions;

        @Option(
                names = "--replication",
                paramLabel = "N",
                defaultValue = "-1",
                description = "Copies of each partition. Default: -1, the cluster's own default.")
        private int replication;

        @Override
        public Integer call() {
            if (partitions < 1) {
                throw UserError.badUsage("--partitions is %d, but must be at least 1.".formatted(partitions));
            }
            if (replication != -1 && (replication < 1 || replication > Short.MAX_VALUE)) {
                throw UserError.badUsage(
                        "--replication is %d, but must be at least 1, or -1 for the cluster's own default."
                                .formatted(replication));
            }
            return show(spec, output, on(options, admin -> admin.create(partitions, replication)));
        }
    }

    @Command(
            name = "describe",
            description = {
                "Show every topic, and where it differs from what it should be.",
                "Exits with 1 where one is missing."
            },
            footer = "Example: lendstream topics describe --bootstrap-server broker:9092")
    static final class Describe implements Callable<Integer> {

        @Mixin
        private ClusterOptions options = new ClusterOptions();

        @Mixin
        private OutputOptions output = new OutputOptions();

        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private CommandSpec spec;

        @Override
        public Integer call() {
            return show(spec, output, on(options, TopicAdmin::describe));
        }
    }

    private static List<TopicState> on(ClusterOptions options, Function<TopicAdmin, List<TopicState>> task) {
        Cluster cluster = options.read();
        Connection.topicsThere(cluster.kafka(), cluster.patience()); // says what is wrong sooner and better
        try (var admin = Admin.create(cluster.kafka().admin())) {
            return task.apply(new TopicAdmin(admin, cluster.topics()));
        }
    }

    private static int show(CommandSpec spec, OutputOptions output, List<TopicState> topics) {
        PrintWriter out = spec.commandLine().getOut();
        if (output.json()) {
            out.println(OutputOptions.toJson(topics));
        } else {
            topics.forEach(topic -> out.println(line(topic)));
        }
        out.flush();
        List<TopicState> missing = topics.stream()
                .filter(topic -> topic.presence() == TopicState.Presence.MISSING)
                .toList();
        if (!missing.isEmpty()) {
            throw UserError.failed("%d of %d topics are missing; create them with: lendstream topics create"
                    .formatted(missing.size(), topics.size()));
        }
        return 0;
    }

    private static String line(TopicState topic) {
        String name = "%-8s %s".formatted(topic.presence().name().toLowerCase(Locale.ROOT), topic.name());
        if (topic.presence() == TopicState.Presence.MISSING) {
            return name;
        }
        String drifts = topic.drifts().stream().map(drift -> "; " + drift).collect(Collectors.joining());
        return "%s: partitions %d, replication %d%s".formatted(name, topic.partitions(), topic.replication(), drifts);
    }
}
