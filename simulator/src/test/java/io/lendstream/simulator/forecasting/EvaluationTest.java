package io.lendstream.simulator.forecasting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EvaluationTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private static RateSeries series(double... values) {
        return new RateSeries("series", HOUR, 0, values);
    }

    @Test
    void persistenceIsScoredByHand() {
        // trained on two steps; forecasts are made at 4, 8 and 6, about 8, 6 and 2
        var score = new Evaluation(series(1, 2, 4, 8, 6, 2), List.of(HOUR), 2)
                .run("persistence", (origin, target, said) -> {}, share -> {})
                .get(0);

        assertThat(score.scored()).isEqualTo(3);
        assertThat(score.errors().mae()).isEqualTo((4 + 2 + 4) / 3.0, within(1e-5));
        assertThat(score.errors().nmae()).isEqualTo(10.0 / 16, within(1e-5));
        assertThat(score.errors().mase()).isNaN();
    }

    @Test
    void aForecastMadeAtOrAboutAMissingStepIsNotScored() {
        var told = new ArrayList<String>();

        var score = new Evaluation(series(1, 2, 4, Double.NaN, 6, 2), List.of(HOUR), 2)
                .run("persistence", (origin, target, said) -> told.add(origin + ">" + target), share -> {})
                .get(0);

        assertThat(score.scored()).isEqualTo(1);
        assertThat(told).containsExactly("2>3", "3>4", "4>5");
    }

    @Test
    void errorsAreScaledByThoseOfTheDayBeforeInTheTrainingPart() {
        double[] days = IntStream.range(0, 96)
                .mapToDouble(hour -> 10 + Math.floorDiv(hour, 24))
                .toArray();

        var score = new Evaluation(series(days), List.of(HOUR), 48)
                .run("persistence", (origin, target, said) -> {}, share -> {})
                .get(0);

        // off by one once at the last midnight of 47 forecasts; a day makes a difference of one
        assertThat(score.errors().mase()).isEqualTo(1.0 / 47, within(1e-5));
    }

    @Test
    void theTrainingPartMustLeaveSomethingToScore() {
        assertThatThrownBy(() -> new Evaluation(series(1, 2), List.of(HOUR), 2))
                .hasMessage(
                        "the training part of series is 2 steps, but must be from 1 to 1, one less than the series has");
    }
}
