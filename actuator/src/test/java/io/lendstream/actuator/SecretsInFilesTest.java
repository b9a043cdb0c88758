package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ways to a login without an environment variable that docs/drivers.md shows. */
class SecretsInFilesTest {
    private static final String LOGIN =
            "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"actuator\" password=\"a=b;c\";";

    @TempDir
    private Path folder;

    @Test
    void theSettingsFileMayHaveTheLogin() throws Exception {
        Path file = Files.writeString(folder.resolve("actuator.properties"), "kafka.sasl.jaas.config=" + LOGIN + "\n");

        assertThatAllClientsHaveTheLogin(file);
    }

    @Test
    void theSettingsFileMayNameADirectoryOfSecrets() throws Exception {
        Files.writeString(folder.resolve("login"), LOGIN);
        Path file = Files.writeString(folder.resolve("actuator.properties"), """
                kafka.config.providers=secrets
                kafka.config.providers.secrets.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
                kafka.sasl.jaas.config=${secrets:%s:login}
                """.formatted(folder));

        assertThatAllClientsHaveTheLogin(file);
    }

    private static void assertThatAllClientsHaveTheLogin(Path file) {
        Settings settings = Settings.of(ActuatorSettings.KEYS, SettingsFile.read(file), Map.of(), List.of());
        KafkaSettings kafka = KafkaSettings.of("actuator", settings);

        for (AbstractConfig client : List.<AbstractConfig>of(
                new ProducerConfig(kafka.producer()),
                new ConsumerConfig(kafka.consumer()),
                new AdminClientConfig(kafka.admin()))) {
            assertThat(client.getPassword(SaslConfigs.SASL_JAAS_CONFIG)).isEqualTo(new Password(LOGIN));
        }
        assertThat(String.join(" ", settings.lines())).doesNotContain("a=b");
    }
}
