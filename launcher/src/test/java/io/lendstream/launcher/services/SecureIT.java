package io.lendstream.launcher.services;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import io.lendstream.stack.Installation;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.StackSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.AuthorizationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A broker that lets in only whom it knows and lets each do only what {@code deploy/acl} says, by TLS and SCRAM. */
@Timeout(value = 6, unit = TimeUnit.MINUTES)
final class SecureIT {
    private static final List<Topic<?>> ONLY_THE_SCHEDULERS = List.of(
            TopicCatalogue.DECISIONS,
            TopicCatalogue.BATCHING_DECISIONS,
            TopicCatalogue.LEASES,
            TopicCatalogue.DOMAIN_EVENTS);

    @TempDir
    private Path directory;

    private final Path home = Installation.find().home();

    @Test
    void eachServiceHasItsRightsAndOnlyTheSchedulerCanDecide() throws Exception {
        Path secrets = directory.resolve("secrets");
        prepare(secrets);
        try (Deployment deployment = new Deployment(StackSettings.defaults().securedBy(secrets))) {
            run(
                    deployment,
                    "admin",
                    "acls",
                    "apply",
                    home.resolve("deploy/acl").toString(),
                    "--passwords",
                    secrets.resolve("passwords.properties").toString());
            run(deployment, "installer", "topics", "create", "--partitions", "1", "--replication", "1");
            run(deployment, "installer", "schemas", "register");

            lendsAndTakesBack(deployment, secrets);
            isActiveInItsGroup(deployment, secrets);

            assertThat(run(deployment, "operator", "top", "--once").out()).contains("LAST DECISIONS");
            assertThat(run(deployment, "operator", "topics", "describe").out()).contains("lendstream.decisions");
            for (String user : users()) {
                for (Topic<?> topic : ONLY_THE_SCHEDULERS) {
                    if (!user.equals("scheduler")) {
                        assertThatThrownBy(() -> write(deployment, user, topic))
                                .as("%s writes to %s", user, topic.suffix())
                                .hasCauseInstanceOf(AuthorizationException.class);
                    }
                }
            }
            assertThatThrownBy(() -> write(deployment, "scheduler", TopicCatalogue.ACTUATION_REPORTS))
                    .hasCauseInstanceOf(AuthorizationException.class);
            write(deployment, "scheduler", TopicCatalogue.DECISIONS);
        }
    }

    /** An accelerated run of all five, each with its own password. */
    private void lendsAndTakesBack(Deployment deployment, Path secrets) throws Exception {
        var own = new TreeMap<ServiceKind, String>();
        for (ServiceKind kind : ServiceKind.values()) {
            String user = kind == ServiceKind.LOAD ? "workload" : kind.command();
            own.put(kind, Files.readString(secrets.resolve(user + ".properties")));
        }

        Map<ServiceKind, String> printed = new AcceleratedLoop(deployment, directory).play(own);

        printed.forEach((kind, lines) -> assertThat(lines).as(kind.command()).doesNotContainIgnoringCase("authoriz"));
    }

    /** An actuator with standby instances uses its group, also in the transactions of its reports. */
    private void isActiveInItsGroup(Deployment deployment, Path secrets) throws Exception {
        Path config = Files.writeString(
                directory.resolve("spare.properties"), Files.readString(secrets.resolve("actuator.properties")) + """

                health.port=0
                actuator.name=spare
                actuator.standby=true
                """);
        List<String> arguments = deployment.with();
        arguments.addAll(List.of("--config", config.toString()));

        Deployment.Running spare = deployment.start(ServiceKind.ACTUATOR, directory.resolve("spare.log"), arguments);
        spare.ready();

        await().atMost(Duration.ofMinutes(1))
                .until(() -> deployment.read(TopicCatalogue.ACTUATORS).stream()
                        .anyMatch(description -> description.actuator().equals("spare")));
        spare.process().destroy();
        assertThat(spare.exit()).as(spare.printed()).isZero();
        assertThat(spare.printed()).contains("spare is the active instance now").doesNotContainIgnoringCase("authoriz");
    }

    /** The principals of {@code deploy/acl}. */
    private List<String> users() throws IOException {
        try (Stream<Path> files = Files.list(home.resolve("deploy/acl"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".acl"))
                    .map(name -> name.substring(0, name.length() - ".acl".length()))
                    .sorted()
                    .toList();
        }
    }

    private void prepare(Path secrets) throws Exception {
        Process prepare = new ProcessBuilder(
                        "bash", home.resolve("deploy/secure/prepare.sh").toString(), secrets.toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("prepare.log").toFile())
                .start();
        assertThat(prepare.waitFor())
                .as(() -> text(directory.resolve("prepare.log")))
                .isZero();
    }

    private Deployment.Printed run(Deployment deployment, String user, String... arguments) {
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(
                "--config", directory.resolve("secrets/" + user + ".properties").toString()));
        Deployment.Printed printed = deployment.command(all.toArray(String[]::new));
        assertThat(printed.exit()).as(all + printed.out() + printed.err()).isZero();
        return printed;
    }

    private void write(Deployment deployment, String user, Topic<?> topic) throws Exception {
        SettingsFile file = SettingsFile.read(directory.resolve("secrets/" + user + ".properties"));
        KafkaSettings kafka = KafkaSettings.of(
                "test",
                Settings.of(
                        CommonKeys.ALL,
                        file,
                        Map.of(),
                        List.of("kafka.bootstrap.servers=" + deployment.bootstrapServers())));
        try (var producer = new KafkaProducer<byte[], byte[]>(kafka.producer())) {
            producer.send(new ProducerRecord<>(
                            Deployment.TOPICS.name(topic), "default".getBytes(UTF_8), new byte[] {1, 2, 3}))
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
