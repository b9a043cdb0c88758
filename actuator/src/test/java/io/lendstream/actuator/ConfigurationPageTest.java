package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.service.settings.ReferencePage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigurationPageTest {
    @Test
    void thePageOfSettingsHasThemAsTheyAre() throws IOException {
        assertThat(Files.readString(Path.of("../docs/configuration.md")))
                .as("docs/configuration.md; --list-settings prints what belongs there")
                .contains(
                        ReferencePage.section("actuator", "Settings of `lendstream actuator`.", ActuatorSettings.KEYS));
    }
}
