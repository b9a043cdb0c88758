package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import io.lendstream.core.decision.Decision;
import io.lendstream.simulator.OwnRequests;
import io.lendstream.simulator.report.Text.DurationUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The headline figures of all runs side by side, and the changes against the baseline. */
final class FiguresTable {
    private FiguresTable() {}

    /** The section of the page. */
    static String html(RunFacts facts) {
        List<ReportedRun> runs = facts.shown();
        StringBuilder page = new StringBuilder();
        Optional<ReportedRun> baseline = facts.baseline();
        List<ReportedRun> changed = baseline.stream()
                .flatMap(without -> facts.runs().stream().filter(run -> !run.equals(without)))
                .toList();
        page.append(
                "<section><h2>Headline figures</h2>\n<div class=\"scroll\"><table class=\"figures\">\n<thead><tr><th></th>");
        runs.forEach(run -> page.append("<th class=\"number\">%s</th>".formatted(escape(run.name()))));
        changed.forEach(run -> page.append("<th class=\"number\">%s</th>"
                .formatted(changed.size() == 1 ? "change" : "change, " + escape(run.name()))));
        page.append("</tr></thead>\n<tbody>\n");
        figures().forEach(figure -> page.append(row(figure, runs, changed, baseline)));
        page.append("</tbody></table></div>\n");
        baseline.ifPresent(
                run -> page.append("<p class=\"note\">Changes are against “%s”.</p>\n".formatted(escape(run.name()))));
        runs.stream()
                .filter(run -> run.training().completed() < run.training().submitted())
                .forEach(run -> page.append(unfinished(run)));
        return page.append("</section>\n").toString();
    }

    /** A row of the table; empty if no run has the figure. */
    private static String row(
            Figure figure, List<ReportedRun> runs, List<ReportedRun> changed, Optional<ReportedRun> baseline) {
        List<Optional<Double>> values =
                runs.stream().map(run -> figure.of().apply(run)).toList();
        double most = values.stream()
                .flatMap(Optional::stream)
                .filter(Double::isFinite)
                .mapToDouble(Math::abs)
                .max()
                .orElse(-1);
        if (most < 0) {
            return "";
        }
        StringBuilder row = new StringBuilder();
        row.append("<tr><th>").append(escape(figure.name())).append("</th>");
        DurationUnit unit = DurationUnit.of(most);
        values.forEach(value -> row.append("<td class=\"number\">%s</td>"
                .formatted(value.map(number -> written(figure.unit(), number, unit))
                        .orElse(Text.NOTHING))));
        for (ReportedRun run : changed) {
            Optional<Double> with = figure.of().apply(run);
            Optional<Double> without = baseline.flatMap(figure.of());
            row.append("<td class=\"number change %s\">%s</td>"
                    .formatted(
                            figure.better() == Better.NEITHER ? "" : judgement(figure, with, without),
                            figure.better() == Better.NEITHER ? "" : escape(change(figure.unit(), with, without))));
        }
        return row.append("</tr>\n").toString();
    }

    private static String unfinished(ReportedRun run) {
        return "<p class=\"note\">%s of %s of “%s” had not finished; completion times leave them out.</p>\n"
                .formatted(
                        Text.number(run.training().submitted() - run.training().completed()),
                        Text.plural(run.training().submitted(), "job"),
                        escape(run.name()));
    }

    /** How a figure is written, and what a change of it is. */
    enum Unit {
        DURATION,
        NUMBER,
        SHARE
    }

    /** Which direction of a change is an improvement. */
    private enum Better {
        LESS,
        MORE,
        NEITHER
    }

    private record Figure(String name, Unit unit, Better better, Function<ReportedRun, Optional<Double>> of) {
        static Figure duration(String name, Function<ReportedRun, Optional<Double>> of) {
            return new Figure(name, Unit.DURATION, Better.LESS, of);
        }

        static Figure number(String name, Better better, Function<ReportedRun, Optional<Double>> of) {
            return new Figure(name, Unit.NUMBER, better, of);
        }

        static Figure share(String name, Function<ReportedRun, Optional<Double>> of) {
            return new Figure(name, Unit.SHARE, Better.MORE, of);
        }

        static Figure delay(String name, Function<ReportedRun, Optional<Delays>> delays, Function<Delays, Double> of) {
            return duration(name, run -> delays.apply(run).map(of));
        }
    }

