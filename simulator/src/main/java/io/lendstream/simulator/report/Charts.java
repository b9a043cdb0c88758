package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Drawing.Swatch;
import io.lendstream.simulator.report.Panel.At;
import io.lendstream.simulator.report.RunFacts.CurvePoint;
import io.lendstream.simulator.report.RunFacts.Delays;
import io.lendstream.simulator.report.RunFacts.ForecastPoint;
import io.lendstream.simulator.report.RunFacts.OwnerSample;
import io.lendstream.simulator.report.RunFacts.Point;
import io.lendstream.simulator.report.RunFacts.Run;
import io.lendstream.simulator.report.RunFacts.ServiceFacts;
import io.lendstream.simulator.report.RunFacts.Turnover;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The report's drawings. */
final class Charts {
    private static final int HINTS = 96;
    private static final int BARS = 130;
    private static final int CURVE_POINTS = 300;
    private static final int RUN_STYLES = 6;

    /** Delays below are not drawn: nobody notices them. */
    private static final double SHORTEST_DELAY = 0.1;

    /** A share of requests below which the curve ends. */
    private static final double RAREST_DELAY = 1e-4;

    private Charts() {}

    /** A line of a chart that compares runs; {@code style} is a class of the page's sheet. */
    record Curve(String name, String style, List<Double> seconds, Optional<Delays> delays) {}

    static Drawing owners(Run run, double longestSeconds, double mostGpus) {
        Panel panel =
                new Panel(58, Drawing.WIDE - 12, 24, 270, Scale.time(longestSeconds), Scale.linear(mostGpus, 6, true));
        List<OwnerSample> samples = run.owners();
        double end = seconds(run, run.to());
        List<Mark> marks = new ArrayList<>(panel.yAxis("GPUs"));
        marks.addAll(panel.xAxis(timeTitle(run, longestSeconds)));
        List<At> lower = samples.stream()
                .map(sample -> new At(seconds(run, sample.at()), 0))
                .toList();
        List<Swatch> legend = new ArrayList<>();
        for (OwnerGroup group : OwnerGroup.values()) {
            if (samples.stream().noneMatch(sample -> sample.of(group) > 0)) {
                continue;
            }
            List<At> upper = new ArrayList<>(samples.size());
            for (int i = 0; i < samples.size(); i++) {
                upper.add(new At(
                        lower.get(i).x(), lower.get(i).y() + samples.get(i).of(group)));
            }
            marks.addAll(panel.area(lower, upper, end, "owner " + style(group)));
            legend.add(new Swatch("box " + style(group), group.label(), group.meaning()));
            lower = upper;
        }
        int stride = stride(samples.size(), HINTS);
        for (int i = 0; i < samples.size(); i += stride) {
            StringBuilder text = new StringBuilder(
                    "after " + Text.elapsed(run.from(), samples.get(i).at()));
            for (OwnerGroup group : OwnerGroup.values()) {
                double gpus = samples.get(i).of(group);
                if (gpus > 0) {
                    text.append("\n").append(group.label()).append(": ").append(Text.number(gpus));
                }
            }
            double to = i + stride < samples.size()
                    ? seconds(run, samples.get(i + stride).at())
                    : end;
            marks.add(panel.hint(seconds(run, samples.get(i).at()), to, text.toString()));
        }
        return new Drawing(
                run.name(),
                "Mean over " + Text.duration(run.sampleStep().toMillis() / 1000.0) + " a point.",
                legend,
                Drawing.WIDE,
                316,
                "GPUs by owner over time",
                marks);
    }

    static Drawing completions(List<Curve> curves) {
        List<Curve> drawn =
                curves.stream().filter(curve -> !curve.seconds().isEmpty()).toList();
        double low = drawn.stream()
                .mapToDouble(curve -> curve.seconds().get(0))
                .min()
                .orElse(1);
        double high = drawn.stream()
                .mapToDouble(curve -> curve.seconds().get(curve.seconds().size() - 1))
                .max()
                .orElse(1);
        boolean logarithmic = high > 30 * low;
        Scale x = logarithmic ? Scale.logDuration(Math.max(1, low * 0.8), high * 1.1) : Scale.time(high * 1.03);
        Panel panel = new Panel(58, Drawing.WIDE - 12, 24, 270, x, Scale.share());
        List<Mark> marks = new ArrayList<>(panel.yAxis("share of finished jobs"));
        marks.addAll(panel.xAxis("completion time, submission to end"
                + (logarithmic
                        ? " (log scale)"
                        : ", in " + Scale.timeUnit(high * 1.03).symbol())));
        List<Swatch> legend = new ArrayList<>();
        for (Curve curve : drawn) {
            marks.addAll(panel.line(distribution(curve.seconds()), "curve " + curve.style()));
            legend.add(new Swatch("stroke " + curve.style(), curve.name(), curve.name()));
        }
        return new Drawing(
                "Job completion times",
                "Further left and further up is better.",
                legend,
                Drawing.WIDE,
                316,
                "Cumulative distribution of job completion times",
                marks);
    }

