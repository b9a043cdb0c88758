package io.lendstream.core.forecast.mixture;

import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The model {@code lendstream}: at each horizon a {@link Mixture} of six experts, and around it a {@link Spread}. Four
 * experts continue a mean of the level over some time; two add the rest of a deviation to the {@link Season}.
 *
 * <p>These two find by regression, with forgetting, how much of a deviation from the season over minutes to hours
 * remains one horizon later. One uses the usual deviation at a time of day, the other the deviation of a day before.
 */
public final class ExpertMixture implements ForecastModel {
    private static final Duration BETWEEN_FITS = Duration.ofHours(1);
    private static final double RECENT_STEPS = 200;
    /**
     * Requests in recent steps below which errors are not compared, and a day's mean that counts as none: the memory of
     * a demand that ended fades below it.
     */
    private static final double NO_DEMAND = 1e-6;

    private final ForecastSettings settings;
    private final long fitEvery;
    private final HorizonModel.Scratch scratch = new HorizonModel.Scratch();
    private SeenDemand seen;
    private HorizonModel[] aheads;
    private double absoluteErrors;
    private double actuals;
    private long now = Long.MIN_VALUE;
    /** Whether forecasts are those of the present state: they are not part of it. */
    private boolean looked;

    public ExpertMixture(ForecastSettings settings) {
        this.settings = settings;
        double stepMillis = settings.step().toMillis();
        fitEvery = Math.max(1, Math.round(BETWEEN_FITS.toMillis() / stepMillis));
        seen = new SeenDemand(settings);
        aheads = aheads(seen);
    }

    private HorizonModel[] aheads(SeenDemand demand) {
        return Arrays.stream(settings.horizonSteps())
                .mapToObj(steps -> new HorizonModel(steps, settings, demand, scratch))
                .toArray(HorizonModel[]::new);
    }

    /** Forgets everything: a service that had no demand, or none for weeks, begins with its first request. */
    private void beginAnew() {
        seen = new SeenDemand(settings);
        aheads = aheads(seen);
        absoluteErrors = 0;
        actuals = 0;
    }

    @Override
    public void observe(long step, double arrivalsPerSecond) {
        double requests = arrivalsPerSecond * settings.stepSeconds();
        if (requests > 0 && seen.meanRequests() < NO_DEMAND) {
            beginAnew();
        }
        move(step);
        double left = seen.learn(step, requests, Math.log1p(requests));
        boolean shifted = aheads[0].isShifted();
        aheads[0].learn(step, requests, left).ifPresent(median -> score(requests, median));
        for (int i = 1; i < aheads.length; i++) {
            aheads[i].learn(step, requests, left);
        }
        seen.follow(step, requests, left, aheads[0].isShifted() && !shifted);
        note(step);
    }

    @Override
    public void miss(long step) {
        move(step);
        seen.miss();
        note(step);
    }

    private void move(long step) {
        now = step;
        seen.moveTo(step);
        if (seen.season().ready() && Math.floorMod(step, fitEvery) == 0) {
            for (HorizonModel ahead : aheads) {
                ahead.fit();
            }
        }
    }

    private void note(long step) {
        boolean shifted = aheads[0].isShifted();
        for (HorizonModel ahead : aheads) {
            ahead.look(step, shifted);
        }
        looked = true;
    }

    @Override
    public List<HorizonQuantiles> forecast() {
        if (seen.isNone()) {
            return List.of();
        }
        if (!looked) {
            note(now);
        }
        List<HorizonQuantiles> lines = new ArrayList<>();
        double perSecond = 1 / settings.stepSeconds();
        for (int i = 0; i < aheads.length; i++) {
            lines.add(aheads[i].quantiles(settings.horizons().get(i), perSecond));
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
        seen.save(out);
        out.number(absoluteErrors).number(actuals).number(now);
        for (HorizonModel ahead : aheads) {
            ahead.save(out);
        }
    }

    @Override
    public void load(StateReader in) {
        seen.load(in);
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
}
