package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Drawing.Swatch;
import io.lendstream.simulator.report.Panel.At;
import io.lendstream.simulator.report.ReportedRun.ForecastPoint;
import io.lendstream.simulator.report.ReportedRun.Point;
import io.lendstream.simulator.report.ReportedRun.ServiceFacts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** One service over time: demand with its forecast and the capacity for it, and replicas below. */
final class ServiceChart {
    private final ReportedRun run;
    private final ServiceFacts service;
    private final double end;
    private final Panel demand;
    private final Panel replicas;
    private final List<Mark> marks = new ArrayList<>();

    private ServiceChart(ReportedRun run, ServiceFacts service) {
        this.run = run;
        this.service = service;
        this.end = Charts.seconds(run, run.to());
        double mostReplicas =
                service.replicas().stream().mapToDouble(Point::peak).max().orElse(0);
        Scale x = Scale.time(end);
        this.demand =
                new Panel(62, Drawing.NARROW - 12, 24, 150, x, Scale.linear(most(service, mostReplicas), 4, false));
        this.replicas = new Panel(62, Drawing.NARROW - 12, 184, 232, x, Scale.linear(mostReplicas, 2, true));
    }

    static Drawing of(ReportedRun run, ServiceFacts service) {
        var chart = new ServiceChart(run, service);
        chart.drawDemand();
        chart.drawReplicas();
        chart.addHints();
        return new Drawing(
                service.service().value(),
                "%s requests.".formatted(Text.number(service.requests())),
                chart.legend(),
                Drawing.NARROW,
                278,
                "Demand, forecast and replicas of " + service.service().value(),
                chart.marks);
    }

    /** Requests per second at the upper end of the scale: capacity far above demand is cut off. */
    private static double most(ServiceFacts service, double mostReplicas) {
        double mostDemand = Math.max(
                service.demand().stream().mapToDouble(Point::peak).max().orElse(0),
                service.forecast().stream()
                        .mapToDouble(ForecastPoint::p99)
                        .max()
                        .orElse(0));
        double mostCapacity = service.replicaCapacityPerSecond()
                .map(each -> each * mostReplicas)
                .orElse(0.0);
        return Math.max(mostDemand, Math.min(mostCapacity, mostDemand * 1.8));
    }

    private void drawDemand() {
        marks.addAll(demand.yAxis("requests/s"));
        marks.addAll(demand.xGrid());
        List<At> p50 = service.forecast().stream()
                .map(point -> new At(seconds(point.at()), point.p50()))
                .toList();
        List<At> p99 = service.forecast().stream()
                .map(point -> new At(seconds(point.at()), point.p99()))
                .toList();
        marks.addAll(demand.area(p50, p99, end, "band"));
        marks.addAll(demand.steps(p50, end, "median"));
        service.replicaCapacityPerSecond().ifPresent(capacity -> {
            List<At> able = service.replicas().stream()
                    .map(point -> new At(seconds(point.at()), point.peak() * capacity))
                    .toList();
            marks.addAll(demand.steps(able, end, "capacity"));
        });
        marks.addAll(demand.steps(peaks(service.demand()), end, "demand"));
    }

    private void drawReplicas() {
        marks.addAll(replicas.yAxis("replicas"));
        marks.addAll(replicas.xAxis(Charts.timeTitle(run, end)));
        List<At> serving = peaks(service.replicas());
        List<At> zero = serving.stream().map(point -> new At(point.x(), 0)).toList();
        marks.addAll(replicas.area(zero, serving, end, "owner " + Charts.style(OwnerGroup.SERVING)));
    }

    private List<Swatch> legend() {
        List<Swatch> legend = new ArrayList<>();
        legend.add(new Swatch("stroke demand", "demand", "requests offered per second"));
        if (!service.forecast().isEmpty()) {
            legend.add(new Swatch(
                    "box band",
                    "forecast p50–p99"
                            + service.forecastLead()
                                    .map(lead -> ", " + Text.duration(lead.toMillis() / 1000.0) + " ahead")
                                    .orElse(""),
                    "what had been expected that long before"));
        }
        if (service.replicaCapacityPerSecond().isPresent()) {
            legend.add(
                    new Swatch("stroke capacity", "capacity of replicas", "serving replicas times what one answers"));
        }
        return legend;
    }

    private List<At> peaks(List<Point> points) {
        return points.stream()
                .map(point -> new At(seconds(point.at()), point.peak()))
                .toList();
    }

    private void addHints() {
        Map<Instant, ForecastPoint> forecasts = new TreeMap<>();
        service.forecast().forEach(point -> forecasts.put(point.at(), point));
        Map<Instant, Point> counts = new TreeMap<>();
        service.replicas().forEach(point -> counts.put(point.at(), point));
        List<Point> points = service.demand();
        int stride = Charts.stride(points.size(), Charts.HINTS);
        for (int i = 0; i < points.size(); i += stride) {
            Point point = points.get(i);
            StringBuilder text = new StringBuilder("after " + Text.elapsed(run.from(), point.at()));
            text.append("\ndemand: ").append(Text.number(point.peak())).append(" requests/s");
            Optional.ofNullable(forecasts.get(point.at()))
                    .ifPresent(forecast -> text.append("\nforecast p50: ")
                            .append(Text.number(forecast.p50()))
                            .append(", p99: ")
                            .append(Text.number(forecast.p99())));
            Optional.ofNullable(counts.get(point.at()))
                    .ifPresent(serving -> text.append("\nreplicas: ").append(Text.number(serving.peak())));
            double to =
                    i + stride < points.size() ? seconds(points.get(i + stride).at()) : end;
            marks.add(demand.hint(seconds(point.at()), to, text.toString()));
        }
    }

    private double seconds(Instant at) {
        return Charts.seconds(run, at);
    }
}
