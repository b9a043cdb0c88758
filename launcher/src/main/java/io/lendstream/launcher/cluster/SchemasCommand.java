package io.lendstream.launcher.cluster;

import io.lendstream.launcher.cli.CommandGroup;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.service.kafka.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import picocli.CommandLine.Command;

/** The schemas of the topics' records, as a registry knows them. */
@Command(
        name = "schemas",
        description = "Register or check the topics' schemas in a registry.",
        synopsisSubcommandLabel = "COMMAND",
        footer = "Example: lendstream schemas check --registry http://registry:8081",
        subcommands = {SchemasCommand.Register.class, SchemasCommand.Check.class})
public final class SchemasCommand extends CommandGroup {
    public SchemasCommand() {
        super("lendstream schemas check");
    }

    @Command(
            name = "register",
            description = {
                "Register the schemas that are missing, each held to FULL_TRANSITIVE compatibility.",
                "May be run again at any time; a schema that does not get along with an earlier one is refused."
            },
            footer = "Example: lendstream schemas register --registry http://registry:8081")
    static final class Register extends SubjectsCommand {
        @Override
        public Integer call() {
            return show(subjects(SchemaSet::register));
        }
    }

    @Command(
            name = "check",
            description = {
                "Compare the schemas with every version that the registry has, changing nothing: for before an upgrade.",
                "Exits with 1 where one does not get along with an earlier version; one that is absent is no failure."
            },
            footer = "Example: lendstream schemas check --registry http://registry:8081")
    static final class Check extends SubjectsCommand {
        @Override
        public Integer call() {
            List<SubjectReport> subjects = subjects(SchemaSet::check);
            int exit = show(subjects);
            long absent = subjects.stream()
                    .filter(subject -> subject.status() == SubjectReport.Status.ABSENT)
                    .count();
            if (absent > 0) {
                remark("%d of %d subjects are not registered yet; register them with: lendstream schemas register"
                        .formatted(absent, subjects.size()));
            }
            return exit;
        }
    }

    /** What the two have in common. */
    private abstract static class SubjectsCommand extends ClusterCommand {
        List<SubjectReport> subjects(Function<SchemaSet, List<SubjectReport>> task) {
            Cluster cluster = cluster();
            Connection.checkRegistry(cluster.kafka(), cluster.patience()); // says what is wrong sooner and better
            var client =
                    new RegistryClient(RegistrySettings.from(cluster.kafka().serdes()));
            return task.apply(new SchemaSet(client, cluster.topics()));
        }

        int show(List<SubjectReport> subjects) {
            show(subjects, OutputOptions::subjectsToJson, SchemasCommand::lines);
            long bad = subjects.stream().filter(subject -> !subject.fine()).count();
            if (bad > 0) {
                throw UserError.failed(
                        "%d of %d subjects do not get along with what the registry has; their lines say why: use another topic-prefix, or the version that wrote them."
                                .formatted(bad, subjects.size()));
            }
            return 0;
        }
    }

    private static List<String> lines(SubjectReport subject) {
        String id = subject.id().isPresent() ? ", id " + subject.id().getAsInt() : "";
        String status = subject.status().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        List<String> lines = new ArrayList<>();
        lines.add("%-12s %s%s".formatted(status, subject.subject(), id));
        subject.messages().forEach(message -> lines.add("             " + message));
        return lines;
    }
}
