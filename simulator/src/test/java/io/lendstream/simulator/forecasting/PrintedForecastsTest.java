package io.lendstream.simulator.forecasting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Errors on public series, where they are available: in LENDSTREAM_DATA, or in shared/data beside the project. The whole
 * table is the bench {@code forecast}'s; these are series that take a second.
 */
class PrintedForecastsTest {
    private final Path data =
            Optional.ofNullable(System.getenv("LENDSTREAM_DATA")).map(Path::of).orElse(Path.of("../../shared/data"));

    private List<Score> run(String name, int stepMinutes, int trainDays, String horizons, String model) {
        Path file = data.resolve("traces/series").resolve(name + ".csv.gz");
        assumeThat(Files.exists(file))
                .as("public series in %s; set LENDSTREAM_DATA to the directory that has them", data)
                .isTrue();
        Duration step = Duration.ofMinutes(stepMinutes);
        return new Evaluation(
                        RateSeries.read(file, step),
                        Stream.of(horizons.split(" ", -1))
                                .map(minutes -> Duration.ofMinutes(Integer.parseInt(minutes)))
                                .toList(),
                        (int) Duration.ofDays(trainDays).dividedBy(step))
                .run(model, (origin, target, said) -> {}, share -> {});
    }

    /** Mean absolute errors over the mean, in per cent, as an earlier program of ours found them. */
    @ParameterizedTest
    @CsvSource({
        "persistence, nab_tweets_amzn_5min, 5, 21, 5 15 30 60, 23.4 28.6 31.0 33.2",
        "ewma, nab_tweets_amzn_5min, 5, 21, 5 15 30 60, 20.6 23.4 25.2 27.6",
        "harmonic-ar, nab_tweets_amzn_5min, 5, 21, 5 15 30 60, 20.0 22.3 23.4 24.2",
        "select, nab_tweets_amzn_5min, 5, 21, 5 15 30 60, 20.0 22.3 23.6 24.2",
        "persistence, servegen_language_mlarge_10min, 10, 7, 10 30 60, 13.3 19.6 23.6",
        "ewma, servegen_language_mlarge_10min, 10, 7, 10 30 60, 13.2 18.8 23.8"
    })
    void baselinesErrAsPrinted(
            String model, String series, int stepMinutes, int trainDays, String horizons, String printed) {
        List<Score> scores = run(series, stepMinutes, trainDays, horizons, model);

        for (int i = 0; i < scores.size(); i++) {
            double expected = Double.parseDouble(printed.split(" ", -1)[i]);
            assertThat(100 * scores.get(i).errors().nmae() / expected)
                    .as("%s at %s", series, scores.get(i).horizon())
                    .isBetween(0.97, 1.03);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "nab_tweets_amzn_5min, 5, 21, 5 15 30 60, 20.0 22.3 23.6 24.2",
        "burstgpt_week1_tokens_1min, 5, 4, 5 15 30 60, 41.1 45.4 46.8 49.5",
        "servegen_msmall_client5_10min, 10, 7, 10 30 60, 1.3 2.3 3.7",
        "servegen_language_msmall_10min, 10, 7, 10 30 60, 8.6 11.4 14.0",
        "servegen_language_mlarge_10min, 10, 7, 10 30 60, 13.2 18.9 25.2"
    })
    void oursErrsLessThanThePrintedSelect(
            String series, int stepMinutes, int trainDays, String horizons, String printed) {
        List<Score> scores = run(series, stepMinutes, trainDays, horizons, "lendstream");

        double logs = 0;
        for (int i = 0; i < scores.size(); i++) {
            double over = 100 * scores.get(i).errors().nmae() / Double.parseDouble(printed.split(" ", -1)[i]);
            assertThat(over).as("%s at %s", series, scores.get(i).horizon()).isLessThan(1.03);
            logs += Math.log(over);
        }
        assertThat(Math.exp(logs / scores.size())).isLessThan(1);
    }
}
