package io.lendstream.core.forecast;

import java.time.Duration;

/**
 * Waves of a day and of a week at a step. The first value is one, then cosine and sine of each wave follow, the daily
 * ones first.
 */
public final class Harmonics {
    static final int DAILY = 8;
    static final int WEEKLY = 3;
    /** How many numbers there are without the weekly waves, and with them. */
    public static final int OF_DAY = 1 + 2 * DAILY;

    public static final int ALL = OF_DAY + 2 * WEEKLY;
    private static final double WEEK_MILLIS = Duration.ofDays(7).toMillis();

    private final double stepMillis;

    public Harmonics(ForecastSettings settings) {
        stepMillis = settings.step().toMillis();
    }

    public void at(long step, double[] into) {
        double millis = step * stepMillis % WEEK_MILLIS;
        into[0] = 1;
        waves(2 * Math.PI * millis / ForecastSettings.DAY.toMillis(), DAILY, into, 1);
        waves(2 * Math.PI * millis / WEEK_MILLIS, WEEKLY, into, OF_DAY);
    }

    private static void waves(double angle, int count, double[] into, int from) {
        double cosine = Math.cos(angle);
        double sine = Math.sin(angle);
        into[from] = cosine;
        into[from + 1] = sine;
        for (int i = from + 2; i < from + 2 * count; i += 2) {
            into[i] = into[i - 2] * cosine - into[i - 1] * sine;
            into[i + 1] = into[i - 1] * cosine + into[i - 2] * sine;
        }
    }
}
