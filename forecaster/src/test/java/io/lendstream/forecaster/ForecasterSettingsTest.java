package io.lendstream.forecaster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class ForecasterSettingsTest {
    @Test
    void saysNothingAndGetsADefaultForEverything() {
        var settings = settings();

        assertThat(settings.forecast()).isEqualTo(ForecastSettings.DEFAULT);
        assertThat(settings.job().mode()).isEqualTo(ForecasterSettings.Mode.EMBEDDED);
        assertThat(settings.output().delivery()).isEqualTo(ForecastDelivery.AT_LEAST_ONCE);
        assertThat(settings.clients().producer())
                .containsEntry("linger.ms", "0")
                .containsEntry("max.in.flight.requests.per.connection", "1");
        assertThat(settings.state().directory()).isEmpty();
    }

    @Test
    void leavesASitesOwnKafkaPropertiesAlone() {
        assertThat(settings("kafka.producer.linger.ms=7").clients().producer()).containsEntry("linger.ms", "7");
        assertThat(settings("kafka.producer.max.in.flight.requests.per.connection=5")
                        .clients()
                        .producer())
                .containsEntry("max.in.flight.requests.per.connection", "5");
        assertThat(settings("kafka.security.protocol=SSL").clients().consumer())
                .containsEntry("security.protocol", "SSL");
        assertThat(settings("schema.registry.url=https://registry:8081")
                        .clients()
                        .serdes())
                .containsEntry("schema.registry.url", "https://registry:8081");
    }

    @Test
    void forecastsTheConfiguredHorizons() {
        var settings =
                settings("forecaster.step=30s", "forecaster.horizons=30s, 5m,1h", "forecaster.model=ewma:alpha=0.5");

        assertThat(settings.forecast().horizons())
                .containsExactly(Duration.ofSeconds(30), Duration.ofMinutes(5), Duration.ofHours(1));
    }

    @Test
    void refusesForecastsThatCannotBeMade() {
        assertThatThrownBy(() -> settings("forecaster.model=prophet"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("forecast model is 'prophet', but must be one of persistence");
        assertThatThrownBy(() -> settings("forecaster.step=2m"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("horizon PT1M is no whole multiple of the step PT2M");
        assertThatThrownBy(() -> settings("forecaster.horizons=soon"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("forecaster.horizons is 'soon'");
    }

    static ForecasterSettings settings(String... arguments) {
        return settings(TopicCatalogue.standard(), arguments);
    }

    static ForecasterSettings settings(TopicCatalogue topics, String... arguments) {
        var keys = new ArrayList<Key<?>>(CommonKeys.ALL);
        keys.addAll(ForecasterSettings.KEYS);
        Settings settings = Settings.of(keys, arguments);
        return ForecasterSettings.of(settings, KafkaSettings.of("forecaster", settings), topics);
    }
}
