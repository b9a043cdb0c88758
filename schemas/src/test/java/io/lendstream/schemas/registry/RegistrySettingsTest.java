package io.lendstream.schemas.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RegistrySettingsTest {
    @Test
    void readsSeveralAddressesAndLeavesTheirPaths() {
        RegistrySettings settings = RegistrySettings.at("http://one:8081/, https://two/apis/ccompat/v7");

        assertThat(settings.urls())
                .containsExactly(URI.create("http://one:8081"), URI.create("https://two/apis/ccompat/v7"));
    }

    @Test
    void readsTimeoutsAndRetriesWithOrWithoutPrefix() {
        RegistrySettings settings = RegistrySettings.from(Map.of(
                RegistrySettings.URL,
                "http://one:8081",
                "schema.registry.http.read.timeout.ms",
                1500,
                "max.retries",
                "7"));

        assertThat(settings.readTimeout()).isEqualTo(Duration.ofMillis(1500));
        assertThat(settings.retries()).isEqualTo(7);
    }

    @Test
    void keepsPasswordsOutOfItsText() {
        RegistrySettings settings = RegistrySettings.from(Map.of(
                RegistrySettings.URL,
                "http://one:8081",
                RegistrySettings.CREDENTIALS_SOURCE,
                "USER_INFO",
                RegistrySettings.USER_INFO,
                "lend:hunter2",
                "schema.registry.ssl.truststore.password",
                "hunter3"));

        assertThat(settings.toString()).doesNotContain("hunter").doesNotContain("bGVuZDpodW50ZXIy");
    }

    @Test
    void wrongSettingsAreNamedWithTheirValue() {
        assertThatThrownBy(() -> RegistrySettings.from(Map.of()))
                .hasMessageContaining("schema.registry.url is not set");
        assertThatThrownBy(() -> RegistrySettings.at("registry:8081")).hasMessageContaining("'registry:8081'");
        assertThatThrownBy(() -> RegistrySettings.at(" , ")).hasMessageContaining("has no address");
        assertThatThrownBy(() -> RegistrySettings.from(
                        Map.of(RegistrySettings.URL, "http://one:8081", RegistrySettings.RETRIES, "many")))
                .hasMessageContaining("max.retries must be a whole number of at least 0, but was 'many'");
        assertThatThrownBy(() -> RegistrySettings.from(Map.of(
                        RegistrySettings.URL, "http://one:8081", RegistrySettings.CREDENTIALS_SOURCE, "USER_INFO")))
                .hasMessageContaining("basic.auth.user.info is not set, but basic.auth.credentials.source requires it");
        assertThatThrownBy(() -> RegistrySettings.from(Map.of(
                        RegistrySettings.URL, "http://one:8081", RegistrySettings.CREDENTIALS_SOURCE, "SASL_INHERIT")))
                .hasMessageContaining("must be URL or USER_INFO");
    }
}
