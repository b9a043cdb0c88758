package io.lendstream.simulator.report;

import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.report.Bins.Bin;
import io.lendstream.simulator.report.ReportedRun.ForecastPoint;
import io.lendstream.simulator.report.ReportedRun.Point;
import io.lendstream.simulator.report.ReportedRun.ServiceFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Observes one inference service. */
final class ServiceWatch {
    private final ServiceId service;
    private final Bins demand = new Bins();
    private final Bins p50 = new Bins();
    private final Bins p99 = new Bins();
    private Optional<Steps> replicas = Optional.empty();

    private final Map<String, RequestRate> latest = new TreeMap<>();
    private Instant demandUpTo = Instant.MIN;
    private Instant pending = Instant.MIN;
    private long requests;

    private Optional<InferenceService> spec = Optional.empty();
    private Optional<Duration> lead = Optional.empty();
    private long requestsJudged;
    private long requestsKept;

    ServiceWatch(ServiceId service) {
        this.service = service;
    }

    void take(InferenceService newSpec) {
        spec = Optional.of(newSpec);
    }

    /** Returns whether the record was news, not a repetition. */
    boolean take(RequestRate rate) {
        Optional<RequestRate> before = Optional.ofNullable(latest.get(rate.source()));
        if (before.isPresent()
                && before.get().bootId().equals(rate.bootId())
                && before.get().sequence() >= rate.sequence()) {
            return false;
        }
        if (rate.windowEnd().isAfter(pending)) {
            closeWindow(demand);
            demandUpTo = pending;
            pending = rate.windowEnd();
        }
        latest.put(rate.source(), rate);
        requests += rate.requests().arrivals();
        judge(rate);
        return true;
    }

    private void judge(RequestRate rate) {
        if (spec.isEmpty() || rate.latency().p99LatencySeconds().isEmpty()) {
            return;
        }
        requestsJudged += rate.requests().arrivals();
        double sloSeconds = spec.get().slo().toMillis() / 1000.0;
        requestsKept += rate.latency().p99LatencySeconds().get() <= sloSeconds
                ? rate.requests().arrivals()
                : 0;
    }

    /** The service's demand is the sum over its sources, each by its latest window unless that is long ago. */
    private void closeWindow(Bins into) {
        if (latest.isEmpty()) {
            return;
        }
        double perSecond = 0;
        Instant from = pending;
        Iterator<RequestRate> sources = latest.values().iterator();
        while (sources.hasNext()) {
            RequestRate rate = sources.next();
            if (rate.windowEnd().plus(rate.window().multipliedBy(2)).isBefore(pending)) {
                continue;
            }
            perSecond += rate.arrivalsPerSecond();
            if (rate.windowEnd().equals(pending) && rate.windowStart().isBefore(from)) {
                from = rate.windowStart();
            }
        }
        into.hold(from.isBefore(demandUpTo) ? demandUpTo : from, pending, perSecond);
    }

    void take(DemandForecast forecast, Duration wantedLead) {
        HorizonQuantiles chosen = forecast.horizons().stream()
                .filter(quantiles -> quantiles.horizon().compareTo(wantedLead) >= 0)
                .findFirst()
                .orElse(forecast.horizons().get(forecast.horizons().size() - 1));
        Instant to = forecast.issuedAt().plus(chosen.horizon());
        Instant from = to.minus(forecast.step());
        p50.hold(from, to, chosen.p50());
        p99.hold(from, to, chosen.p99());
        lead = Optional.of(chosen.horizon());
    }

    void replicas(Instant at, double change) {
        Steps steps = replicas.orElseGet(() -> new Steps(at));
        replicas = Optional.of(steps);
        steps.add(at, change);
    }

    void upTo(Instant now) {
        replicas.ifPresent(steps -> steps.upTo(now));
    }

    long requestsJudged() {
        return requestsJudged;
    }

    long requestsKept() {
        return requestsKept;
    }

    long widthMillis() {
        long width = Math.max(demand.widthMillis(), Math.max(p50.widthMillis(), p99.widthMillis()));
        return replicas.map(steps -> Math.max(width, steps.bins().widthMillis()))
                .orElse(width);
    }

    ServiceFacts facts(long widthMillis, Instant now) {
        Bins demandSoFar = demand.copy();
        closeWindow(demandSoFar);
        return new ServiceFacts(
                service,
                requests,
                spec.filter(InferenceService::takesKindsAsAlike).map(InferenceService::replicaCapacityPerSecond),
                lead,
                points(demandSoFar, widthMillis),
                forecasts(widthMillis, now),
                replicas.map(steps -> points(steps.bins(), widthMillis)).orElse(List.of()));
    }

    private static List<Point> points(Bins bins, long widthMillis) {
        return bins.bins(widthMillis).stream()
                .filter(Bin::known)
                .map(bin -> new Point(bin.at(), bin.mean(), bin.peak()))
                .toList();
    }

    private List<ForecastPoint> forecasts(long widthMillis, Instant now) {
        List<Bin> low = p50.bins(widthMillis);
        List<Bin> high = p99.bins(widthMillis);
        List<ForecastPoint> points = new ArrayList<>();
        for (int i = 0; i < high.size(); i++) {
            if (high.get(i).known() && high.get(i).at().isBefore(now)) {
                points.add(new ForecastPoint(
                        high.get(i).at(), low.get(i).peak(), high.get(i).peak()));
            }
        }
        return points;
    }
}
