package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.Compact;
import io.lendstream.core.forecast.Level;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;

/**
 * The quantiles of one horizon around a forecast. The expected size of an error mixes the errors of the last day, of
 * the last hours and at this time of day. Errors in units of that size are assumed to spread as they recently did. The
 * levels at which the spread is read are corrected until each quantile covers its share.
 *
 * <p>{@code quantile = forecast + size * spread(level)} with {@code size = unit * day^0.5 * recent^0.2 * timeOfDay^0.3}
 * and {@code unit = mean^0.65 * (forecast + 0.05 mean)^0.35}: errors grow with demand, but slower.
 */
final class Spread {
    private static final double OF_DEMAND = 0.35;
    private static final double OFFSET_OF_MEAN = 0.05;
    private static final double RECENT_SHARE = 0.2;
    private static final double TIME_OF_DAY_SHARE = 0.3;
    /** An error beyond so many day's mean errors has no more weight in the means than one there. */
    private static final double MOST_ERRORS = 6;

    private static final double LEAST_OF_DAY = 0.1;
    private static final double RECENT_HOURS = 3;
    private static final double MEMORY_DAYS = 10;
    private static final double LEVEL_GAIN = 0.003;
    /** A corrected level comes back to the promised one over so many days. */
    private static final double LEVEL_DAYS = 5;
    /** How many errors the first guess of their size is worth. */
    private static final double GUESS_WEIGHT = 3;

    private static final double NOTHING = 1e-12;
    /** Forecasts below this, in requests, follow idle hours; their errors are not representative and are skipped. */
    private static final double NO_DEMAND = 1e-3;
    /** Demand so many times the day's mean was not there that day: of the size of its errors nothing is known. */
    private static final double UNKNOWN = 30;
    /** No error is so many units: a size beyond was guessed before there was a unit. */
    private static final double IMPOSSIBLE = 1e6;
    /** A rise is steep if nine in ten are less. */
    private static final double STEEP = 0.9;

    private static final double RISE_GAIN = 0.02;
    private static final double OFFSET_OF_RISE = 0.05;
    /**
     * The share of steep rises that may pass p99. It is less than the promised one in twenty: steep is relative to the
     * recent past, and the steepest rises of weeks come in hours of restless demand.
     */
    private static final double PASSING = 0.02;
    /** Where only a steep rise can pass p99 it is put farther away, at first by this share. */
    private static final double FARTHER = 0.3;

    private static final double FARTHEST = 0.5;
    private static final double FARTHER_GAIN = 0.1;
    /** Where others can, it is put nearer by this share, and by less the more p99 has been passed in all. */
    private static final double NEARER = 0.4;

    private static final double SHARPNESS = 10;

    private final double dayGain;
    private final double recentGain;
    private final Scores scores;
    private final ErrorsOfDay ofDay;
    private final Level at10;
    private final Level at90;
    private final TailLevel at99;
    private double day;
    private double recent;
    private double seen;
    private double steepRise;
    private double farther = FARTHER;

    /**
     * @param originsPerDay how many forecasts are judged a day
     * @param horizonHours how far ahead
     * @param overlap the number of judged forecasts in a row that count as one, because their horizons overlap
     * @param ofDay how errors differ by time of day, which all horizons share
     */
    Spread(double originsPerDay, double horizonHours, double overlap, ErrorsOfDay ofDay) {
        dayGain = 1 / originsPerDay;
        recentGain = Math.min(0.5, 2 / (1 + Math.max(RECENT_HOURS, 2 * horizonHours) * originsPerDay / 24));
        scores = new Scores(MEMORY_DAYS * originsPerDay);
        this.ofDay = ofDay;
        double back = 1 / (LEVEL_DAYS * originsPerDay);
        double slowing = Math.sqrt(overlap);
        at10 = new Level(0.1, LEVEL_GAIN / slowing, back, 0.03, 0.25);
        at90 = new Level(0.9, LEVEL_GAIN / slowing, back, 0.75, 0.97);
        at99 = new TailLevel(originsPerDay, overlap);
    }

    /** The unit of errors around a forecast. */
    static double unit(double forecast, double mean) {
        return Math.pow(mean, 1 - OF_DEMAND) * Math.pow(forecast + OFFSET_OF_MEAN * mean, OF_DEMAND) + NOTHING;
    }

