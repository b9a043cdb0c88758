package io.lendstream.scheduler;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.service.fake.ConfigurationPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigurationDocsTest {
    @Test
    void thePageDescribesEverySettingAsItIs() {
        ConfigurationPage.mustDescribe("scheduler", SchedulerKeys.ALL);
    }

    @Test
    void thePageListsTheSettingsThatADomainMayDeclare() throws IOException {
        String list = DeclarableSettings.forms().keySet().stream()
                .map("`scheduler.%s`"::formatted)
                .collect(joining(", "));

        assertThat(Files.readString(Path.of("../docs/configuration.md")).replace('\n', ' '))
                .contains("(declarations.md#settings-of-a-domain)): " + list + ".");
    }
}
