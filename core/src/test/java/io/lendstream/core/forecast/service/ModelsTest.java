package io.lendstream.core.forecast.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.forecast.ForecastSettings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelsTest {
    @Test
    void listsEveryModelByName() {
        assertThat(Models.all())
                .extracting(Models.Info::name)
                .containsExactly(
                        "persistence",
                        "ewma",
                        "seasonal-naive",
                        "holt-winters",
                        "harmonic-ar",
                        "median3",
                        "select",
                        "lendstream");
    }

    @Test
    void takesSettingsAfterTheName() {
        var settled = Models.create(settings("ewma:alpha=1"));
        settled.observe(0, 10);
        settled.observe(1, 20);

        assertThat(settled.forecast().get(0).p50()).isBetween(19.0, 21.0);
    }

    @Test
    void saysWhatCanBeNamedInstead() {
        assertThatThrownBy(() -> Models.create(settings("prophet")))
                .hasMessageStartingWith("forecast model is 'prophet', but must be one of persistence, ewma");
        assertThatThrownBy(() -> Models.create(settings("ewma:gamma=2")))
                .hasMessage("forecast model 'ewma' has no setting 'gamma'; it has [alpha]");
        assertThatThrownBy(() -> Models.create(settings("ewma:alpha=much")))
                .hasMessage("ewma:alpha is 'much', but must be a number above 0 and at most 100");
        assertThatThrownBy(() -> Models.create(settings("ewma:alpha=2")))
                .hasMessage("ewma:alpha is 2.0, but must be above 0 and at most 1");
    }

    @Test
    void refusesHorizonsThatAreNoWholeSteps() {
        assertThatThrownBy(() -> new ForecastSettings(
                        "ewma", Duration.ofMinutes(2), List.of(Duration.ofMinutes(2), Duration.ofMinutes(5))))
                .hasMessage("horizon PT5M is no whole multiple of the step PT2M; choose PT6M or another step");
        assertThatThrownBy(() -> new ForecastSettings(
                        "ewma", Duration.ofMinutes(1), List.of(Duration.ofMinutes(5), Duration.ofMinutes(1))))
                .hasMessage("horizons are [PT5M, PT1M], but must increase from above zero to PT24H at most");
    }

    private static ForecastSettings settings(String model) {
        return new ForecastSettings(model, Duration.ofMinutes(1), List.of(Duration.ofMinutes(1)));
    }
}
