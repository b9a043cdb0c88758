package io.lendstream.core.forecast.mixture;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.Coverage;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.LeastSquares;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;

/** What an {@link ExpertMixture} knows of one horizon. */
final class HorizonModel {
    static final int EXPERTS = SeenDemand.MEANS + 2;
    private static final int BY_USUAL_EXPERT = SeenDemand.MEANS;
    private static final int BY_YESTERDAY_EXPERT = BY_USUAL_EXPERT + 1;
    private static final double REST_DAYS = 14;
    private static final double REST_RIDGE = 0.01;
    /** Added to the ridge over the observations there are: the first few hours of the second day teach little. */
    private static final double REST_PRIOR = 10;

    private static final double REGRET_DAYS = 3;
    private static final double SHIFT_DAYS = 7;
    /** A surprise beyond so many mean surprises has no more weight in a regression than one there. */
    private static final double FAR = 1.5;

    private static final double SURPRISE_GAIN = 0.005;
    private static final double MOST_SURPRISES = 5;

    // features of the regressions: deviations, a constant, then usual there and here, then yesterday there and here
    private static final int CONSTANT = SeenDemand.DEVIATIONS;
    private static final int USUAL_THERE = CONSTANT + 1;
    private static final int USUAL_HERE = CONSTANT + 2;
    private static final int YESTERDAY_THERE = CONSTANT + 3;
    private static final int YESTERDAY_HERE = CONSTANT + 4;
    private static final int FEATURES = CONSTANT + 5;
    private static final double ONE = 0.1;
    private static final int[] BY_USUAL = {0, 1, 2, 3, CONSTANT, USUAL_THERE, USUAL_HERE};
    private static final int[] BY_YESTERDAY = {0, 1, 2, 3, CONSTANT, YESTERDAY_THERE, YESTERDAY_HERE};

    private final SeenDemand seen;
    private final double[] features;
    private final double[] said;
    private final int steps;
    private final Pending pending;
    private final LeastSquares rest = new LeastSquares(FEATURES, REST_RIDGE);
    private final double restKeep;
    private final Mixture mixture;
    private final Spread spread;
    private final LevelShift shift;
    private final Coverage coverage = new Coverage();
    private float[] byUsual = new float[FEATURES];
    private float[] byYesterday = new float[FEATURES];
    private double meanSurprise;
    private double p50 = Double.NaN;
    private Spread.Quantiles quantiles = new Spread.Quantiles(0, 0, 0);

    HorizonModel(int steps, ForecastSettings settings, SeenDemand seen, Scratch scratch) {
        this.seen = seen;
        this.features = scratch.features;
        this.said = scratch.said;
        this.steps = steps;
        pending = PendingRow.none(steps);
        double originsPerDay = settings.stepsPerDay() / Pending.stride(steps);
        restKeep = 1 - 1 / (REST_DAYS * originsPerDay);
        shift = new LevelShift(SHIFT_DAYS * originsPerDay);
        mixture = new Mixture(EXPERTS, 1 - 1 / (REGRET_DAYS * originsPerDay), originsPerDay);
        spread = new Spread(
                originsPerDay,
                steps * settings.stepSeconds() / 3600,
                (double) steps / Pending.stride(steps),
                seen.errorsOfDay());
    }

    /** Arrays that all horizons of a service compute in, one after the other: there are many services. */
    static final class Scratch {
        private final double[] features = new double[FEATURES];
        private final double[] said = new double[EXPERTS];
    }

    /** Whether demand is at a new level, which the experts do not know yet. */
    boolean isShifted() {
        return shift.on();
    }

    /** Scores the earlier forecast of a step that is known now, and returns its median. */
    OptionalDouble learn(long step, double requests, double left) {
        Optional<PendingRow> noted = PendingRow.about(pending, step);
        if (noted.isEmpty()) {
            return OptionalDouble.empty();
        }
        PendingRow row = noted.get();
        row.readExperts(said);
        double said50 = row.p50();
        if (seen.season().ready() && row.isSeasonal()) {
            learnRest(step, row, left);
        }
        double mixed = row.mixed();
        shift.learn(Math.log1p(requests) - Math.log1p(mixed));
        mixture.learn(said, mixed, requests);
        Spread.Quantiles then = row.quantiles();
        spread.learn(step, requests, said50, row.size(), seen.meanRequests(), said[SeenDemand.LAST], then);
        coverage.learn(Spread.isUnder(requests, then.p90(), said50), Spread.isUnder(requests, then.p99(), said50));
        return OptionalDouble.of(said50);
    }

