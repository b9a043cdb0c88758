package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.TimeOfDay;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.Arrays;

/**
 * The same time yesterday, plus the difference of the last half hour from that half hour yesterday. It has no forecast
 * on the first day.
 */
public final class SeasonalNaive implements PointModel {
    private static final Duration LOOK_BACK = Duration.ofMinutes(30);

    private final TimeOfDay day;
    private final int[] horizonSteps;
    private final double alpha;
    private final float[] yesterday;
    private final float[] today;
    private long now = Long.MIN_VALUE;
    private int bin = -1;
    private double sum;
    private int count;
    private double difference;
    private double seen;

    public SeasonalNaive(ForecastSettings settings) {
        day = new TimeOfDay(settings);
        horizonSteps = settings.horizonSteps();
        alpha = Math.min(1, (double) settings.step().toMillis() / LOOK_BACK.toMillis());
        yesterday = new float[day.bins()];
        today = new float[day.bins()];
        Arrays.fill(yesterday, Float.NaN);
        Arrays.fill(today, Float.NaN);
    }

    @Override
    public void observe(long step, double level) {
        move(step);
        float before = yesterday[bin];
        if (!Float.isNaN(before)) {
            // a plain mean at first, then one that forgets over the last half hour
            seen = Math.min(seen + 1, 1 / alpha);
            difference += (level - before - difference) / seen;
        }
        sum += level;
        count++;
        today[bin] = (float) (sum / count);
    }

    @Override
    public void miss(long step) {
        move(step);
    }

    private void move(long step) {
        now = step;
        int next = day.bin(step);
        if (next != bin) {
            yesterday[next] = today[next];
            today[next] = Float.NaN;
            bin = next;
            sum = 0;
            count = 0;
        }
    }

    @Override
    public double ahead(int horizon) {
        if (bin < 0) {
            return Double.NaN;
        }
        int target = day.bin(now + horizonSteps[horizon]);
        // a bin that this day has not come to yet still holds yesterday's
        float before = target == bin ? yesterday[target] : today[target];
        return before + difference;
    }

    @Override
    public void save(StateWriter out) {
        out.number(now)
                .integer(bin)
                .number(sum)
                .integer(count)
                .number(difference)
                .number(seen);
        out.numbers(yesterday).numbers(today);
    }

    @Override
    public void load(StateReader in) {
        now = in.wholeNumber();
        bin = in.integer();
        sum = in.number();
        count = in.integer();
        difference = in.number();
        seen = in.number();
        in.numbers(yesterday);
        in.numbers(today);
    }
}
