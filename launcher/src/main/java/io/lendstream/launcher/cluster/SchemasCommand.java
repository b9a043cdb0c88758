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

/** The schemas of the topics in a registry. */
@Command(
        name = "schemas",
        description = "Register or check the schemas of the topics in a registry.",
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
                "Register the missing schemas, with compatibility FULL_TRANSITIVE.",
                "Safe to run again. A schema that is incompatible with an earlier version is refused."
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
                "Compare the schemas with every version in the registry, without changes. Use it before an upgrade.",
                "Exits with 1 if a schema is incompatible with an earlier version; an absent schema is no failure."
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

    /** Common parts of both commands. */
    private abstract static class SubjectsCommand extends ClusterCommand {
        List<SubjectReport> subjects(Function<SchemaSet, List<SubjectReport>> task) {
            Cluster cluster = cluster();
            Connection.checkRegistry(cluster.kafka(), cluster.patience()); // its errors come sooner and are clearer
            var client =
                    new RegistryClient(RegistrySettings.from(cluster.kafka().serdes()));
            return task.apply(new SchemaSet(client, cluster.topics()));
        }

        int show(List<SubjectReport> subjects) {
            show(subjects, OutputOptions::subjectsToJson, SchemasCommand::lines);
            long bad = subjects.stream().filter(subject -> !subject.fine()).count();
            if (bad > 0) {
                throw UserError.failed(
                        "%d of %d subjects are incompatible with the registry; see the reasons above. Use another topic-prefix, or the version that registered them."
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
