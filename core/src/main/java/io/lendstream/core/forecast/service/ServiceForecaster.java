package io.lendstream.core.forecast.service;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.RecentCoverage;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.forecast.ForecastModel;
import io.lendstream.core.forecast.ForecastSettings;
import io.lendstream.core.forecast.demand.ClosedStep;
import io.lendstream.core.forecast.demand.DemandTracker;
import io.lendstream.core.forecast.snapshot.StateReader;
import io.lendstream.core.forecast.snapshot.StateWriter;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Forecasts the demand of one service. It takes request rates, and gives a forecast each time a step of demand is
 * complete. The Flink job and the replay both run this.
 */
public final class ServiceForecaster {
    private static final int OLDEST_FORMAT = 2;
    /** The standard deviations of a count by which demand must exceed its p99 for a forecast within the step. */
    private static final double BEYOND_CHANCE = 3;

    private final ForecastSettings settings;
    private final ServiceId service;
    private final DemandTracker tracker;
    private DomainId domain;
    private ForecastModel model;
    private long lastStep = Long.MIN_VALUE;
    private long duplicates;
    private long late;
    /** The last forecast's p99 of the step after it, NaN if the first horizon is longer; and its time of issue. */
    private double toldP99 = Double.NaN;

    private long toldAt = Long.MIN_VALUE;

    /** @param domain the domain of the service's first record; later records may move it */
    public ServiceForecaster(ForecastSettings settings, ServiceId service, DomainId domain) {
        this.settings = settings;
        this.service = service;
        this.domain = domain;
        tracker = new DemandTracker(settings.step());
        model = Models.create(settings);
    }

    /** Throws if no source could have measured this; the message names the cause. */
    public static void check(RequestRate rate) {
        DemandTracker.check(rate);
    }

    /**
     * Takes in a record of this service.
     *
     * @return the newest forecast, if the record completed a step
     */
    public Optional<DemandForecast> observe(RequestRate rate) {
        if (!rate.service().equals(service)) {
            throw new IllegalArgumentException(
                    "the forecaster of %s was given a record of %s".formatted(service, rate.service()));
        }
        switch (tracker.add(rate)) {
            case DUPLICATE -> duplicates++;
            case LATE -> late++;
            case COUNTED -> {}
        }
        domain = rate.domain();
        return look();
    }

    /** Event time has reached this time: steps no longer wait for sources that should have reported before it. */
    public Optional<DemandForecast> advanceTo(Instant now) {
        tracker.advanceTo(now.toEpochMilli());
        return look();
    }

    private Optional<DemandForecast> look() {
        List<ClosedStep> steps = tracker.close();
        for (ClosedStep step : steps) {
            if (lastStep != Long.MIN_VALUE && step.number() != lastStep + 1) {
                model = Models.create(settings);
            }
            if (step.arrivalsPerSecond().isPresent()) {
                model.observe(step.number(), step.arrivalsPerSecond().getAsDouble());
            } else {
                model.miss(step.number());
            }
            lastStep = step.number();
        }
        List<HorizonQuantiles> horizons = steps.isEmpty() ? List.of() : model.forecast();
        if (horizons.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(told(horizons, tracker.closedTo()));
    }

    private DemandForecast told(List<HorizonQuantiles> horizons, long at) {
        HorizonQuantiles first = horizons.get(0);
        toldP99 = first.horizon().equals(settings.step()) ? first.p99() : Double.NaN;
        toldAt = at;
        return new DemandForecast(
                service,
                domain,
                Instant.ofEpochMilli(at),
                settings.step(),
                settings.model(),
                horizons,
                model.recentError(),
                first.recent().map(RecentCoverage::p90));
    }

    /**
     * A forecast within a step, if its demand exceeds the forecast p99 by more than chance; it assumes that the step
     * goes on like that. It is issued at the time up to which all sources have reported, at most one for each window.
     * The models learn from the step after its end, as always. A fall causes no such forecast. If the first horizon is
     * longer than a step, there is no such forecast either, because the open step had no forecast.
     */
    public Optional<DemandForecast> early() {
        return tracker.part().filter(this::isBeyondBand).map(this::toldEarly);
    }

    private boolean isBeyondBand(DemandTracker.Part part) {
        double most = toldP99 * part.coveredMillis() / 1000;
        return part.number() == lastStep + 1
                && part.reportedTo() - part.windowMillis() >= toldAt
                && part.arrivals() > most + BEYOND_CHANCE * Math.sqrt(most);
    }

    private DemandForecast toldEarly(DemandTracker.Part part) {
        StateWriter now = new StateWriter();
        model.save(now);
        ForecastModel ahead = Models.create(settings);
        ahead.load(new StateReader(now.bytes()));
        ahead.observe(part.number(), part.arrivals() * 1000.0 / part.coveredMillis());
        return told(ahead.forecast(), part.reportedTo());
    }

    /**
     * The latest time at which {@link #advanceTo} must be called if no record comes before: the open step closes then,
     * even if sources are silent. Empty if there is no open step.
     */
    public Optional<Instant> closesBy() {
        OptionalLong by = tracker.closesBy();
        return by.isPresent() ? Optional.of(Instant.ofEpochMilli(by.getAsLong())) : Optional.empty();
    }

    public ForecastSettings settings() {
        return settings;
    }

    public ServiceId service() {
        return service;
    }

    /** Records that were left out because they had been seen before. */
    public long duplicates() {
        return duplicates;
    }

    /** Records that came, in part or whole, after their step was closed. */
    public long late() {
        return late;
    }

    /** Its whole state, settings included; {@link #restore} goes on from it as if nothing had happened. */
    public byte[] snapshot() {
        StateWriter out = new StateWriter().integer(StateWriter.FORMAT);
        out.text(settings.model())
                .duration(settings.step())
                .count(settings.horizons().size());
        settings.horizons().forEach(out::duration);
        out.text(service.value()).text(domain.value());
        out.number(lastStep).number(duplicates).number(late);
        out.number(toldP99).number(toldAt);
        tracker.save(out);
        model.save(out);
        return out.bytes();
    }

    /** Whether {@link #restore} can read snapshots of a format. */
    public static boolean reads(int format) {
        return format >= OLDEST_FORMAT && format <= StateWriter.FORMAT;
    }

    public static ServiceForecaster restore(byte[] snapshot) {
        StateReader in = new StateReader(snapshot);
        int format = in.integer();
        if (!reads(format)) {
            throw new IllegalArgumentException(
                    "the forecaster's state has format %d, but this version reads %d to %d; start it without the old state"
                            .formatted(format, OLDEST_FORMAT, StateWriter.FORMAT));
        }
        in.of(format);
        String model = in.text();
        Duration step = in.duration();
        List<Duration> horizons = new ArrayList<>();
        for (int left = in.count(Long.BYTES); left > 0; left--) {
            horizons.add(in.duration());
        }
        ServiceForecaster forecaster = new ServiceForecaster(
                new ForecastSettings(model, step, horizons), new ServiceId(in.text()), new DomainId(in.text()));
        forecaster.lastStep = in.wholeNumber();
        forecaster.duplicates = in.wholeNumber();
        forecaster.late = in.wholeNumber();
        if (!in.isBefore(3)) {
            forecaster.toldP99 = in.number();
            forecaster.toldAt = in.wholeNumber();
        }
        forecaster.tracker.load(in);
        forecaster.model.load(in);
        in.end();
        return forecaster;
    }
}
