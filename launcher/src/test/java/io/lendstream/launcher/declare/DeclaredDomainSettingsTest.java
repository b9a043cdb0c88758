package io.lendstream.launcher.declare;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.scheduler.DeclarableSettings;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeclaredDomainSettingsTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private static final String EAST = """
            apiVersion: lendstream.io/v1
            kind: DomainSettings
            metadata: {name: east}
            spec:
            """;

    private static ObjectReader read(String text) {
        ObjectReader reader = new ObjectReader();
        reader.read("f.yaml", text);
        return reader;
    }

    private static DomainSettings record(String text) {
        ObjectReader reader = read(text);
        assertThat(reader.problems()).isEmpty();
        return (DomainSettings) reader.objects().get(0).record(NOW, Optional.empty());
    }

    private static void assertRefused(String spec, String... parts) {
        List<String> problems = read(EAST + spec).problems();
        assertThat(problems).hasSize(1);
        assertThat(problems.get(0)).contains(parts);
    }

    @Test
    void valuesAreInTheFormOfTheConfigurationAndRecordsInThatOfTheLog() {
        DomainSettings declared = record(EAST + """
              policy: tiresias
              lending: false
              max-share-lent: 0.5
              max-transfers: 20
              min-hold: 2m
              slo-extra: 1
              quiet-windows: mon-fri 08:00-10:00
            """);

        assertThat(declared.domain()).isEqualTo(new DomainId("east"));
        assertThat(declared.settings())
                .isEqualTo(Map.of(
                        "policy", "tiresias",
                        "lending", "false",
                        "max-share-lent", "0.5",
                        "max-transfers", "20",
                        "min-hold", "PT2M",
                        "slo-extra", "1.0",
                        "quiet-windows", "mon-fri 08:00-10:00"));
        assertThat(DeclaredKinds.DOMAIN_SETTINGS.write(declared))
                .hasToString("{\"apiVersion\":\"lendstream.io/v1\",\"kind\":\"DomainSettings\","
                        + "\"metadata\":{\"name\":\"east\",\"domain\":\"east\"},"
                        + "\"spec\":{\"policy\":\"tiresias\",\"lending\":false,\"max-share-lent\":0.5,"
                        + "\"max-transfers\":20,\"min-hold\":\"2m\",\"quiet-windows\":\"mon-fri 08:00-10:00\","
                        + "\"slo-extra\":1.0}}");
        assertThat(record(DeclaredKinds.DOMAIN_SETTINGS.write(declared).toString()))
                .isEqualTo(declared);
    }

    @Test
    void everySettingThatMayBeDeclaredIsAField() {
        assertThat(DeclaredKinds.DOMAIN_SETTINGS.spec().fields())
                .extracting(SpecField::name)
                .containsExactlyInAnyOrderElementsOf(DeclarableSettings.forms().keySet());
    }

    @Test
    void wrongValuesAreRefusedWithTheirBounds() {
        assertRefused(
                "  max-share-lent: 1.5\n", "line 5", "spec.max-share-lent is '1.5', but must be a number from 0 to 1.");
        assertRefused("  max-transfers: 0\n", "spec.max-transfers is '0', but must be a whole number of at least 1.");
        assertRefused(
                "  bind-deadline: 0s\n", "spec.bind-deadline is '0s', but must be a length of time", "from 1s to 366d");
        assertRefused("  min-hold: 9999d\n", "spec.min-hold is '9999d'");
        assertRefused("  lending: perhaps\n", "spec.lending is 'perhaps', but must be true or false");
        assertRefused("  policy: nonesuch\n", "there is no policy 'nonesuch'", "Correct it");
        assertRefused("  quiet-windows: sometimes\n", "quiet-windows is 'sometimes'");
    }

    @Test
    void aSettingOfTheSiteIsRefusedWithTheWayOut() {
        assertRefused(
                "  notice: 1m\n",
                "spec.notice is '1m', but cannot be declared for a domain.",
                "Set scheduler.notice in the configuration of the scheduler, or leave it out.");
        assertRefused("  max-share-lend: 0.5\n", "spec.max-share-lend is unknown; did you mean max-share-lent?");
    }

    @Test
    void theNameIsThatOfTheDomain() {
        assertThat(record(EAST.replace("east}", "east, domain: east}") + "  learn: true\n")
                        .domain())
                .isEqualTo(new DomainId("east"));
        assertThat(read(EAST.replace("east}", "east, domain: west}") + "  learn: true\n")
                        .problems())
                .singleElement()
                .asString()
                .contains("metadata.domain is west, but DomainSettings are named like their domain, east.");
        assertThat(read(EAST.replace("east}", "east, domain: default}") + "  learn: true\n")
                        .problems())
                .hasSize(1);
    }
}
