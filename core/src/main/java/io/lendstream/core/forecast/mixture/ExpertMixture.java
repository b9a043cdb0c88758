package io.lendstream.core.forecast.mixture;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.Compact;
import io.lendstream.core.forecast.Coverage;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.LeastSquares;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Our own model: at each horizon a {@link Mixture} of experts, four that let a mean of the level over some time go on and two that add to
 * the {@link Season} what is left of a deviation, and around it a {@link Spread}.
 *
 * <p>The two work out by regression, with forgetting, how much of the deviations from the season over some minutes to hours is
 * still there a horizon later; one knows what is usual at a time of day, the other what was there a day before.
 */
public final class ExpertMixture implements ForecastModel {
    private static final double[] MEANS = {1, 0.4, 0.15, 0.05};
    private static final Duration[] DEVIATIONS = {
        Duration.ZERO, Duration.ofMinutes(15), Duration.ofMinutes(60), Duration.ofHours(6)
    };
    /** Which mean is the last level itself. */
    private static final int LAST = 0;
    /** Which mean tells the level after a shift. */
    private static final int CARRIED = 1;

    private static final int EXPERTS = MEANS.length + 2;
    private static final double REST_DAYS = 14;
    private static final double REST_RIDGE = 0.01;
    /** Added to the ridge over the observations there are: the first few hours of the second day teach little. */
    private static final double REST_PRIOR = 10;

    private static final double REGRET_DAYS = 3;
    private static final double SHIFT_DAYS = 7;
    private static final Duration BETWEEN_FITS = Duration.ofHours(1);
    /** A surprise beyond so many mean surprises has no more weight in a regression than one there. */
    private static final double FAR = 1.5;

    private static final double SURPRISE_GAIN = 0.005;
    private static final double MOST_SURPRISES = 5;
    /** No expert is followed beyond so many times the highest demand, which is forgotten over two weeks. */
    private static final double HIGHEST_TIMES = 3;

    private static final double HIGHEST_DAYS = 14;
    private static final double RECENT_STEPS = 200;
    /**
     * Requests in recent steps to which no error can be compared, and a day's mean that is none: what is remembered of a demand that
     * ended fades below.
     */
    private static final double NO_DEMAND = 1e-6;

    // features of the regressions: deviations, a constant, then usual there and here, then yesterday there and here
    private static final int CONSTANT = DEVIATIONS.length;
    private static final int FEATURES = CONSTANT + 5;
    private static final double ONE = 0.1;
    private static final int[] BY_USUAL = {0, 1, 2, 3, CONSTANT, CONSTANT + 1, CONSTANT + 2};
    private static final int[] BY_YESTERDAY = {0, 1, 2, 3, CONSTANT, CONSTANT + 3, CONSTANT + 4};

    // columns of what is pending: what was known, what experts said, what was said, how large an error was expected
    private static final int HERE = DEVIATIONS.length;
    private static final int SAID = HERE + 2;
    private static final int MIXED = SAID + EXPERTS;
    private static final int P50 = MIXED + 1;
    private static final int SIZE = P50 + 1;
    private static final int P10 = SIZE + 1;
    private static final int COLUMNS = P10 + 3;

    private final ForecastSettings settings;
    private final long fitEvery;
    private final double dayGain;
    private final double highestKeep;
    private final double[] deviationGains;
    private final int[] horizonSteps;
    private Season season;
    private ErrorsOfDay errorsOfDay;
    private HorizonModel[] aheads;
    private final double[] features = new double[FEATURES];
    private final double[] said = new double[EXPERTS];
    private final double[] means = new double[MEANS.length];
    private final double[] deviations = new double[DEVIATIONS.length];
    private double carried;
    private double usualHere;
    private double yesterdayHere;
    private double meanRequests;
    private double highest;
    private double observed;
    private double absoluteErrors;
    private double actuals;
    private long now = Long.MIN_VALUE;
    /** Whether forecasts are those of the present state: they are not part of it. */
    private boolean looked;

    public ExpertMixture(ForecastSettings settings) {
        this.settings = settings;
        double stepMillis = settings.step().toMillis();
        fitEvery = Math.max(1, Math.round(BETWEEN_FITS.toMillis() / stepMillis));
        dayGain = 1 / Math.max(1, settings.stepsPerDay());
        highestKeep = 1 - dayGain / HIGHEST_DAYS;
        deviationGains = Arrays.stream(DEVIATIONS)
                .mapToDouble(span -> Math.min(1, 2 / (1 + Math.max(1, span.toMillis() / stepMillis))))
                .toArray();
        horizonSteps = settings.horizonSteps();
        season = new Season(settings);
        errorsOfDay = errorsOfDay();
        aheads = aheads();
    }

    private ErrorsOfDay errorsOfDay() {
        return new ErrorsOfDay(
                settings,
                Arrays.stream(horizonSteps)
                        .mapToDouble(each -> 1.0 / Pending.stride(each))
                        .sum());
    }

