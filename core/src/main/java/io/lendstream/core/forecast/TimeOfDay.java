package io.lendstream.core.forecast;

import java.time.Duration;

/** The day cut into equal bins of at least five minutes, as many as the step allows. */
public final class TimeOfDay {
    private static final long MOST_BINS = Duration.ofDays(1).dividedBy(Duration.ofMinutes(5));

    private final long stepMillis;
    private final int bins;

    public TimeOfDay(ForecastSettings settings) {
        stepMillis = settings.step().toMillis();
        bins = (int) Math.min(MOST_BINS, Math.max(1, ForecastSettings.DAY.toMillis() / stepMillis));
    }

    public int bins() {
        return bins;
    }

    /** The bin in which a step starts. */
    public int bin(long step) {
        long millis = Math.floorMod(step * stepMillis, ForecastSettings.DAY.toMillis());
        return (int) (millis * bins / ForecastSettings.DAY.toMillis());
    }
}