    private void learnRest(long step, PendingRow row, double left) {
        for (int i = 0; i < SeenDemand.DEVIATIONS; i++) {
            features[i] = row.deviation(i);
        }
        there(step, row.usual(), row.yesterday());
        double surprise = Math.abs(left - LeastSquares.of(byUsual, features));
        if (meanSurprise == 0) {
            meanSurprise = surprise;
        }
        double weight = surprise > FAR * meanSurprise ? FAR * meanSurprise / surprise : 1;
        meanSurprise += SURPRISE_GAIN * (Math.min(surprise, MOST_SURPRISES * meanSurprise) - meanSurprise);
        rest.learn(features, left, weight, restKeep);
    }

    private void there(long target, double usual, double yesterday) {
        features[CONSTANT] = ONE;
        features[USUAL_THERE] = seen.season().usual(target);
        features[USUAL_HERE] = usual;
        features[YESTERDAY_THERE] = seen.season().yesterday(target);
        features[YESTERDAY_HERE] = yesterday;
    }

    void fit() {
        double observations = rest.shown(CONSTANT) / (ONE * ONE);
        double ridge = REST_RIDGE + REST_PRIOR / (1 + observations);
        byUsual = rest.factorsWith(ridge, BY_USUAL);
        byYesterday = rest.factorsWith(ridge, BY_YESTERDAY);
    }

    /**
     * Says what it expects as of a step, and keeps a note of it.
     *
     * @param shifted whether another horizon has noticed that demand is at a new level
     */
    void look(long step, boolean shifted) {
        if (seen.isNone()) {
            return;
        }
        long target = step + steps;
        boolean seasonal = seen.season().ready();
        ask(target, seasonal);
        double mixed = mixture.of(said);
        p50 = shift.on() || shifted ? seen.shifted(target) : mixed;
        double size = spread.size(target, p50, seen.meanRequests());
        quantiles = spread.around(p50, size, said[SeenDemand.LAST]);
        PendingRow.begin(pending, step).ifPresent(row -> note(row, seasonal, mixed, size));
    }

    /** Writes each expert's forecast at a step into {@link #said}. */
    private void ask(long target, boolean seasonal) {
        for (int i = 0; i < SeenDemand.MEANS; i++) {
            said[i] = Math.expm1(seen.mean(i));
        }
        if (!seasonal) {
            said[BY_USUAL_EXPERT] = Double.NaN;
            said[BY_YESTERDAY_EXPERT] = Double.NaN;
            return;
        }
        for (int i = 0; i < SeenDemand.DEVIATIONS; i++) {
            features[i] = seen.deviation(i);
        }
        there(target, seen.usualHere(), seen.yesterdayHere());
        double waves = seen.season().waves(target);
        said[BY_USUAL_EXPERT] = seen.limited(waves + LeastSquares.of(byUsual, features));
        said[BY_YESTERDAY_EXPERT] = seen.limited(waves + LeastSquares.of(byYesterday, features));
    }

    private void note(PendingRow row, boolean seasonal, double mixed, double size) {
        for (int i = 0; i < SeenDemand.DEVIATIONS; i++) {
            row.deviation(i, seasonal ? seen.deviation(i) : Double.NaN);
        }
        row.here(seen.usualHere(), seen.yesterdayHere());
        row.experts(said);
        row.middle(mixed, p50, size);
        row.quantiles(quantiles);
    }

    /** The last forecast, in requests per second. */
    HorizonQuantiles quantiles(Duration horizon, double perSecond) {
        return new HorizonQuantiles(
                horizon,
                quantiles.p10() * perSecond,
                p50 * perSecond,
                quantiles.p90() * perSecond,
                quantiles.p99() * perSecond,
                Optional.empty(),
                coverage.recent());
    }

    void save(StateWriter out) {
        pending.save(out);
        rest.save(out);
        mixture.save(out);
        spread.save(out);
        shift.save(out);
        coverage.save(out);
        LeastSquares.save(out, byUsual, BY_USUAL);
        LeastSquares.save(out, byYesterday, BY_YESTERDAY);
        out.number(meanSurprise);
    }

    void load(StateReader in) {
        pending.load(in);
        rest.load(in);
        mixture.load(in);
        spread.load(in);
        shift.load(in);
        coverage.load(in);
        LeastSquares.load(in, byUsual, BY_USUAL);
        LeastSquares.load(in, byYesterday, BY_YESTERDAY);
        meanSurprise = in.number();
        // earlier formats also held the last forecast, which follows from the rest
        for (int left = in.isBefore(5) ? 4 : 0; left > 0; left--) {
            in.number();
        }
    }
}
