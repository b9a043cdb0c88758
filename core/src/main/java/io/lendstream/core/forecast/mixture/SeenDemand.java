package io.lendstream.core.forecast.mixture;

import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.Arrays;

/** The demand of a service so far, for all horizons: its level, its {@link Season}, and its deviation from that. */
final class SeenDemand {
    private static final double[] MEAN_GAINS = {1, 0.4, 0.15, 0.05};
    private static final Duration[] SPANS = {
        Duration.ZERO, Duration.ofMinutes(15), Duration.ofMinutes(60), Duration.ofHours(6)
    };
    /** How many means of the level there are, each over another time. */
    static final int MEANS = MEAN_GAINS.length;
    /** How many deviations from the season there are, each over another span. */
    static final int DEVIATIONS = SPANS.length;
    /** Which mean is the last level itself. */
    static final int LAST = 0;
    /** The mean that gives the level after a shift. */
    private static final int CARRIED = 1;
    /** No expert is followed beyond so many times the highest demand, which is forgotten over two weeks. */
    private static final double HIGHEST_TIMES = 3;

    private static final double HIGHEST_DAYS = 14;

    private final double dayGain;
    private final double highestKeep;
    private final double[] deviationGains;
    private final Season season;
    private final ErrorsOfDay errorsOfDay;
    private final double[] means = new double[MEANS];
    private final double[] deviations = new double[DEVIATIONS];
    private double carried;
    private double usualHere;
    private double yesterdayHere;
    private double meanRequests;
    private double highest;
    private double observed;

    SeenDemand(ForecastSettings settings) {
        double stepMillis = settings.step().toMillis();
        dayGain = 1 / Math.max(1, settings.stepsPerDay());
        highestKeep = 1 - dayGain / HIGHEST_DAYS;
        deviationGains = Arrays.stream(SPANS)
                .mapToDouble(span -> Math.min(1, 2 / (1 + Math.max(1, span.toMillis() / stepMillis))))
                .toArray();
        season = new Season(settings);
        errorsOfDay = new ErrorsOfDay(
                settings,
                Arrays.stream(settings.horizonSteps())
                        .mapToDouble(each -> 1.0 / Pending.stride(each))
                        .sum());
    }

    Season season() {
        return season;
    }

    ErrorsOfDay errorsOfDay() {
        return errorsOfDay;
    }

    /** The mean of the level over one of the times. */
    double mean(int index) {
        return means[index];
    }

    /** How far demand is off the season, over one of the spans. */
    double deviation(int span) {
        return deviations[span];
    }

    double usualHere() {
        return usualHere;
    }

    double yesterdayHere() {
        return yesterdayHere;
    }

    double meanRequests() {
        return meanRequests;
    }

    boolean isNone() {
        return observed == 0;
    }

    /** Goes on to a step, before anything of the step itself is known. */
    void moveTo(long step) {
        season.moveTo(step);
        usualHere = season.usualBefore();
        yesterdayHere = season.yesterdayBefore();
    }

    /** Takes a step's demand into the season, and returns its deviation from the season. */
    double learn(long step, double requests, double level) {
        highest = Math.max(requests, highest * highestKeep);
        return season.learn(step, level);
    }

    /**
     * Takes a step's demand into all means.
     *
     * @param left how far off the season it was
     * @param shiftBegins whether the level is a new one from this step on
     */
    void follow(long step, double requests, double left, boolean shiftBegins) {
        double level = Math.log1p(requests);
        observed = Math.min(observed + 1, 1 / dayGain);
        meanRequests += (requests - meanRequests) / observed;
        for (int i = 0; i < means.length; i++) {
            means[i] += (observed == 1 ? 1 : MEAN_GAINS[i]) * (level - means[i]);
        }
        if (shiftBegins) {
            means[CARRIED] = level;
        }
        if (season.ready()) {
            for (int i = 0; i < deviations.length; i++) {
                deviations[i] += deviationGains[i] * (left - deviations[i]);
            }
        }
        carried = carried(step);
    }

    /** The difference of the newest level, smoothed over a few steps, from the usual level at this time. */
    private double carried(long step) {
        return means[CARRIED] - usual(step);
    }

    private double usual(long step) {
        return season.ready() ? season.waves(step) + season.usual(step) : 0;
    }

    /** Nothing is known of the minutes; what the hours showed is the best guess of them. */
    void miss() {
        double slow = deviations[deviations.length - 1];
        for (int i = 0; i < deviations.length; i++) {
            deviations[i] += deviationGains[i] * (slow - deviations[i]);
        }
    }

    /** After a shift the usual level at the target is assumed to be as far off as it is now. */
    double shifted(long target) {
        return limited(carried + usual(target));
    }

    /** The requests at a level, limited to a little above the demand seen so far. */
    double limited(double level) {
        return Math.max(0, Math.min(HIGHEST_TIMES * highest, Math.expm1(level)));
    }

    void save(StateWriter out) {
        season.save(out);
        errorsOfDay.save(out);
        for (double each : means) {
            out.number(each);
        }
        for (double each : deviations) {
            out.number(each);
        }
        out.number(carried)
                .number(usualHere)
                .number(yesterdayHere)
                .number(meanRequests)
                .number(highest);
        out.number(observed);
    }

    void load(StateReader in) {
        season.load(in);
        errorsOfDay.load(in);
        for (int i = 0; i < means.length; i++) {
            means[i] = in.number();
        }
        for (int i = 0; i < deviations.length; i++) {
            deviations[i] = in.number();
        }
        carried = in.number();
        usualHere = in.number();
        yesterdayHere = in.number();
        meanRequests = in.number();
        highest = in.number();
        observed = in.number();
    }
}
