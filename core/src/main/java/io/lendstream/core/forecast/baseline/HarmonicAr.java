package io.lendstream.core.forecast.baseline;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.Harmonics;
import io.lendstream.core.forecast.LeastSquares;
import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.TimeOfDay;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Daily and weekly waves with a regression of their residuals. The waves are fitted to the level once a day. For each
 * horizon, a regression gives the residual there from the latest residual and that of a day before. It makes no
 * forecast on the first day.
 */
public final class HarmonicAr implements PointModel {
    private static final Duration MEMORY = Duration.ofDays(21);
    /** From when on weekly waves are fitted too. */
    private static final Duration WEEKS_KNOWN = Duration.ofDays(9);

    private static final Duration[] RECENT = {
        Duration.ZERO, Duration.ofMinutes(15), Duration.ofMinutes(60), Duration.ofHours(4)
    };
    private static final double RIDGE_OF_WAVES = 1e-3;
    private static final double RIDGE_OF_REST = 1e-3;

    private final Harmonics harmonics;
    private final TimeOfDay day;
    private final int[] horizonSteps;
    private final long stepsPerDay;
    private final double keep;
    private final LeastSquares waves;
    private final LeastSquares[] rest;
    private float[] waveFactors = new float[Harmonics.ALL];
    private final float[][] restFactors;
    private final RecentOutcomes[][] featuresThen;
    private final double[] gains;
    private final double[] recent;
    private final float[] yesterday;
    private final double[] wave = new double[Harmonics.ALL];
    private final double[] features;
    private long first = Long.MIN_VALUE;
    private long now = Long.MIN_VALUE;
    private boolean ready;
    private int bin = -1;
    private double sum;
    private int count;
    private double yesterdayNow;

    public HarmonicAr(ForecastSettings settings) {
        harmonics = new Harmonics(settings);
        day = new TimeOfDay(settings);
        horizonSteps = settings.horizonSteps();
        stepsPerDay = Math.max(1, Math.round(settings.stepsPerDay()));
        keep = 1 - 1 / (MEMORY.toMillis() / (double) settings.step().toMillis());
        waves = new LeastSquares(Harmonics.ALL, RIDGE_OF_WAVES);
        gains = Arrays.stream(RECENT)
                .mapToDouble(span -> Math.min(
                        1,
                        2.0
                                / (1
                                        + Math.max(
                                                1,
                                                (double) span.toMillis()
                                                        / settings.step().toMillis()))))
                .toArray();
        recent = new double[gains.length];
        features = new double[gains.length + 2];
        rest = new LeastSquares[horizonSteps.length];
        restFactors = new float[horizonSteps.length][features.length];
        featuresThen = new RecentOutcomes[horizonSteps.length][];
        for (int horizon = 0; horizon < rest.length; horizon++) {
            rest[horizon] = new LeastSquares(features.length, RIDGE_OF_REST);
            int steps = horizonSteps[horizon];
            featuresThen[horizon] = new RecentOutcomes[features.length];
            Arrays.setAll(featuresThen[horizon], any -> new RecentOutcomes(steps));
        }
        yesterday = new float[day.bins()];
    }

    @Override
    public void observe(long step, double level) {
        move(step);
        harmonics.at(step, wave);
        waves.learn(wave, level, 1, keep);
        if (!ready) {
            return;
        }
        double left = level - LeastSquares.of(waveFactors, wave);
        for (int horizon = 0; horizon < rest.length; horizon++) {
            if (!Double.isNaN(featuresThen[horizon][0].at(step))) {
                for (int i = 0; i < features.length; i++) {
                    features[i] = featuresThen[horizon][i].at(step);
                }
                rest[horizon].learn(features, left, 1, keep);
            }
        }
        for (int i = 0; i < recent.length; i++) {
            recent[i] += gains[i] * (left - recent[i]);
        }
        sum += left;
        count++;
        note(step);
    }

    @Override
    public void miss(long step) {
        move(step);
        if (ready) {
            for (int i = 0; i < recent.length; i++) {
                recent[i] *= 1 - gains[i];
            }
            note(step);
        }
    }

    private void note(long step) {
        for (int horizon = 0; horizon < rest.length; horizon++) {
            look(horizon);
            for (int i = 0; i < features.length; i++) {
                featuresThen[horizon][i].put(step, features[i]);
            }
        }
    }

    /** Puts together what the regression of a horizon looks at. */
    private void look(int horizon) {
        System.arraycopy(recent, 0, features, 0, recent.length);
        features[recent.length] = yesterday[day.bin(now + horizonSteps[horizon])];
        features[recent.length + 1] = yesterdayNow;
    }

    private void move(long step) {
        if (first == Long.MIN_VALUE) {
            first = step;
        }
        now = step;
        int next = day.bin(step);
        if (next != bin) {
            if (bin >= 0) {
                yesterdayNow = yesterday[bin];
                yesterday[bin] = count > 0 ? (float) (sum / count) : 0;
            }
            bin = next;
            sum = 0;
            count = 0;
        }
        if (step - first >= stepsPerDay && Math.floorMod(step - first, stepsPerDay) == 0) {
            boolean weeks =
                    (step - first) * (double) ForecastSettings.DAY.toMillis() / stepsPerDay >= WEEKS_KNOWN.toMillis();
            waveFactors = waves.factors(range(weeks ? Harmonics.ALL : Harmonics.OF_DAY));
            for (int horizon = 0; horizon < rest.length; horizon++) {
                restFactors[horizon] = rest[horizon].factors(range(features.length));
            }
            ready = true;
        }
    }

    private static int[] range(int count) {
        return IntStream.range(0, count).toArray();
    }

    @Override
    public double ahead(int horizon) {
        if (!ready) {
            return Double.NaN;
        }
        harmonics.at(now + horizonSteps[horizon], wave);
        look(horizon);
        return LeastSquares.of(waveFactors, wave) + LeastSquares.of(restFactors[horizon], features);
    }

    @Override
    public void save(StateWriter out) {
        waves.save(out);
        out.numbers(waveFactors);
        for (int horizon = 0; horizon < rest.length; horizon++) {
            rest[horizon].save(out);
            out.numbers(restFactors[horizon]);
            for (RecentOutcomes past : featuresThen[horizon]) {
                past.save(out);
            }
        }
        for (double each : recent) {
            out.number(each);
        }
        out.numbers(yesterday).number(yesterdayNow).number(first).number(now).integer(ready ? 1 : 0);
        out.integer(bin).number(sum).integer(count);
    }

    @Override
    public void load(StateReader in) {
        waves.load(in);
        in.numbers(waveFactors);
        for (int horizon = 0; horizon < rest.length; horizon++) {
            rest[horizon].load(in);
            in.numbers(restFactors[horizon]);
            for (RecentOutcomes past : featuresThen[horizon]) {
                past.load(in);
            }
        }
        for (int i = 0; i < recent.length; i++) {
            recent[i] = in.number();
        }
        in.numbers(yesterday);
        yesterdayNow = in.number();
        first = in.wholeNumber();
        now = in.wholeNumber();
        ready = in.integer() == 1;
        bin = in.integer();
        sum = in.number();
        count = in.integer();
    }
}