    private static List<At> distribution(List<Double> sorted) {
        double[] values = sorted.stream().mapToDouble(Double::doubleValue).toArray();
        List<At> points = new ArrayList<>();
        if (values.length > CURVE_POINTS) {
            for (int i = 0; i <= CURVE_POINTS; i++) {
                double share = (double) i / CURVE_POINTS;
                points.add(new At(Delays.quantile(values, share), share));
            }
            return points;
        }
        for (int i = 0; i < values.length; i++) {
            points.add(new At(values[i], (double) i / values.length));
            points.add(new At(values[i], (i + 1.0) / values.length));
        }
        return points;
    }

    static Drawing delays(String title, String note, List<Curve> curves) {
        List<Curve> drawn = curves.stream()
                .filter(curve ->
                        curve.delays().filter(each -> each.maxSeconds() > 0).isPresent())
                .toList();
        if (drawn.isEmpty()) {
            return new Drawing(title, "No request had to wait.", List.of(), Drawing.NARROW, 0, title, List.of());
        }
        double high = drawn.stream()
                .mapToDouble(curve -> curve.delays().orElseThrow().maxSeconds())
                .max()
                .orElse(1);
        Panel panel = new Panel(
                62,
                Drawing.NARROW - 14,
                24,
                220,
                Scale.logDuration(SHORTEST_DELAY, Math.max(1, high * 1.3)),
                Scale.logShare(RAREST_DELAY));
        List<Mark> marks = new ArrayList<>(panel.yAxis("share of requests delayed longer (log scale)"));
        marks.addAll(panel.xAxis("delay (log scale)"));
        List<Swatch> legend = new ArrayList<>();
        for (Curve curve : drawn) {
            List<At> points = new ArrayList<>();
            for (CurvePoint point : curve.delays().orElseThrow().curve()) {
                if (point.seconds() < SHORTEST_DELAY || 1 - point.share() < RAREST_DELAY) {
                    continue;
                }
                points.add(new At(point.seconds(), 1 - point.share()));
            }
            marks.addAll(panel.line(points, "curve " + curve.style()));
            legend.add(new Swatch("stroke " + curve.style(), curve.name(), curve.name()));
        }
        return new Drawing(title, note, legend, Drawing.NARROW, 264, title, marks);
    }