    /**
     * What size errors have before there are any: of a count of requests whose rate varies by a third (Gamma-Poisson).
     */
    private void guess(double forecast, double unit) {
        day = Math.sqrt(forecast + forecast * forecast / 8 + 0.25) / unit;
        recent = day;
        seen = 0;
    }

    /**
     * What came is known.
     *
     * @param step its number
     * @param size what its error had been expected to be
     * @param before demand when the forecast was made
     */
    void learn(long step, double actual, double forecast, double size, double mean, double before, Quantiles said) {
        if (mean > 0 && (forecast < NO_DEMAND || actual > UNKNOWN * mean)) {
            return;
        }
        double rise = actual - before;
        if (steepRise > 0 && rise > steepRise) {
            double passed = isUnder(actual, said.p99(), forecast) ? 0 : 1;
            farther = Math.max(0, Math.min(FARTHEST, farther + FARTHER_GAIN * (passed - PASSING)));
        }
        steepRise += Math.max(steepRise, OFFSET_OF_RISE * mean) * RISE_GAIN * (rise > steepRise ? STEEP : STEEP - 1);
        steepRise = Math.max(0, steepRise);
        scores.add((actual - forecast) / size);
        double error = Math.abs(actual - forecast) / unit(forecast, mean);
        seen++;
        double counted = Math.min(error, MOST_ERRORS * day);
        recent += Math.max(recentGain, 1 / (GUESS_WEIGHT + seen)) * (counted - recent);
        day += Math.max(dayGain, 1 / (GUESS_WEIGHT + seen)) * (counted - day);
        ofDay.learn(step, counted / Math.max(day, NOTHING));
        at10.learn(isUnder(actual, said.p10(), forecast));
        at90.learn(isUnder(actual, said.p90(), forecast));
        at99.learn(isUnder(actual, said.p99(), forecast), seen);
    }

    /**
     * Whether a quantile held. Where demand is constant it lies on the forecast, and both are known rounded: what came
     * is rounded like them then, lest that decide.
     */
    static boolean isUnder(double actual, double quantile, double forecast) {
        return actual <= quantile || (quantile == forecast && Compact.rounded(actual) == quantile);
    }

    /** The expected size of an error, in requests. */
    double size(long target, double forecast, double mean) {
        double unit = unit(forecast, mean);
        if (day == 0 || forecast > UNKNOWN * mean) {
            guess(forecast, unit);
        }
        double expected = Math.pow(day + NOTHING, 1 - RECENT_SHARE)
                * Math.pow(recent + NOTHING, RECENT_SHARE)
                * Math.pow(ofDay.at(target), TIME_OF_DAY_SHARE);
        return unit * Math.max(expected, LEAST_OF_DAY * day) + NOTHING;
    }

    /** @param now demand at present */
    Quantiles around(double forecast, double size, double now) {
        double high = scores.quantile(at99.level(seen));
        if (steepRise > 0 && high > 0) {
            double steepness = (forecast + size * high - now) / steepRise - 1;
            double steep = 1 / (1 + Math.exp(-SHARPNESS * steepness));
            double nearer = NEARER * (1 - at99.strain(seen));
            high *= 1 + farther * steep - nearer * (1 - steep);
        }
        double p10 = Math.max(0, Math.min(forecast, forecast + size * scores.quantile(at10.level())));
        double p90 = Math.max(forecast, forecast + size * scores.quantile(at90.level()));
        return new Quantiles(p10, p90, Math.max(p90, forecast + size * high));
    }

    void save(StateWriter out) {
        out.number(day).number(recent).number(seen).number(steepRise).number(farther);
        scores.save(out);
        at10.save(out);
        at90.save(out);
        at99.save(out);
    }

    void load(StateReader in) {
        day = in.number();
        day = day < IMPOSSIBLE ? day : 0;
        recent = in.number();
        seen = in.number();
        steepRise = in.number();
        farther = in.number();
        scores.load(in);
        at10.load(in);
        at90.load(in);
        at99.load(in);
    }

    /** In requests a step. */
    record Quantiles(double p10, double p90, double p99) {}
}