    private HorizonModel[] aheads() {
        return Arrays.stream(horizonSteps).mapToObj(HorizonModel::new).toArray(HorizonModel[]::new);
    }

    /** Forgets everything: a service that had no demand, or none for weeks, begins with its first request. */
    private void beginAnew() {
        season = new Season(settings);
        errorsOfDay = errorsOfDay();
        aheads = aheads();
        Arrays.fill(means, 0);
        Arrays.fill(deviations, 0);
        meanRequests = 0;
        highest = 0;
        observed = 0;
        absoluteErrors = 0;
        actuals = 0;
    }

    @Override
    public void observe(long step, double arrivalsPerSecond) {
        double requests = arrivalsPerSecond * settings.stepSeconds();
        double level = Math.log1p(requests);
        if (requests > 0 && meanRequests < NO_DEMAND) {
            beginAnew();
        }
        move(step);
        highest = Math.max(requests, highest * highestKeep);
        double left = season.learn(step, level);
        boolean shifted = aheads[0].shift.on();
        for (HorizonModel ahead : aheads) {
            ahead.learn(step, requests, left);
        }
        observed = Math.min(observed + 1, 1 / dayGain);
        meanRequests += (requests - meanRequests) / observed;
        for (int i = 0; i < means.length; i++) {
            means[i] += (observed == 1 ? 1 : MEANS[i]) * (level - means[i]);
        }
        if (aheads[0].shift.on() && !shifted) {
            means[CARRIED] = level;
        }
        if (season.ready()) {
            for (int i = 0; i < deviations.length; i++) {
                deviations[i] += deviationGains[i] * (left - deviations[i]);
            }
        }
        carried = carried(step);
        note(step);
    }

    /** By how much the newest level, smoothed over a few steps, differs from what is usual at this time. */
    private double carried(long step) {
        return means[CARRIED] - (season.ready() ? season.waves(step) + season.usual(step) : 0);
    }

    @Override
    public void miss(long step) {
        move(step);
        // nothing is known of the minutes; what the hours showed is the best guess of them
        double slow = deviations[deviations.length - 1];
        for (int i = 0; i < deviations.length; i++) {
            deviations[i] += deviationGains[i] * (slow - deviations[i]);
        }
        note(step);
    }

    private void move(long step) {
        now = step;
        season.moveTo(step);
        usualHere = season.usualBefore();
        yesterdayHere = season.yesterdayBefore();
        if (season.ready() && Math.floorMod(step, fitEvery) == 0) {
            for (HorizonModel ahead : aheads) {
                ahead.fit();
            }
        }
    }

    private void note(long step) {
        for (HorizonModel ahead : aheads) {
            ahead.look(step);
        }
        looked = true;
    }

    @Override
    public List<HorizonQuantiles> forecast() {
        if (observed == 0) {
            return List.of();
        }
        if (!looked) {
            note(now);
        }
        List<HorizonQuantiles> lines = new ArrayList<>();
        double perSecond = 1 / settings.stepSeconds();
        for (int i = 0; i < aheads.length; i++) {
            HorizonModel ahead = aheads[i];
            lines.add(new HorizonQuantiles(
                    settings.horizons().get(i),
                    ahead.quantiles.p10() * perSecond,
                    ahead.p50 * perSecond,
                    ahead.quantiles.p90() * perSecond,
                    ahead.quantiles.p99() * perSecond,
                    Optional.empty(),
                    ahead.coverage.recent()));
        }
        return lines;
    }

    @Override
    public Optional<Double> recentError() {
        return actuals > NO_DEMAND ? Optional.of(absoluteErrors / actuals) : Optional.empty();
    }

    private void score(double requests, double median) {
        double keep = 1 - 1 / RECENT_STEPS;
        absoluteErrors = keep * absoluteErrors + Math.abs(requests - median);
        actuals = keep * actuals + requests;
    }

    @Override
    public void save(StateWriter out) {
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
        out.number(observed).number(absoluteErrors).number(actuals).number(now);
        for (HorizonModel ahead : aheads) {
            ahead.save(out);
        }
    }

    @Override
    public void load(StateReader in) {
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
        absoluteErrors = in.number();
        actuals = in.number();
        if (in.isBefore(5)) {
            // what the first horizon's p90 covered, which each horizon knows of itself since
            in.number();
            in.number();
        }
        now = in.wholeNumber();
        looked = false;
        for (HorizonModel ahead : aheads) {
            ahead.load(in);
        }
    }

    /** Everything of one horizon. */
    private final class HorizonModel {
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