    /** Requests that were answered too late, a bar a run. */
    static Drawing slo(List<Run> runs) {
        List<Double> late = runs.stream()
                .map(run -> run.inference()
                        .sloAttainment()
                        .map(share -> 100 * (1 - share))
                        .orElse(0.0))
                .toList();
        double most = late.stream()
                .filter(Double::isFinite)
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(0);
        Panel panel = new Panel(
                62,
                Drawing.NARROW - 14,
                24,
                220,
                new Scale.Linear(0, runs.size(), List.of()),
                Scale.linear(most * 1.1, 4, false));
        List<Mark> marks = new ArrayList<>(panel.yAxis("requests beyond their SLO, %"));
        List<Swatch> legend = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            Optional<Double> share = runs.get(i).inference().sloAttainment();
            if (share.isEmpty()) {
                continue;
            }
            marks.add(panel.bar(i + 0.2, i + 0.8, 0, late.get(i), "bar " + runStyle(i)));
            marks.add(new Mark.Label(
                    "tick",
                    Mark.Align.MIDDLE,
                    new Mark.Place(panel.xOf(i + 0.5), panel.yOf(late.get(i)) - 5),
                    Text.percent(share.get())));
            legend.add(new Swatch(
                    "box bar " + runStyle(i), runs.get(i).name(), runs.get(i).name()));
        }
        marks.add(new Mark.Line("base", new Mark.Place(62, 220), new Mark.Place(Drawing.NARROW - 14, 220)));
        return new Drawing(
                "SLO attainment",
                "Share of requests answered within their SLO.",
                legend,
                Drawing.NARROW,
                264,
                "Requests beyond their SLO, a bar a run",
                marks);
    }

    static Drawing service(Run run, ServiceFacts service) {
        double end = seconds(run, run.to());
        double mostDemand = Math.max(
                service.demand().stream().mapToDouble(Point::peak).max().orElse(0),
                service.forecast().stream()
                        .mapToDouble(ForecastPoint::p99)
                        .max()
                        .orElse(0));
        double mostReplicas =
                service.replicas().stream().mapToDouble(Point::peak).max().orElse(0);
        Optional<Double> capacity = service.replicaCapacityPerSecond();
        double mostCapacity = capacity.map(each -> each * mostReplicas).orElse(0.0);
        double most = Math.max(mostDemand, Math.min(mostCapacity, mostDemand * 1.8));

        Panel demand = new Panel(62, Drawing.NARROW - 12, 24, 150, Scale.time(end), Scale.linear(most, 4, false));
        Panel replicas =
                new Panel(62, Drawing.NARROW - 12, 184, 232, Scale.time(end), Scale.linear(mostReplicas, 2, true));
        List<Mark> marks = new ArrayList<>(demand.yAxis("requests/s"));
        marks.addAll(demand.xGrid());
        List<Swatch> legend = new ArrayList<>();
        List<At> p50 = service.forecast().stream()
                .map(point -> new At(seconds(run, point.at()), point.p50()))
                .toList();
        List<At> p99 = service.forecast().stream()
                .map(point -> new At(seconds(run, point.at()), point.p99()))
                .toList();
        marks.addAll(demand.area(p50, p99, end, "band"));
        marks.addAll(demand.steps(p50, end, "median"));
        if (capacity.isPresent()) {
            List<At> able = service.replicas().stream()
                    .map(point -> new At(seconds(run, point.at()), point.peak() * capacity.get()))
                    .toList();
            marks.addAll(demand.steps(able, end, "capacity"));
        }
        marks.addAll(demand.steps(peaks(run, service.demand()), end, "demand"));
        marks.addAll(replicas.yAxis("replicas"));
        marks.addAll(replicas.xAxis(timeTitle(run, end)));
        List<At> serving = peaks(run, service.replicas());
        List<At> zero = serving.stream().map(point -> new At(point.x(), 0)).toList();
        marks.addAll(replicas.area(zero, serving, end, "owner " + style(OwnerGroup.SERVING)));
        hints(run, service, demand, end, marks);

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
        if (capacity.isPresent()) {
            legend.add(
                    new Swatch("stroke capacity", "capacity of replicas", "serving replicas times what one answers"));
        }
        return new Drawing(
                service.service().value(),
                "%s requests.".formatted(Text.number(service.requests())),
                legend,
                Drawing.NARROW,
                278,
                "Demand, forecast and replicas of " + service.service().value(),
                marks);
    }

    private static List<At> peaks(Run run, List<Point> points) {
        return points.stream()
                .map(point -> new At(seconds(run, point.at()), point.peak()))
                .toList();
    }

    private static void hints(Run run, ServiceFacts service, Panel panel, double end, List<Mark> marks) {
        Map<Instant, ForecastPoint> forecasts = new TreeMap<>();
        service.forecast().forEach(point -> forecasts.put(point.at(), point));
        Map<Instant, Point> replicas = new TreeMap<>();
        service.replicas().forEach(point -> replicas.put(point.at(), point));
        List<Point> demand = service.demand();
        int stride = stride(demand.size(), HINTS);
        for (int i = 0; i < demand.size(); i += stride) {
            Point point = demand.get(i);
            StringBuilder text = new StringBuilder("after " + Text.elapsed(run.from(), point.at()));
            text.append("\ndemand: ").append(Text.number(point.peak())).append(" requests/s");
            Optional.ofNullable(forecasts.get(point.at()))
                    .ifPresent(forecast -> text.append("\nforecast p50: ")
                            .append(Text.number(forecast.p50()))
                            .append(", p99: ")
                            .append(Text.number(forecast.p99())));
            Optional.ofNullable(replicas.get(point.at()))
                    .ifPresent(serving -> text.append("\nreplicas: ").append(Text.number(serving.peak())));
            double to = i + stride < demand.size()
                    ? seconds(run, demand.get(i + stride).at())
                    : end;
            marks.add(panel.hint(seconds(run, point.at()), to, text.toString()));
        }
    }

    static Drawing loans(Run run) {
        double end = seconds(run, run.to());
        double mostLent = run.owners().stream()
                .mapToDouble(sample -> sample.of(OwnerGroup.LENT))
                .max()
                .orElse(0);
        Panel lent = new Panel(58, Drawing.WIDE - 12, 24, 130, Scale.time(end), Scale.linear(mostLent, 4, true));
        List<At> level = run.owners().stream()
                .map(sample -> new At(seconds(run, sample.at()), sample.of(OwnerGroup.LENT)))
                .toList();
        List<At> zero = level.stream().map(point -> new At(point.x(), 0)).toList();
        List<Mark> marks = new ArrayList<>(lent.yAxis("GPUs lent"));
        marks.addAll(lent.xGrid());
        marks.addAll(lent.area(zero, level, end, "owner " + style(OwnerGroup.LENT)));

        double barSeconds = barSeconds(run, end);
        Map<Long, int[]> bars = new TreeMap<>();
        for (Turnover each : run.loans().turnover()) {
            int[] bar = bars.computeIfAbsent((long) (seconds(run, each.at()) / barSeconds), at -> new int[2]);
            bar[0] += each.lentGpus();
            bar[1] += each.reclaimedGpus();
        }
        double most = bars.values().stream()
                .mapToDouble(bar -> Math.max(bar[0], bar[1]))
                .max()
                .orElse(0);
        Panel up = new Panel(58, Drawing.WIDE - 12, 172, 222, Scale.time(end), Scale.linear(most, 2, true));
        marks.addAll(up.yAxis("GPUs lent (up) and reclaimed (down) in " + Text.duration(barSeconds)));
        // The lower half mirrors the upper one: its own axis would only repeat the labels.
        Panel down = new Panel(58, Drawing.WIDE - 12, 272, 222, Scale.time(end), Scale.linear(most, 2, true));
        List<Mark> shapes = new ArrayList<>();
        bars.forEach((index, bar) -> {
            double from = index.doubleValue() * barSeconds;
            double to = Math.min(end, from + barSeconds);
            if (bar[0] > 0) {
                shapes.add(up.bar(from, to, 0, bar[0], "lends"));
            }
            if (bar[1] > 0) {
                shapes.add(down.bar(from, to, 0, bar[1], "reclaims"));
            }
            Panel both = new Panel(58, Drawing.WIDE - 12, 172, 272, Scale.time(end), Scale.linear(most, 2, true));
            shapes.add(both.hint(
                    from,
                    to,
                    "after %s\nlent: %d GPUs\nreclaimed: %d GPUs"
                            .formatted(
                                    Text.elapsed(run.from(), run.from().plusMillis((long) (from * 1000))),
                                    bar[0],
                                    bar[1])));
        });
        Panel foot = new Panel(58, Drawing.WIDE - 12, 222, 272, Scale.time(end), Scale.linear(most, 2, true));
        marks.addAll(up.xGrid());
        marks.addAll(foot.xAxis(timeTitle(run, end)));
        marks.addAll(shapes);
        return new Drawing(
                "Loans in time",
                loansInWords(run),
                List.of(
                        new Swatch("box " + style(OwnerGroup.LENT), "GPUs lent, mean", "inference GPUs that train"),
                        new Swatch("box lends", "lent", "GPUs that decisions lent"),
                        new Swatch("box reclaims", "reclaimed", "GPUs that decisions took back")),
                Drawing.WIDE,
                318,
                "Loans in time",
                marks);
    }

    private static String loansInWords(Run run) {
        RunFacts.Loans loans = run.loans();
        return "%s GPU-hours lent. %s loans ended, after %s on average and %s at most; %d GPUs lent at the end."
                .formatted(
                        Text.number(loans.gpuHours()),
                        Text.number(loans.ended()),
                        Text.duration(loans.meanSeconds()),
                        Text.duration(loans.longestSeconds()),
                        loans.open());
    }

    /** A whole number of sample bins, so that no bar gets more bins than its neighbours. */
    private static double barSeconds(Run run, double end) {
        double bin = Math.max(0.001, run.sampleStep().toMillis() / 1000.0);
        return bin * Math.max(1, Math.ceil(end / bin / BARS));
    }

    private static int stride(int size, int most) {
        return Math.max(1, (size + most - 1) / most);
    }

    private static double seconds(Run run, Instant at) {
        return Math.max(0, Duration.between(run.from(), at).toMillis() / 1000.0);
    }

    private static String timeTitle(Run run, double seconds) {
        return "time since %s, in %s"
                .formatted(Text.minute(run.from()), Scale.timeUnit(seconds).symbol());
    }

    static String style(OwnerGroup group) {
        return group.name().toLowerCase(Locale.ROOT);
    }

    /** The style of the run at a place in the list. */
    static String runStyle(int index) {
        return "run" + (1 + index % RUN_STYLES);
    }
}