    private static List<Figure> figures() {
        return Stream.of(trainingFigures(), loanFigures(), inferenceFigures())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Figure> trainingFigures() {
        return List.of(
                Figure.duration(
                        "Average job completion time", run -> run.training().meanSeconds()),
                Figure.duration(
                        "Median job completion time", run -> run.training().quantileSeconds(0.5)),
                Figure.duration("p95 job completion time", run -> run.training().quantileSeconds(0.95)),
                Figure.number(
                        "Jobs completed",
                        Better.MORE,
                        run -> known(run.training().submitted(), run.training().completed())),
                Figure.number("Deadlines met", Better.MORE, run -> deadlines(run, KeptDeadlines::met)),
                Figure.number("Deadlines missed", Better.LESS, run -> deadlines(run, KeptDeadlines::missed)),
                Figure.number(
                        "Resizes in place (AFE)",
                        Better.NEITHER,
                        run -> run.training().inPlace().map(Integer::doubleValue)),
                Figure.number(
                        "Restarts from a checkpoint",
                        Better.LESS,
                        run -> run.training().restarts().map(Integer::doubleValue)),
                Figure.share(
                        "GPU utilization until the last job arrives",
                        run -> run.training().gpuUtilization()));
    }

    private static Optional<Double> deadlines(ReportedRun run, Function<KeptDeadlines, Integer> count) {
        return run.training().deadlines().map(count).map(Integer::doubleValue);
    }

    private static List<Figure> loanFigures() {
        return List.of(
                Figure.number(
                        "GPU-hours lent",
                        Better.NEITHER,
                        run -> Optional.of(run.loans().gpuHours())),
                Figure.number(
                        "Lends",
                        Better.NEITHER,
                        run -> known(run.decisions().total(), run.decisions().count("lend"))),
                Figure.number(
                        "Reclaims",
                        Better.NEITHER,
                        run -> known(run.decisions().total(), run.decisions().count("reclaim"))),
                Figure.number(
                        "Releases (jobs that ended)",
                        Better.NEITHER,
                        run -> known(run.decisions().total(), run.decisions().count(Decision.RELEASE))));
    }

    private static Optional<Double> own(ReportedRun run, ToDoubleFunction<OwnRequests> count) {
        return run.inference().own().filter(own -> own.requests() > 0).map(own -> Math.rint(count.applyAsDouble(own)));
    }

    private static List<Figure> inferenceFigures() {
        Function<ReportedRun, Optional<Delays>> start = run -> run.inference().startDelay();
        Function<ReportedRun, Optional<Delays>> overhead =
                run -> run.inference().responseOverhead();
        return List.of(
                Figure.number(
                        "Requests offered",
                        Better.NEITHER,
                        run -> known(run.inference().requests(), run.inference().requests())),
                Figure.number(
                        "Cold starts",
                        Better.LESS,
                        run -> run.inference().coldStarts().map(Long::doubleValue)),
                Figure.delay("Request start delay, mean", start, Delays::meanSeconds),
                Figure.delay("Request start delay, p99", start, Delays::p99Seconds),
                Figure.delay("Response overhead, mean", overhead, Delays::meanSeconds),
                Figure.delay("Response overhead, p99", overhead, Delays::p99Seconds),
                Figure.delay("Response overhead, max", overhead, Delays::maxSeconds),
                Figure.share("SLO attainment", run -> run.inference().sloAttainment()),
                Figure.number(
                        "SLO misses",
                        Better.NEITHER,
                        run -> run.inference().misses().map(Math::rint)),
                Figure.number(
                        "Requests up to the workload's own end",
                        Better.NEITHER,
                        run -> own(run, OwnRequests::requests)),
                Figure.number("SLO misses of these", Better.LESS, run -> own(run, OwnRequests::misses)),
                new Figure(
                        "Error budget of %s used".formatted(SloObjective.written()),
                        Unit.SHARE,
                        Better.LESS,
                        run -> run.inference().sloAttainment().map(SloObjective::budgetUsed)),
                Figure.share(
                        "SLO attainment of the worst service",
                        run -> run.inference().worstService().map(ServiceSlo::attainment)));
    }

    /** A count, where anything of the sort was seen at all. */
    private static Optional<Double> known(long seen, long count) {
        return seen == 0 ? Optional.empty() : Optional.of((double) count);
    }

    private static String written(Unit unit, double value, DurationUnit durationUnit) {
        return switch (unit) {
            case DURATION -> Text.duration(value, durationUnit);
            case NUMBER -> Text.number(value);
            case SHARE -> Text.percent(value);
        };
    }

    private static String judgement(Figure figure, Optional<Double> with, Optional<Double> without) {
        if (with.isEmpty() || without.isEmpty()) {
            return "";
        }
        double difference = with.get() - without.get();
        if (!Double.isFinite(difference) || Math.abs(difference) <= 5e-4 * Math.abs(without.get())) {
            return "";
        }
        return difference > 0 == (figure.better() == Better.MORE) ? "good" : "bad";
    }

    static String change(Unit unit, Optional<Double> with, Optional<Double> without) {
        if (with.isEmpty() || without.isEmpty()) {
            return Text.NOTHING;
        }
        double difference = with.get() - without.get();
        if (!Double.isFinite(difference)) {
            return Text.NOTHING;
        }
        if (difference == 0) {
            return "same";
        }
        String direction = difference < 0 ? "▼ " : "▲ ";
        if (unit == Unit.SHARE) {
            return direction + Text.digits(Math.abs(difference)) + " points";
        }
        if (without.get() == 0) {
            return direction + written(unit, Math.abs(difference), DurationUnit.of(difference));
        }
        double ratio = difference / without.get();
        return ratio >= 4 ? "▲ " + Text.number(1 + ratio) + " times" : direction + Text.percent(Math.abs(ratio));
    }
}
