package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SeenSettingsTest {
    private static final DomainId EAST = new DomainId("east");
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private final Overview overview = new Overview();

    SeenSettingsTest() {
        overview.tell(
                new SchedulerStarted(EAST, NOW, 1, "deepboot", SchedulerSettings.DEFAULTS.toMap(), Optional.empty()));
    }

    private void declare(Map<String, String> settings) {
        overview.tell(new DomainSettings(EAST, NOW, settings));
    }

    private String line(String name) {
        return overview.settings(EAST).stream()
                .filter(line -> line.startsWith(name + " "))
                .findFirst()
                .orElseThrow()
                .replaceAll(" {2,}", " | ");
    }

    @Test
    void eachSettingIsShownWithWhereItIsFrom() {
        assertThat(line("lending")).isEqualTo("lending | true | configuration");

        declare(Map.of("lending", "false", "min-hold", "PT2M", "policy", "tiresias"));

        assertThat(overview.settings(EAST)).hasSize(DeclarableSettings.forms().size());
        assertThat(line("lending")).isEqualTo("lending | false | declared; configuration: true");
        assertThat(line("min-hold")).isEqualTo("min-hold | 2m | declared; configuration: 0s");
        assertThat(line("policy")).isEqualTo("policy | tiresias | declared; configuration: deepboot");
        assertThat(line("quiet-windows")).isEqualTo("quiet-windows | none | configuration");
        assertThat(line("slo-withhold")).isEqualTo("slo-withhold | 10m | configuration");
    }

    @Test
    void viewsReckonWithTheSchedulerInForce() {
        declare(Map.of("lending", "false", "policy", "tiresias"));

        assertThat(overview.domains()).containsExactly(EAST);
        assertThat(overview.schedulers()).singleElement().satisfies(known -> {
            assertThat(known.scheduler().settings().lending()).isFalse();
            assertThat(known.scheduler().policy().info().name()).isEqualTo("tiresias");
        });
    }

    @Test
    void aDeclarationThatSchedulersRefuseDoesNotCount() {
        declare(Map.of("lending", "false"));
        declare(Map.of("notice", "PT1M"));

        assertThat(line("lending")).startsWith("lending | false | declared");
    }

    @Test
    void anEndedDeclarationIsForgotten() {
        declare(Map.of("lending", "false"));
        overview.tell(new DomainSettings(EAST, NOW, Map.of(), true));
        assertThat(line("lending")).isEqualTo("lending | true | configuration");

        declare(Map.of("lending", "false"));
        overview.removed(TopicCatalogue.DOMAIN_SETTINGS, "east");
        assertThat(line("lending")).isEqualTo("lending | true | configuration");
    }
}
