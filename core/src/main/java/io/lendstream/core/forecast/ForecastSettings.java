package io.lendstream.core.forecast;

import io.lendstream.core.forecast.service.Models;
import java.time.Duration;
import java.util.List;

/**
 * The steps of demand, the horizons and the model of forecasts.
 *
 * @param model name and settings of the model, as {@link Models} reads them: {@code ewma:alpha=0.2}
 * @param step length of a step; steps lie on whole multiples of it since 1970
 * @param horizons how far ahead, in increasing order; whole multiples of the step, a day at most
 */
public record ForecastSettings(String model, Duration step, List<Duration> horizons) {
    public static final Duration DAY = Duration.ofDays(1);
    private static final Duration SHORTEST_STEP = Duration.ofSeconds(1);
    private static final Duration LONGEST_STEP = Duration.ofHours(1);

    /**
     * Short enough to see a rise before a reclaim must start, long enough that a step of a quiet service is not all
     * noise.
     */
    public static final ForecastSettings DEFAULT = new ForecastSettings(
            "lendstream",
            Duration.ofMinutes(1),
            List.of(
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(5),
                    Duration.ofMinutes(15),
                    Duration.ofMinutes(30),
                    Duration.ofMinutes(60)));

    public ForecastSettings {
        if (step.compareTo(SHORTEST_STEP) < 0 || step.compareTo(LONGEST_STEP) > 0) {
            throw new IllegalArgumentException(
                    "step is %s, but must lie between %s and %s".formatted(step, SHORTEST_STEP, LONGEST_STEP));
        }
        horizons = List.copyOf(horizons);
        if (horizons.isEmpty()) {
            throw new IllegalArgumentException(
                    "horizons is empty, but must name at least one, such as %s".formatted(step));
        }
        Duration before = Duration.ZERO;
        for (Duration horizon : horizons) {
            if (horizon.compareTo(before) <= 0 || horizon.compareTo(DAY) > 0) {
                throw new IllegalArgumentException(
                        "horizons are %s, but must increase from above zero to %s at most".formatted(horizons, DAY));
            }
            if (horizon.toMillis() % step.toMillis() != 0) {
                throw new IllegalArgumentException(
                        "horizon %s is no whole multiple of the step %s; choose %s or another step"
                                .formatted(horizon, step, step.multipliedBy(1 + horizon.toMillis() / step.toMillis())));
            }
            before = horizon;
        }
    }

    public double stepSeconds() {
        return step.toMillis() / 1000.0;
    }

    public double stepsPerDay() {
        return (double) DAY.toMillis() / step.toMillis();
    }

    /** The horizons in steps. */
    public int[] horizonSteps() {
        return horizons.stream()
                .mapToInt(horizon -> Math.toIntExact(horizon.toMillis() / step.toMillis()))
                .toArray();
    }
}
