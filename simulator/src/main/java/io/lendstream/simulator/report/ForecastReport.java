package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import io.lendstream.core.event.Limits;
import io.lendstream.simulator.forecasting.Score;
import io.lendstream.simulator.report.Drawing.Swatch;
import io.lendstream.simulator.report.Panel.At;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The report of an evaluation of forecasts: a page with the scores and the forecast bands, and the bands as PNG files.
 */
public final class ForecastReport {
    private static final int HINTS = 96;
    /** Most characters of a file's name, without its ending: file systems take 255. */
    private static final int LONGEST_FILE = 200;

    private ForecastReport() {}

    /**
     * What one model said of a piece of a series at one horizon.
     *
     * @param lead how far ahead
     * @param points in order of time
     */
    public record Band(String series, String model, Duration step, Duration lead, List<Point> points) {
        public Band {
            points = List.copyOf(points);
        }
    }

    /**
     * A step and its forecasts.
     *
     * @param actual NaN for missing
     */
    public record Point(Instant at, double actual, double p10, double p50, double p90, double p99) {}

    /**
     * Writes {@code report.html} and a PNG file for each series.
     *
     * @return a line for the user, if there is one
     */
    public static Optional<String> write(List<Score> scores, List<Band> bands, Path directory, PngPlots plots) {
        Map<String, List<Drawing>> figures = new LinkedHashMap<>();
        for (Band band : bands) {
            figures.computeIfAbsent(band.series(), any -> new ArrayList<>()).add(figure(band));
        }
        ReportFile.writePage(directory, page(scores, figures));
        Map<String, List<Drawing>> files = new LinkedHashMap<>();
        figures.forEach((series, drawn) ->
                files.put(Limits.cut("forecast-" + series.replaceAll("[^A-Za-z0-9._-]", "_"), LONGEST_FILE), drawn));
        return plots.write(files, directory);
    }

    private static Drawing figure(Band band) {
        List<Point> points = band.points();
        Instant from = points.get(0).at();
        double end =
                seconds(from, points.get(points.size() - 1).at()) + band.step().toMillis() / 1000.0;
        double most = points.stream()
                .mapToDouble(point -> Math.max(point.p99(), Double.isNaN(point.actual()) ? 0 : point.actual()))
                .max()
                .orElse(1);
        Panel panel = new Panel(62, Drawing.WIDE - 12, 24, 230, Scale.time(end), Scale.linear(most, 5, false));
        List<Mark> marks = new ArrayList<>(panel.yAxis("value"));
        marks.addAll(panel.xAxis("time since %s, in %s"
                .formatted(Text.minute(from), Scale.timeUnit(end).symbol())));
        List<At> p10 = places(points, from, Point::p10);
        List<At> p99 = places(points, from, Point::p99);
        List<Point> known =
                points.stream().filter(point -> !Double.isNaN(point.actual())).toList();
        marks.addAll(panel.area(p10, p99, end, "band"));
        marks.addAll(panel.steps(places(points, from, Point::p50), end, "median"));
        marks.addAll(panel.steps(places(known, from, Point::actual), end, "demand"));
        marks.addAll(hints(band, panel, end));
        return new Drawing(
                "%s, %s".formatted(band.series(), band.model()),
                "Forecasts issued %s before, and the demand that came."
                        .formatted(Text.duration(band.lead().toMillis() / 1000.0)),
                List.of(
                        new Swatch("stroke demand", "what came", "the series"),
                        new Swatch("box band", "p10–p99", "between the two quantiles"),
                        new Swatch("stroke median", "p50", "the median")),
                Drawing.WIDE,
                276,
                "Forecast band of " + band.model() + " over " + band.series(),
                marks);
    }

    private static List<At> places(List<Point> points, Instant from, ToDoubleFunction<Point> value) {
        return points.stream()
                .map(point -> new At(seconds(from, point.at()), value.applyAsDouble(point)))
                .toList();
    }

    private static List<Mark> hints(Band band, Panel panel, double end) {
        List<Point> points = band.points();
        Instant from = points.get(0).at();
        double step = band.step().toMillis() / 1000.0;
        List<Mark> hints = new ArrayList<>();
        int stride = Math.max(1, (points.size() + HINTS - 1) / HINTS);
        for (int i = 0; i < points.size(); i += stride) {
            Point point = points.get(i);
            double x = seconds(from, point.at());
            hints.add(panel.hint(
                    x,
                    Math.min(end, x + stride * step),
                    "after %s\n%s\np10 %s, p50 %s, p90 %s, p99 %s"
                            .formatted(
                                    Text.elapsed(from, point.at()),
                                    Double.isNaN(point.actual()) ? "missing" : "came: " + Text.number(point.actual()),
                                    Text.number(point.p10()),
                                    Text.number(point.p50()),
                                    Text.number(point.p90()),
                                    Text.number(point.p99()))));
        }
        return hints;
    }

    private static double seconds(Instant from, Instant at) {
        return Duration.between(from, at).toMillis() / 1000.0;
    }

    private static String digits(int decimals, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + decimals + "f", value) : Text.NOTHING;
    }

    private static String page(List<Score> scores, Map<String, List<Drawing>> figures) {
        StringBuilder page = new StringBuilder();
        page.append("""
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <title>Forecasts</title>
                <style>
                %s</style>
                </head>
                <body>
                <main>
                <header><h1>Forecasts</h1></header>
                """.formatted(HtmlReport.styleSheet()));
        page.append(scores(scores));
        figures.forEach((series, drawn) -> {
            page.append("<section><h2>").append(escape(series)).append("</h2>\n");
            drawn.forEach(figure -> page.append(figure.html()));
            page.append("</section>\n");
        });
        return page.append("</main>\n</body>\n</html>\n").toString();
    }

    private static String scores(List<Score> scores) {
        StringBuilder page = new StringBuilder();
        page.append("<section><h2>Scores</h2>\n<div class=\"scroll\"><table>\n<tr>");
        for (String column : List.of(
                "series",
                "horizon",
                "model",
                "forecasts",
                "nMAE",
                "MASE",
                "pinball 0.9",
                "pinball 0.99",
                "under p90",
                "under p99",
                "p99 / mean")) {
            page.append("<th>").append(column).append("</th>");
        }
        page.append("</tr>\n");
        for (Score score : scores) {
            page.append(String.format(
                    Locale.ROOT,
                    "<tr><td>%s</td><td>%s</td><td>%s</td><td>%d</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>%n",
                    escape(score.series()),
                    escape(Text.duration(score.horizon().toMillis() / 1000.0)),
                    escape(score.model()),
                    score.scored(),
                    digits(4, score.errors().nmae()),
                    digits(3, score.errors().mase()),
                    digits(4, score.errors().pinball90()),
                    digits(4, score.errors().pinball99()),
                    digits(4, score.covered().p90()),
                    digits(4, score.covered().p99()),
                    digits(3, score.p99OverMean())));
        }
        page.append("</table></div></section>\n");
        return page.toString();
    }
}