        HorizonModel(int steps) {
            this.steps = steps;
            pending = new Pending(steps, COLUMNS);
            double originsPerDay = settings.stepsPerDay() / Pending.stride(steps);
            restKeep = 1 - 1 / (REST_DAYS * originsPerDay);
            shift = new LevelShift(SHIFT_DAYS * originsPerDay);
            mixture = new Mixture(EXPERTS, 1 - 1 / (REGRET_DAYS * originsPerDay), originsPerDay);
            spread = new Spread(
                    originsPerDay,
                    steps * settings.stepSeconds() / 3600,
                    (double) steps / Pending.stride(steps),
                    errorsOfDay);
        }

        /** Looks back at what was said of a step that is known now. */
        void learn(long step, double requests, double left) {
            int row = pending.at(step);
            if (row < 0) {
                return;
            }
            for (int i = 0; i < EXPERTS; i++) {
                said[i] = Compact.amount(pending.get(row + SAID + i));
            }
            double said50 = Compact.amount(pending.get(row + P50));
            if (season.ready() && !Double.isNaN(Compact.number(pending.get(row)))) {
                learnRest(step, row, left);
            }
            double mixed = Compact.amount(pending.get(row + MIXED));
            shift.learn(Math.log1p(requests) - Math.log1p(mixed));
            mixture.learn(said, mixed, requests);
            Spread.Quantiles then = new Spread.Quantiles(
                    Compact.amount(pending.get(row + P10)),
                    Compact.amount(pending.get(row + P10 + 1)),
                    Compact.amount(pending.get(row + P10 + 2)));
            spread.learn(
                    step, requests, said50, Compact.amount(pending.get(row + SIZE)), meanRequests, said[LAST], then);
            coverage.learn(Spread.isUnder(requests, then.p90(), said50), Spread.isUnder(requests, then.p99(), said50));
            if (this == aheads[0]) {
                score(requests, said50);
            }
        }

        private void learnRest(long step, int row, double left) {
            for (int i = 0; i < DEVIATIONS.length; i++) {
                features[i] = Compact.number(pending.get(row + i));
            }
            there(step, Compact.number(pending.get(row + HERE)), Compact.number(pending.get(row + HERE + 1)));
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
            features[CONSTANT + 1] = season.usual(target);
            features[CONSTANT + 2] = usual;
            features[CONSTANT + 3] = season.yesterday(target);
            features[CONSTANT + 4] = yesterday;
        }

        void fit() {
            double observations = rest.shown(CONSTANT) / (ONE * ONE);
            double ridge = REST_RIDGE + REST_PRIOR / (1 + observations);
            byUsual = rest.factorsWith(ridge, BY_USUAL);
            byYesterday = rest.factorsWith(ridge, BY_YESTERDAY);
        }

        /** Says what it expects as of a step, and keeps a note of it. */
        void look(long step) {
            if (observed == 0) {
                return;
            }
            long target = step + steps;
            for (int i = 0; i < means.length; i++) {
                said[i] = Math.expm1(means[i]);
            }
            boolean seasonal = season.ready();
            if (seasonal) {
                System.arraycopy(deviations, 0, features, 0, deviations.length);
                there(target, usualHere, yesterdayHere);
                double waves = season.waves(target);
                said[MEANS.length] = limited(waves + LeastSquares.of(byUsual, features));
                said[MEANS.length + 1] = limited(waves + LeastSquares.of(byYesterday, features));
            } else {
                said[MEANS.length] = Double.NaN;
                said[MEANS.length + 1] = Double.NaN;
            }
            double mixed = mixture.of(said);
            p50 = shift.on() || aheads[0].shift.on() ? shifted(target) : mixed;
            double size = spread.size(target, p50, meanRequests);
            quantiles = spread.around(p50, size, said[LAST]);
            int row = pending.begin(step);
            if (row < 0) {
                return;
            }
            for (int i = 0; i < deviations.length; i++) {
                pending.set(row + i, Compact.number(seasonal ? deviations[i] : Double.NaN));
            }
            pending.set(row + HERE, Compact.number(usualHere));
            pending.set(row + HERE + 1, Compact.number(yesterdayHere));
            for (int i = 0; i < EXPERTS; i++) {
                pending.set(row + SAID + i, Compact.amount(said[i]));
            }
            pending.set(row + MIXED, Compact.amount(mixed));
            pending.set(row + P50, Compact.amount(p50));
            pending.set(row + SIZE, Compact.amount(size));
            pending.set(row + P10, Compact.amount(quantiles.p10()));
            pending.set(row + P10 + 1, Compact.amount(quantiles.p90()));
            pending.set(row + P10 + 2, Compact.amount(quantiles.p99()));
        }

        /** After a shift what is usual at the target is as far off as it is now. */
        private double shifted(long target) {
            return limited(carried + (season.ready() ? season.waves(target) + season.usual(target) : 0));
        }

        private double limited(double level) {
            return Math.max(0, Math.min(HIGHEST_TIMES * highest, Math.expm1(level)));
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
            // before, what was said last came with it, which follows from all else
            for (int left = in.isBefore(5) ? 4 : 0; left > 0; left--) {
                in.number();
            }
        }
    }
}
