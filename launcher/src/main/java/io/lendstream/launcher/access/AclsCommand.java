package io.lendstream.launcher.access;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.lendstream.launcher.cli.CommandGroup;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.cluster.Cluster;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.schemas.topics.DomainIntake;
import io.lendstream.service.kafka.Connection;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AclBinding;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The rights of the principals on the brokers. */
@Command(
        name = "acls",
        description = "Grant each service its rights on the brokers.",
        synopsisSubcommandLabel = "COMMAND",
        footer = "Example: lendstream acls print deploy/acl",
        subcommands = {AclsCommand.Apply.class, AclsCommand.Print.class})
public final class AclsCommand extends CommandGroup {
    public AclsCommand() {
        super("lendstream acls print deploy/acl");
    }

    @Command(
            name = "apply",
            description = {
                "Grant the rights in the files USER.acl of a directory. No right is revoked.",
                "Safe to run again. --config must name a principal that may grant rights."
            },
            footer = {
                "Example: lendstream acls apply deploy/acl --config admin.properties \\",
                "             --passwords passwords.properties"
            })
    static final class Apply extends ListsCommand {
        private static final int ITERATIONS = 8192;
        private static final long PATIENCE_SECONDS = 60;

        @Option(
                names = "--passwords",
                paramLabel = "FILE",
                description = "Lines of USER=PASSWORD; sets these passwords for SCRAM-SHA-512. Default: no change.")
        private Optional<Path> passwords = Optional.empty();

        @Override
        public Integer call() {
            Cluster cluster = cluster();
            List<AccessList> lists = lists(cluster);
            Map<String, String> secrets = passwords(lists);
            Connection.topicsThere(cluster.kafka(), cluster.patience()); // its errors come sooner and are clearer
            try (Admin admin = Admin.create(cluster.kafka().admin())) {
                if (!secrets.isEmpty()) {
                    List<UserScramCredentialAlteration> users = new ArrayList<>();
                    secrets.forEach((user, secret) -> users.add(new UserScramCredentialUpsertion(
                            user, new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS), secret)));
                    await(admin.alterUserScramCredentials(users).all(), "set passwords");
                }
                List<AclBinding> bindings =
                        lists.stream().flatMap(list -> list.bindings().stream()).toList();
                await(admin.createAcls(bindings).all(), "grant rights");
            }
            show(
                    lists,
                    list -> "%s: %d rights%s"
                            .formatted(
                                    list.user(),
                                    list.bindings().size(),
                                    secrets.containsKey(list.user()) ? ", and its password" : ""));
            return 0;
        }

        private Map<String, String> passwords(List<AccessList> lists) {
            Map<String, String> given = passwords.map(Apply::read).orElse(Map.of());
            given.forEach((user, secret) -> {
                if (lists.stream().noneMatch(list -> list.user().equals(user))) {
                    throw UserError.badUsage(
                            "--passwords names %s, but there is no file %s.acl; correct the name, or add the file."
                                    .formatted(user, user));
                }
                if (secret.isBlank()) {
                    throw UserError.badUsage("--passwords has an empty password for %s; give it one.".formatted(user));
                }
            });
            return given;
        }

        private static Map<String, String> read(Path file) {
            var properties = new Properties();
            try (Reader reader = Files.newBufferedReader(file)) {
                properties.load(reader);
            } catch (IOException | IllegalArgumentException e) {
                throw UserError.badUsage(
                        "--passwords is %s, which cannot be read as lines of USER=PASSWORD: %s. Give the path of such a file."
                                .formatted(file, e.getMessage()));
            }
            var all = new TreeMap<String, String>();
            properties.stringPropertyNames().forEach(user -> all.put(user, properties.getProperty(user)));
            return all;
        }

        private static void await(KafkaFuture<Void> answer, String what) {
            try {
                answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                Throwable cause = e.getCause() == null ? e : e.getCause();
                throw UserError.failed("the broker refused to %s: %s Use a principal of its super.users in --config."
                        .formatted(what, String.valueOf(cause.getMessage())));
            } catch (TimeoutException e) {
                throw UserError.failed("the broker did not %s within %d s; look at its log, and try again."
                        .formatted(what, PATIENCE_SECONDS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw UserError.failed("interrupted while waiting for the broker to " + what);
            }
        }
    }

    @Command(
            name = "print",
            description = "Print the rights in the files of a directory as commands for kafka-acls. Needs no broker.",
            footer = "Example: lendstream acls print deploy/acl --set topic-prefix=gpus.")
    static final class Print extends ListsCommand {
        @Override
        public Integer call() {
            show(
                    lists(cluster()),
                    list -> list.grants().stream()
                            .map(grant -> grant.kafkaAcls(list.user()))
                            .collect(Collectors.joining(System.lineSeparator())));
            return 0;
        }
    }

    /** Common parts of both commands. */
    private abstract static class ListsCommand extends ClusterCommand {
        @Option(
                names = "--name",
                paramLabel = "NAME",
                description = {
                    "An intake for the templates: files with {name} in their names. May be repeated.",
                    "Default: all intakes of the setting intakes."
                })
        private List<String> names = new ArrayList<>();

        @Parameters(
                paramLabel = "DIR",
                description = "Directory of the files, such as deploy/acl or deploy/acl/intakes.")
        @SuppressWarnings("NullAway.Init") // picocli sets it
        private Path directory;

        List<AccessList> lists(Cluster cluster) {
            names.forEach(ListsCommand::check);
            List<String> intakes = names.isEmpty() ? cluster.topics().intakes().names() : names;
            return AccessList.readAll(directory, cluster.topics().prefix(), intakes);
        }

        private static void check(String name) {
            try {
                DomainIntake.check(name);
            } catch (IllegalArgumentException e) {
                throw UserError.badUsage("--name is '%s': %s.".formatted(name, e.getMessage()));
            }
        }

        void show(List<AccessList> lists, Function<AccessList, String> line) {
            if (json()) {
                print(json(lists));
            } else {
                print(lists.stream().map(line).toList());
            }
        }

        private static ArrayNode json(List<AccessList> lists) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode();
            for (AccessList list : lists) {
                for (AclBinding binding : list.bindings()) {
                    array.addObject()
                            .put("user", list.user())
                            .put("kind", binding.pattern().resourceType().name())
                            .put("name", binding.pattern().name())
                            .put("pattern", binding.pattern().patternType().name())
                            .put("operation", binding.entry().operation().name());
                }
            }
            return array;
        }
    }
}
