package io.lendstream.core.forecast.baseline;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.Coverage;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.Level;
import io.lendstream.core.forecast.PointModel;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A point model with quantiles around it. A quantile is the forecast times a quantile of the model's recent log errors
 * at that horizon. The levels at which these are read are corrected until they cover their share. Only errors already
 * known count.
 *
 * <p>{@code log error = ln((actual + offset) / (forecast + offset))}, the offset being one request a step and 5 % of
 * mean demand, so that hours without a request do not make every other forecast boundless.
 */
public final class Calibrated implements ForecastModel {
    private static final double OFFSET_REQUESTS = 1;
    private static final double OFFSET_OF_MEAN = 0.05;
    /** Scale of the logistic first guess at one step: p99 at two and a half times the forecast. */
    private static final double FIRST_GUESS = 0.2;

    private static final double FIRST_GUESS_GROWTH = 1.0 / 6;
    private static final double GAIN = 0.01;
    private static final double TAIL_GAIN = 0.003;
    private static final double RECENT_STEPS = 200;
    private static final double LARGEST_LEVEL = 40;
    /**
     * Requests in recent steps below which errors are not compared; the memory of a demand that ended fades below it.
     */
    private static final double NO_DEMAND = 1e-6;

    private final PointModel point;
    private final ForecastSettings settings;
    private final double meanMemorySteps;
    private final Band[] bands;
    private double meanRequests;
    private double observed;
    private double absoluteErrors;
    private double actuals;
    private long now = Long.MIN_VALUE;

    public Calibrated(ForecastSettings settings, PointModel point) {
        this.settings = settings;
        this.point = point;
        meanMemorySteps = Math.max(100, settings.stepsPerDay());
        int[] steps = settings.horizonSteps();
        bands = Arrays.stream(steps).mapToObj(Band::new).toArray(Band[]::new);
    }

    @Override
    public void observe(long step, double arrivalsPerSecond) {
        double requests = arrivalsPerSecond * settings.stepSeconds();
        double offset = offset();
        score(step, requests);
        for (Band band : bands) {
            band.learn(step, requests, offset);
        }
        observed = Math.min(observed + 1, meanMemorySteps);
        meanRequests += (requests - meanRequests) / observed;
        point.observe(step, Math.log1p(requests));
        look(step);
    }

    @Override
    public void miss(long step) {
        point.miss(step);
        look(step);
    }

    private double offset() {
        return OFFSET_REQUESTS + OFFSET_OF_MEAN * meanRequests;
    }

    private void look(long step) {
        now = step;
        double offset = offset();
        for (int horizon = 0; horizon < bands.length; horizon++) {
            double level = Math.max(0, Math.min(LARGEST_LEVEL, point.ahead(horizon)));
            bands[horizon].look(step, Math.expm1(level), offset);
        }
    }

    private void score(long step, double requests) {
        double median = bands[0].center.at(step);
        if (Double.isNaN(median)) {
            return;
        }
        double keep = 1 - 1 / RECENT_STEPS;
        absoluteErrors = keep * absoluteErrors + Math.abs(requests - median);
        actuals = keep * actuals + requests;
    }

    @Override
    public List<HorizonQuantiles> forecast() {
        if (observed == 0) {
            return List.of();
        }
        List<HorizonQuantiles> lines = new ArrayList<>();
        for (int horizon = 0; horizon < bands.length; horizon++) {
            Band band = bands[horizon];
            double perSecond = 1 / settings.stepSeconds();
            lines.add(new HorizonQuantiles(
                    settings.horizons().get(horizon),
                    band.p10.at(now) * perSecond,
                    band.center.at(now) * perSecond,
                    band.p90.at(now) * perSecond,
                    band.p99.at(now) * perSecond,
                    Optional.empty(),
                    band.coverage.recent()));
        }
        return lines;
    }

    @Override
    public Optional<Double> recentError() {
        return actuals > NO_DEMAND ? Optional.of(absoluteErrors / actuals) : Optional.empty();
    }

    @Override
    public void save(StateWriter out) {
        out.number(meanRequests).number(observed).number(absoluteErrors).number(actuals);
        out.number(now);
        point.save(out);
        for (Band band : bands) {
            band.save(out);
        }
    }

    @Override
    public void load(StateReader in) {
        meanRequests = in.number();
        observed = in.number();
        absoluteErrors = in.number();
        actuals = in.number();
        if (in.isBefore(5)) {
            // what the first horizon's p90 covered, which each horizon knows of itself since
            in.number();
            in.number();
        }
        now = in.wholeNumber();
        point.load(in);
        for (Band band : bands) {
            band.load(in);
        }
    }

    /** The quantiles of one horizon, in requests a step. */
    private static final class Band {
        private final RecentOutcomes center;
        private final RecentOutcomes p10;
        private final RecentOutcomes p90;
        private final RecentOutcomes p99;
        private final ErrorHistogram errors;
        private final Level at10;
        private final Level at90;
        private final Level at99;
        private final Coverage coverage = new Coverage();

        Band(int steps) {
            center = new RecentOutcomes(steps);
            p10 = new RecentOutcomes(steps);
            p90 = new RecentOutcomes(steps);
            p99 = new RecentOutcomes(steps);
            // forecasts a step apart share most of the way to a far horizon: they err together
            double overlap = 1 + (steps - 1) / 4.0;
            errors = new ErrorHistogram(FIRST_GUESS * Math.pow(steps, FIRST_GUESS_GROWTH), overlap);
            at10 = new Level(0.1, GAIN / overlap, 0, 0.005, 0.3);
            at90 = new Level(0.9, GAIN / overlap, 0, 0.7, 0.995);
            at99 = new Level(0.99, TAIL_GAIN / overlap, 0, 0.97, 0.9995);
        }

        void learn(long step, double requests, double offset) {
            double forecast = center.at(step);
            if (Double.isNaN(forecast)) {
                return;
            }
            errors.add(Math.log((requests + offset) / (forecast + offset)));
            boolean underP90 = requests <= p90.at(step);
            boolean underP99 = requests <= p99.at(step);
            at10.learn(requests <= p10.at(step));
            at90.learn(underP90);
            at99.learn(underP99);
            coverage.learn(underP90, underP99);
        }

        /** Removes the forecast for this step and notes the forecast made at it. */
        void look(long step, double forecast, double offset) {
            center.put(step, forecast);
            double low = Math.max(0, Math.min(forecast, around(forecast, offset, at10.level())));
            double high = Math.max(forecast, around(forecast, offset, at90.level()));
            p10.put(step, low);
            p90.put(step, high);
            p99.put(step, Math.max(high, around(forecast, offset, at99.level())));
        }

        private double around(double forecast, double offset, double level) {
            return (forecast + offset) * Math.exp(errors.quantile(level)) - offset;
        }

        void save(StateWriter out) {
            for (RecentOutcomes past : new RecentOutcomes[] {center, p10, p90, p99}) {
                past.save(out);
            }
            errors.save(out);
            at10.save(out);
            at90.save(out);
            at99.save(out);
            coverage.save(out);
        }

        void load(StateReader in) {
            for (RecentOutcomes past : new RecentOutcomes[] {center, p10, p90, p99}) {
                past.load(in);
            }
            errors.load(in);
            at10.load(in);
            at90.load(in);
            at99.load(in);
            coverage.load(in);
        }
    }
}
