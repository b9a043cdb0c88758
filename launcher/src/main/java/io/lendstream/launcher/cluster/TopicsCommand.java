package io.lendstream.launcher.cluster;

import io.lendstream.launcher.cli.CommandGroup;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicState;
import io.lendstream.service.kafka.Connection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The topics of Lendstream. */
@Command(
        name = "topics",
        description = "Create or describe the topics of a cluster.",
        synopsisSubcommandLabel = "COMMAND",
        footer = "Example: lendstream topics describe --bootstrap-server broker:9092",
        subcommands = {TopicsCommand.Create.class, TopicsCommand.Describe.class})
public final class TopicsCommand extends CommandGroup {
    public TopicsCommand() {
        super("lendstream topics describe");
    }

    @Command(
            name = "create",
            description = {
                "Create the missing topics.",
                "Safe to run again: existing topics are compared and never changed."
            },
            footer = {
                "Example: lendstream topics create --bootstrap-server broker:9092 \\",
                "             --partitions 12 --replication 3"
            })
    static final class Create extends StatesCommand {

        @Option(
                names = "--partitions",
                paramLabel = "N",
                defaultValue = "6",
                description = {
                    "Partitions of each topic: the limit for scheduler instances that work in parallel.",
                    "Default: ${DEFAULT-VALUE}."
                })
        private int partitions;

        @Option(
                names = "--replication",
                paramLabel = "N",
                defaultValue = "-1",
                description = "Replicas of each partition. Default: -1, the default of the cluster.")
        private int replication;

        @Override
        public Integer call() {
            if (partitions < 1) {
                throw UserError.badUsage("--partitions is %d, but must be at least 1.".formatted(partitions));
            }
            if (replication != -1 && (replication < 1 || replication > Short.MAX_VALUE)) {
                throw UserError.badUsage(
                        "--replication is %d, but must be at least 1, or -1 for the default of the cluster."
                                .formatted(replication));
            }
            return show(topics(admin -> admin.create(partitions, replication)));
        }
    }

    @Command(
            name = "describe",
            description = {
                "Show every topic and its differences from the required settings.",
                "Exits with 1 if a topic is missing."
            },
            footer = "Example: lendstream topics describe --bootstrap-server broker:9092")
    static final class Describe extends StatesCommand {
        @Override
        public Integer call() {
            return show(topics(TopicAdmin::describe));
        }
    }

    /** Common parts of both commands. */
    private abstract static class StatesCommand extends ClusterCommand {
        List<TopicState> topics(Function<TopicAdmin, List<TopicState>> task) {
            Cluster cluster = cluster();
            Connection.topicsThere(cluster.kafka(), cluster.patience()); // its errors come sooner and are clearer
            try (var admin = Admin.create(cluster.kafka().admin())) {
                return task.apply(new TopicAdmin(admin, cluster.topics()));
            }
        }

        int show(List<TopicState> topics) {
            show(topics, OutputOptions::toJson, topic -> List.of(line(topic)));
            long missing = topics.stream()
                    .filter(topic -> topic.presence() == TopicState.Presence.MISSING)
                    .count();
            if (missing > 0) {
                throw UserError.failed("%d of %d topics are missing; create them with: lendstream topics create"
                        .formatted(missing, topics.size()));
            }
            return 0;
        }
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
