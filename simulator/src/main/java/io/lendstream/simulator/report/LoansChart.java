package io.lendstream.simulator.report;

import io.lendstream.simulator.report.Drawing.Swatch;
import io.lendstream.simulator.report.Panel.At;
import io.lendstream.simulator.report.ReportedRun.Turnover;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** GPUs lent over time, and below how many were lent and reclaimed in each bar of time. */
final class LoansChart {
    private static final int BARS = 130;

    private final ReportedRun run;
    private final double end;
    private final List<Mark> marks = new ArrayList<>();

    private LoansChart(ReportedRun run) {
        this.run = run;
        this.end = Charts.seconds(run, run.to());
    }

    static Drawing of(ReportedRun run) {
        var chart = new LoansChart(run);
        chart.drawLevel();
        chart.drawTurnover();
        return new Drawing(
                "Loans in time",
                loansInWords(run),
                List.of(
                        new Swatch(
                                "box " + Charts.style(OwnerGroup.LENT), "GPUs lent, mean", "inference GPUs that train"),
                        new Swatch("box lends", "lent", "GPUs that decisions lent"),
                        new Swatch("box reclaims", "reclaimed", "GPUs that decisions took back")),
                Drawing.WIDE,
                318,
                "Loans in time",
                chart.marks);
    }

    private void drawLevel() {
        double mostLent = run.owners().stream()
                .mapToDouble(sample -> sample.of(OwnerGroup.LENT))
                .max()
                .orElse(0);
        Panel lent = panel(24, 130, Scale.linear(mostLent, 4, true));
        List<At> level = run.owners().stream()
                .map(sample -> new At(Charts.seconds(run, sample.at()), sample.of(OwnerGroup.LENT)))
                .toList();
        List<At> zero = level.stream().map(point -> new At(point.x(), 0)).toList();
        marks.addAll(lent.yAxis("GPUs lent"));
        marks.addAll(lent.xGrid());
        marks.addAll(lent.area(zero, level, end, "owner " + Charts.style(OwnerGroup.LENT)));
    }

    /** GPUs that were lent and reclaimed within a bar of time. */
    private static final class Bar {
        private int lent;
        private int reclaimed;
    }

    private void drawTurnover() {
        double barSeconds = barSeconds();
        Map<Long, Bar> bars = new TreeMap<>();
        for (Turnover each : run.loans().turnover()) {
            Bar bar = bars.computeIfAbsent((long) (Charts.seconds(run, each.at()) / barSeconds), at -> new Bar());
            bar.lent += each.lentGpus();
            bar.reclaimed += each.reclaimedGpus();
        }
        double most = bars.values().stream()
                .mapToDouble(bar -> Math.max(bar.lent, bar.reclaimed))
                .max()
                .orElse(0);
        Scale gpus = Scale.linear(most, 2, true);
        Panel up = panel(172, 222, gpus);
        // The lower half mirrors the upper one: its own axis would only repeat the labels.
        Panel down = panel(272, 222, gpus);
        Panel both = panel(172, 272, gpus);
        List<Mark> shapes = new ArrayList<>();
        bars.forEach((index, bar) -> {
            double from = index.doubleValue() * barSeconds;
            double to = Math.min(end, from + barSeconds);
            if (bar.lent > 0) {
                shapes.add(up.bar(from, to, 0, bar.lent, "lends"));
            }
            if (bar.reclaimed > 0) {
                shapes.add(down.bar(from, to, 0, bar.reclaimed, "reclaims"));
            }
            shapes.add(both.hint(from, to, inWords(bar, from)));
        });
        marks.addAll(up.yAxis("GPUs lent (up) and reclaimed (down) in " + Text.duration(barSeconds)));
        marks.addAll(up.xGrid());
        marks.addAll(panel(222, 272, gpus).xAxis(Charts.timeTitle(run, end)));
        marks.addAll(shapes);
    }

    private Panel panel(int top, int bottom, Scale y) {
        return new Panel(58, Drawing.WIDE - 12, top, bottom, Scale.time(end), y);
    }

    private String inWords(Bar bar, double from) {
        return "after %s\nlent: %s\nreclaimed: %s"
                .formatted(
                        Text.elapsed(run.from(), run.from().plusMillis((long) (from * 1000))),
                        Text.plural(bar.lent, "GPU"),
                        Text.plural(bar.reclaimed, "GPU"));
    }

    private static String loansInWords(ReportedRun run) {
        ReportedRun.Loans loans = run.loans();
        return "%s GPU-hours lent. %s ended, after %s on average and %s at most; %s lent at the end."
                .formatted(
                        Text.number(loans.gpuHours()),
                        Text.plural(loans.ended(), "loan"),
                        Text.duration(loans.meanSeconds()),
                        Text.duration(loans.longestSeconds()),
                        Text.plural(loans.open(), "GPU"));
    }

    /** A whole number of sample bins, so that no bar gets more bins than its neighbours. */
    private double barSeconds() {
        double bin = Math.max(0.001, run.sampleStep().toMillis() / 1000.0);
        return bin * Math.max(1, Math.ceil(end / bin / BARS));
    }
}
