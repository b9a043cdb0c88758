package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Delays.CurvePoint;
import io.lendstream.simulator.report.Drawing.Swatch;
import io.lendstream.simulator.report.Panel.At;
import io.lendstream.simulator.report.ReportedRun.OwnerSample;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The report's drawings. */
final class Charts {
    static final int HINTS = 96;
    private static final int CURVE_POINTS = 300;
    private static final int RUN_STYLES = 6;

    /** Delays below are not drawn: they are too short to notice. */
    private static final double SHORTEST_DELAY = 0.1;

    /** A share of requests below which the curve ends. */
    private static final double RAREST_DELAY = 1e-4;

    private Charts() {}

    /** A line of a chart that compares runs; {@code style} is a class of the page's sheet. */
    record Curve(String name, String style, List<Double> seconds, Optional<Delays> delays) {}

    static Drawing owners(ReportedRun run, double longestSeconds, double mostGpus) {
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
        marks.addAll(ownerHints(run, panel, end));
        return new Drawing(
                run.name(),
                "Mean over " + Text.duration(run.sampleStep().toMillis() / 1000.0) + " a point.",
                legend,
                Drawing.WIDE,
                316,
                "GPUs by owner over time",
                marks);
    }

    private static List<Mark> ownerHints(ReportedRun run, Panel panel, double end) {
        List<OwnerSample> samples = run.owners();
        List<Mark> hints = new ArrayList<>();
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
            hints.add(panel.hint(seconds(run, samples.get(i).at()), to, text.toString()));
        }
        return hints;
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

    /** Percent of requests that were answered too late, of each run. */
    private static List<Double> late(List<ReportedRun> runs) {
        return runs.stream()
                .map(run -> run.inference()
                        .sloAttainment()
                        .map(share -> 100 * (1 - share))
                        .orElse(0.0))
                .toList();
    }

    /** Requests that were answered too late, a bar a run. */
    static Drawing slo(List<ReportedRun> runs) {
        List<Double> late = late(runs);
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
            if (runs.get(i).inference().sloAttainment().isPresent()) {
                marks.addAll(lateBar(panel, i, late.get(i)));
                legend.add(new Swatch(
                        "box bar " + runStyle(i),
                        runs.get(i).name(),
                        runs.get(i).name()));
            }
        }
        marks.add(new Mark.Line("base", new Mark.Place(62, 220), new Mark.Place(Drawing.NARROW - 14, 220)));
        return new Drawing(
                "Requests beyond their SLO",
                "Share of the requests that were not answered within their SLO; lower is better.",
                legend,
                Drawing.NARROW,
                264,
                "Requests beyond their SLO, a bar a run",
                marks);
    }

    private static List<Mark> lateBar(Panel panel, int place, double late) {
        return List.of(
                panel.bar(place + 0.2, place + 0.8, 0, late, "bar " + runStyle(place)),
                new Mark.Label(
                        "tick",
                        Mark.Align.MIDDLE,
                        new Mark.Place(panel.xOf(place + 0.5), panel.yOf(late) - 5),
                        Text.percent(late / 100)));
    }

    /** Every how many of them there may be, so that there are at most so many. */
    static int stride(int size, int most) {
        return Math.max(1, (size + most - 1) / most);
    }

    /** Seconds since the run began. */
    static double seconds(ReportedRun run, Instant at) {
        return Math.max(0, Duration.between(run.from(), at).toMillis() / 1000.0);
    }

    static String timeTitle(ReportedRun run, double seconds) {
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
