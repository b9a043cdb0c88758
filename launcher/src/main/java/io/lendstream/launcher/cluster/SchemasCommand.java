package io.lendstream.launcher.cluster;

import io.lendstream.launcher.UserError;
import io.lendstream.launcher.cluster.ClusterOptions.Cluster;
import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.SubjectReport;
import io.lendstream.service.kafka.Connection;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The schemas of the topics' records, as a registry knows them. */
@Command(
        name = "schemas",
        description = "Register or check the topics' schemas in a registry.",
        synopsisSubcommandLabel = "COMMAND",
        footer = "Example: lendstream schemas check --registry http://registry:8081",
        subcommands = {SchemasCommand.Register.class, SchemasCommand.Check.class})
public final class SchemasCommand implements Runnable {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getErr());
        throw UserError.badUsage("No command given; name one of those above, as in: lendstream schemas check");
    }

    @Command(
            name = "register",
            description = {
                "Register the schemas that are missing, each held to FULL_TRANSITIVE compatibility.",
                "May be run again at any time; a schema that does not get along with an earlier one is refused."
            },
            footer = "Example: lendstream schemas register --registry http://registry:8081")
    static final class Register implements Callable<Integer> {

        @Mixin
        private ClusterOptions options = new ClusterOptions();

        @Mixin
        private OutputOptions output = new OutputOptions();

        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private CommandSpec spec;

        @Override
        public Integer call() {
            return show(spec, output, on(options, SchemaSet::register));
        }
    }

    @Command(
            name = "check",
            description = {
                "Compare the schemas with every version that the registry has, changing nothing: for before an upgrade.",
                "Exits with 1 where one does not get along with an earlier version; one that is absent is no failure."
            },
            footer = "Example: lendstream schemas check --registry http://registry:8081")
    static final class Check implements Callable<Integer> {

        @Mixin
        private ClusterOptions options = new ClusterOptions();

        @Mixin
        private OutputOptions output = new OutputOptions();

        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private CommandSpec spec;

        @Override
        public Integer call() {
            List<SubjectReport> subjects = on(options, SchemaSet::check);
            int exit = show(spec, output, subjects);
            long absent = subjects.stream()
                    .filter(subject -> subject.status() == SubjectReport.Status.ABSENT)
                    .count();
            if (absent > 0) {
                PrintWriter err = spec.commandLine().getErr();
                err.println("%d of %d subjects are not registered yet; register them with: lendstream schemas register"
                        .formatted(absent, subjects.size()));
                err.flush();
            }
            return exit;
        }
    }

    private static List<SubjectReport> on(ClusterOptions options, Function<SchemaSet, List<SubjectReport>> task) {
        Cluster cluster = options.read();
        Connection.checkRegistry(cluster.kafka(), cluster.patience()); // says what is wrong sooner and better
        var client = new RegistryClient(RegistrySettings.from(cluster.kafka().serdes()));
        return task.apply(new SchemaSet(client, cluster.topics()));
    }

    private static int show(CommandSpec spec, OutputOptions output, List<SubjectReport> subjects) {
        PrintWriter out = spec.commandLine().getOut();
        if (output.json()) {
            out.println(OutputOptions.subjectsToJson(subjects));
        } else {
            subjects.forEach(subject -> print(out, subject));
        }
        out.flush();
        long bad = subjects.stream().filter(subject -> !subject.fine()).count();
        if (bad > 0) {
            throw UserError.failed(
                    "%d of %d subjects do not get along with what the registry has; their lines say why: use another topic-prefix, or the version that wrote them."
                            .formatted(bad, subjects.size()));
        }
        return 0;
    }

    private static void print(PrintWriter out, SubjectReport subject) {
        String id = subject.id().isPresent() ? ", id " + subject.id().getAsInt() : "";
        String status = subject.status().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        out.println("%-12s %s%s".formatted(status, subject.subject(), id));
        subject.messages().forEach(message -> out.println("             " + message));
    }
}
