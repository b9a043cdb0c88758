package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.history.Violation;
import io.lendstream.simulator.report.Charts.Curve;
import io.lendstream.simulator.report.RunFacts.DecisionFacts;
import io.lendstream.simulator.report.RunFacts.Delays;
import io.lendstream.simulator.report.RunFacts.KindCount;
import io.lendstream.simulator.report.RunFacts.OwnerSample;
import io.lendstream.simulator.report.RunFacts.Parameter;
import io.lendstream.simulator.report.RunFacts.Run;
import io.lendstream.simulator.report.Text.DurationUnit;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The report of a run or of several: one HTML file that needs nothing else, with drawings in inline SVG and no script. Equal
 * facts give equal pages, byte by byte.
 */
public final class HtmlReport {
    private static final int MOST_SERVICES = 8;
    private static final int MOST_GPUS_NAMED = 16;
    private static final int MOST_REASONS_NAMED = 5;
    private static final int MOST_VIOLATIONS = 50;

    private final RunFacts facts;
    private final StringBuilder page = new StringBuilder(1 << 18);

    private HtmlReport(RunFacts facts) {
        this.facts = facts;
    }

    /** The whole page. */
    public static String render(RunFacts facts) {
        HtmlReport report = new HtmlReport(facts);
        report.write();
        return report.page.toString();
    }

    private void write() {
        page.append("""
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <title>%s</title>
                <style>
                %s</style>
                </head>
                <body>
                <main>
                """.formatted(escape(facts.title()), styleSheet()));
        header();
        if (facts.runs().isEmpty()) {
            page.append("<p class=\"empty\">No run has been recorded yet.</p>\n");
        } else {
            tiles();
            comparison();
            owners();
            completions();
            delays();
            Run subject = facts.subject().orElseThrow();
            facts.runs().forEach(run -> details(run, run.equals(subject) || !kept(run)));
        }
        parameters();
        page.append("</main>\n</body>\n</html>\n");
    }

    private void header() {
        page.append("<header><h1>").append(escape(facts.title())).append("</h1>\n<p class=\"sub\">");
        List<String> parts = new ArrayList<>();
        facts.subject()
                .filter(run -> run.to().isAfter(run.from()))
                .ifPresent(run -> parts.add("%s of virtual time from %s"
                        .formatted(
                                Text.duration(
                                        Duration.between(run.from(), run.to()).toMillis() / 1000.0),
                                Text.minute(run.from()))));
        int runs = facts.runs().size();
        parts.add(runs == 1 ? "1 run" : runs + " runs");
        facts.parameters().stream()
                .limit(6)
                .forEach(parameter -> parts.add(parameter.name() + " " + parameter.value()));
        page.append(escape(String.join(" · ", parts))).append("</p></header>\n");
    }

    private void tiles() {
        Run subject = facts.subject().orElseThrow();
        page.append("<div class=\"tiles\">\n");
        Optional<Double> mean = subject.training().meanSeconds();
        Optional<Double> before = facts.baseline().flatMap(run -> run.training().meanSeconds());
        tile(
                "Average job completion time",
                mean.map(Text::duration).orElse(Text.NOTHING),
                before.map(without -> "%s against %s without lending"
                                .formatted(change(Unit.DURATION, mean, before), Text.duration(without)))
                        .orElse("%s of %s jobs completed"
                                .formatted(
                                        Text.number(subject.training().completed()),
                                        Text.number(subject.training().submitted()))),
                "");
        tile(
                "GPU-hours lent",
                Text.number(subject.loans().gpuHours()),
                "%s loans ended, %s on average"
                        .formatted(
                                Text.number(subject.loans().ended()),
                                Text.duration(subject.loans().meanSeconds())),
                "");
        Optional<Delays> overhead = subject.inference().responseOverhead();
        Optional<Double> attainment = subject.inference().sloAttainment();
        if (overhead.isPresent()) {
            tile(
                    "Response overhead, p99",
                    Text.duration(overhead.get().p99Seconds()),
                    "mean %s, max %s"
                            .formatted(
                                    Text.duration(overhead.get().meanSeconds()),
                                    Text.duration(overhead.get().maxSeconds())),
                    "");
        } else {
            tile(
                    "SLO attainment",
                    attainment.map(Text::percent).orElse(Text.NOTHING),
                    "%s requests offered"
                            .formatted(Text.number(subject.inference().requests())),
                    "");
        }
        verdictTile();
        page.append("</div>\n");
    }

    private void verdictTile() {
        List<Verdict> verdicts =
                facts.runs().stream().flatMap(run -> run.verdict().stream()).toList();
        if (verdicts.isEmpty()) {
            tile("History checker", "not asked", "the log was not checked", "");
            return;
        }
        long violations = verdicts.stream()
                .mapToLong(verdict -> verdict.violations().size())
                .sum();
        tile(
                "History checker",
                violations == 0 ? "✓ every promise kept" : "✗ " + plural(violations, "violation"),
                "%s and %s replayed"
                        .formatted(
                                plural(
                                        verdicts.stream()
                                                .mapToLong(Verdict::events)
                                                .sum(),
                                        "event"),
                                plural(
                                        verdicts.stream()
                                                .mapToLong(Verdict::decisions)
                                                .sum(),
                                        "decision")),
                violations == 0 ? "good" : "bad");
    }

    private void tile(String label, String value, String note, String style) {
        page.append("<div class=\"tile %s\"><span>%s</span><strong>%s</strong><small>%s</small></div>\n"
                .formatted(style, escape(label), escape(value), escape(note)));
    }

    /** How a figure is written, and what a change of it is. */
    private enum Unit {
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

    private record Figure(String name, Unit unit, Better better, Function<Run, Optional<Double>> of) {
        static Figure delay(String name, Function<Run, Optional<Delays>> delays, Function<Delays, Double> of) {
            return new Figure(
                    name, Unit.DURATION, Better.LESS, run -> delays.apply(run).map(of));
        }
    }

    private static List<Figure> figures() {
        Function<Run, Optional<Delays>> start = run -> run.inference().startDelay();
        Function<Run, Optional<Delays>> overhead = run -> run.inference().responseOverhead();
        return List.of(
                new Figure(
                        "Average job completion time",
                        Unit.DURATION,
                        Better.LESS,
                        run -> run.training().meanSeconds()),
                new Figure(
                        "Median job completion time",
                        Unit.DURATION,
                        Better.LESS,
                        run -> run.training().quantileSeconds(0.5)),
                new Figure(
                        "p95 job completion time",
                        Unit.DURATION,
                        Better.LESS,
                        run -> run.training().quantileSeconds(0.95)),
                new Figure(
                        "Jobs completed",
                        Unit.NUMBER,
                        Better.MORE,
                        run -> known(run.training().submitted(), run.training().completed())),
                new Figure(
                        "Job restarts",
                        Unit.NUMBER,
                        Better.LESS,
                        run -> run.training().restarts().map(Integer::doubleValue)),
                new Figure(
                        "GPU utilization",
                        Unit.SHARE,
                        Better.MORE,
                        run -> run.training().gpuUtilization()),
                new Figure(
                        "GPU-hours lent",
                        Unit.NUMBER,
                        Better.NEITHER,
                        run -> Optional.of(run.loans().gpuHours())),
                new Figure(
                        "Decisions to lend",
                        Unit.NUMBER,
                        Better.NEITHER,
                        run -> known(run.decisions().total(), run.decisions().count("lend"))),
                new Figure(
                        "Decisions to reclaim",
                        Unit.NUMBER,
                        Better.NEITHER,
                        run -> known(run.decisions().total(), run.decisions().count("reclaim"))),
                new Figure(
                        "Requests offered",
                        Unit.NUMBER,
                        Better.NEITHER,
                        run -> known(run.inference().requests(), run.inference().requests())),
                new Figure(
                        "Cold starts",
                        Unit.NUMBER,
                        Better.LESS,
                        run -> run.inference().coldStarts().map(Long::doubleValue)),
                Figure.delay("Request start delay, mean", start, Delays::meanSeconds),
                Figure.delay("Request start delay, p99", start, Delays::p99Seconds),
                Figure.delay("Response overhead, mean", overhead, Delays::meanSeconds),
                Figure.delay("Response overhead, p99", overhead, Delays::p99Seconds),
                Figure.delay("Response overhead, max", overhead, Delays::maxSeconds),
                new Figure(
                        "SLO attainment",
                        Unit.SHARE,
                        Better.MORE,
                        run -> run.inference().sloAttainment()));
    }

    /** A count, where anything of the sort was seen at all. */
    private static Optional<Double> known(long seen, long count) {
        return seen == 0 ? Optional.empty() : Optional.of((double) count);
    }

    private void comparison() {
        List<Run> runs = facts.runs();
        Optional<Run> baseline = facts.baseline();
        List<Run> changed = baseline.stream()
                .flatMap(without -> runs.stream().filter(run -> !run.equals(without)))
                .toList();
        page.append(
                "<section><h2>Headline figures</h2>\n<div class=\"scroll\"><table class=\"figures\">\n<thead><tr><th></th>");
        runs.forEach(run -> page.append("<th class=\"number\">%s</th>".formatted(escape(run.name()))));
        changed.forEach(run -> page.append("<th class=\"number\">%s</th>"
                .formatted(changed.size() == 1 ? "change" : "change, " + escape(run.name()))));
        page.append("</tr></thead>\n<tbody>\n");
        for (Figure figure : figures()) {
            List<Optional<Double>> values =
                    runs.stream().map(run -> figure.of().apply(run)).toList();
            double most = values.stream()
                    .flatMap(Optional::stream)
                    .filter(Double::isFinite)
                    .mapToDouble(Math::abs)
                    .max()
                    .orElse(-1);
            if (most < 0) {
                continue;
            }
            page.append("<tr><th>").append(escape(figure.name())).append("</th>");
            DurationUnit unit = DurationUnit.of(most);
            values.forEach(value -> page.append("<td class=\"number\">%s</td>"
                    .formatted(value.map(number -> written(figure.unit(), number, unit))
                            .orElse(Text.NOTHING))));
            for (Run run : changed) {
                Optional<Double> with = figure.of().apply(run);
                Optional<Double> without = baseline.flatMap(figure.of());
                page.append("<td class=\"number change %s\">%s</td>"
                        .formatted(
                                figure.better() == Better.NEITHER ? "" : judgement(figure, with, without),
                                figure.better() == Better.NEITHER ? "" : escape(change(figure.unit(), with, without))));
            }
            page.append("</tr>\n");
        }
        page.append("</tbody></table></div>\n");
        baseline.ifPresent(
                run -> page.append("<p class=\"note\">Changes are against “%s”.</p>\n".formatted(escape(run.name()))));
        runs.stream()
                .filter(run -> run.training().completed() < run.training().submitted())
                .forEach(run -> page.append(
                        "<p class=\"note\">%s of %s of “%s” had not finished; completion times leave them out.</p>\n"
                                .formatted(
                                        Text.number(run.training().submitted()
                                                - run.training().completed()),
                                        plural(run.training().submitted(), "job"),
                                        escape(run.name()))));
        page.append("</section>\n");
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
        if (!Double.isFinite(difference) || Math.abs(difference) < 5e-4 * Math.abs(without.get())) {
            return "";
        }
        return difference > 0 == (figure.better() == Better.MORE) ? "good" : "bad";
    }

    private static String change(Unit unit, Optional<Double> with, Optional<Double> without) {
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
            return direction + Text.plain(Math.rint(Math.abs(difference) * 1e5) / 1e3) + " points";
        }
        if (without.get() == 0) {
            return direction + written(unit, Math.abs(difference), DurationUnit.of(difference));
        }
        double ratio = difference / without.get();
        return ratio >= 4
                ? "▲ " + Text.number(1 + ratio) + " times"
                : direction + Text.plain(Math.rint(Math.abs(ratio) * 1000) / 10) + " %";
    }

    private void owners() {
        List<Run> runs =
                facts.runs().stream().filter(run -> !run.owners().isEmpty()).toList();
        if (runs.isEmpty()) {
            return;
        }
        double longest = runs.stream()
                .mapToDouble(run -> Duration.between(run.from(), run.to()).toMillis() / 1000.0)
                .max()
                .orElse(1);
        double mostGpus = runs.stream()
                .flatMap(run -> run.owners().stream())
                .mapToDouble(HtmlReport::gpus)
                .max()
                .orElse(1);
        page.append("<section><h2>GPUs by owner</h2>\n");
        runs.forEach(run -> page.append(Charts.owners(run, longest, mostGpus)));
        page.append("</section>\n");
    }

    private static double gpus(OwnerSample sample) {
        return sample.gpus().values().stream().mapToDouble(Double::doubleValue).sum();
    }

    private void completions() {
        List<Curve> curves = curves(run -> Optional.empty());
        if (curves.stream().allMatch(curve -> curve.seconds().isEmpty())) {
            return;
        }
        page.append("<section><h2>Training</h2>\n")
                .append(Charts.completions(curves))
                .append("</section>\n");
    }

    private void delays() {
        List<Curve> start = curves(run -> run.inference().startDelay());
        List<Curve> overhead = curves(run -> run.inference().responseOverhead());
        if (start.stream().allMatch(curve -> curve.delays().isEmpty())
                && overhead.stream().allMatch(curve -> curve.delays().isEmpty())) {
            return;
        }
        page.append("<section><h2>Inference</h2>\n<div class=\"pair\">\n")
                .append(Charts.delays("Request start delay", "Wait for a GPU.", start))
                .append(Charts.delays("Response overhead", "Wait plus cold start.", overhead))
                .append("</div></section>\n");
    }

    private List<Curve> curves(Function<Run, Optional<Delays>> delays) {
        List<String> styles = Charts.curveStyles();
        List<Run> runs = facts.runs();
        List<Curve> curves = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            Run run = runs.get(i);
            curves.add(new Curve(
                    run.name(),
                    styles.get(i % styles.size()),
                    run.training().completionSeconds().stream()
                            .filter(Double::isFinite)
                            .toList(),
                    delays.apply(run)));
        }
        return curves;
    }

    private static boolean kept(Run run) {
        return run.verdict().map(Verdict::isContent).orElse(true);
    }

    private void details(Run run, boolean open) {
        if (run.services().isEmpty()
                && run.decisions().total() == 0
                && run.verdict().isEmpty()) {
            return;
        }
        page.append("<details class=\"run\"%s><summary><h2>%s</h2></summary>\n"
                .formatted(open ? " open" : "", escape(run.name())));
        services(run);
        if (run.loans().gpuHours() > 0 || !run.loans().turnover().isEmpty()) {
            page.append("<h3>Loans</h3>\n").append(Charts.loans(run));
        }
        decisions(run);
        verdict(run);
        page.append("</details>\n");
    }

    private void services(Run run) {
        if (run.services().isEmpty()) {
            return;
        }
        page.append("<h3>Services: demand, forecast and replicas</h3>\n");
        page.append("<p class=\"note\">%s Each point is the greatest value within %s.</p>\n<div class=\"pair\">\n"
                .formatted(
                        run.servicesInAll() > MOST_SERVICES
                                ? "The %d busiest of %s services."
                                        .formatted(MOST_SERVICES, Text.number(run.servicesInAll()))
                                : "",
                        Text.duration(run.sampleStep().toMillis() / 1000.0)));
        run.services().stream().limit(MOST_SERVICES).forEach(service -> page.append(Charts.service(run, service)));
        page.append("</div>\n");
    }

    private void decisions(Run run) {
        DecisionFacts decisions = run.decisions();
        if (decisions.total() == 0) {
            return;
        }
        page.append("<h3>Decisions</h3>\n<p class=\"note\">%s%s.</p>\n"
                .formatted(
                        plural(decisions.total(), "decision"),
                        decisions.advisory() == 0
                                ? ""
                                : ", of which %s only advice".formatted(Text.number(decisions.advisory()))));
        page.append("<div class=\"scroll\"><table><thead><tr><th>kind</th><th class=\"number\">decisions</th>")
                .append("<th class=\"number\">GPUs</th><th>reasons</th></tr></thead>\n<tbody>\n");
        for (KindCount kind : decisions.kinds()) {
            page.append("<tr><td>%s</td><td class=\"number\">%s</td><td class=\"number\">%s</td><td>%s</td></tr>\n"
                    .formatted(
                            badge(kind.kind()),
                            Text.number(kind.decisions()),
                            Text.number(kind.gpus()),
                            escape(reasons(kind))));
        }
        page.append("</tbody></table></div>\n");
        long hidden =
                decisions.total() - decisions.first().size() - decisions.last().size();
        decisionTable(
                run,
                hidden > 0 || !decisions.last().isEmpty()
                        ? "The first %d".formatted(decisions.first().size())
                        : "All of them",
                decisions.first());
        if (hidden > 0) {
            page.append(
                    "<p class=\"note\">%s in between are not shown; <code>decisions.jsonl</code> has them all.</p>\n"
                            .formatted(Text.number(hidden)));
        }
        if (!decisions.last().isEmpty()) {
            decisionTable(run, "The last %d".formatted(decisions.last().size()), decisions.last());
        }
    }

    private static String reasons(KindCount kind) {
        String named = kind.reasons().entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Long> reason) -> reason.getValue())
                        .reversed()
                        .thenComparing(Map.Entry::getKey))
                .limit(MOST_REASONS_NAMED)
                .map(reason -> "%s (%s)".formatted(reason.getKey(), Text.number(reason.getValue())))
                .collect(Collectors.joining(", "));
        return kind.reasons().size() > MOST_REASONS_NAMED ? named + ", …" : named;
    }

    private void decisionTable(Run run, String title, List<Decision> decisions) {
        page.append("<h4>%s</h4>\n<div class=\"scroll tall\"><table class=\"decisions\"><thead><tr>".formatted(title))
                .append(
                        "<th>time</th><th>kind</th><th>target</th><th class=\"number\">GPUs</th><th>reason</th></tr></thead>\n<tbody>\n");
        for (Decision decision : decisions) {
            List<GpuId> gpus = decision.action().gpus();
            String named = gpus.stream()
                    .limit(MOST_GPUS_NAMED)
                    .map(GpuId::value)
                    .collect(Collectors.joining(", ", "", gpus.size() > MOST_GPUS_NAMED ? ", …" : ""));
            page.append("<tr><td class=\"time\" title=\"%s UTC, decision %s\">%s</td><td>%s%s</td><td>%s</td>"
                    .formatted(
                            Text.second(decision.at()),
                            escape(decision.id().toString()),
                            Text.elapsed(run.from(), decision.at()),
                            badge(decision.action().kind()),
                            decision.advisory() ? " <small>advice</small>" : "",
                            escape(decision.action().target())));
            page.append("<td class=\"number\" title=\"%s\">%s</td><td>%s</td></tr>\n"
                    .formatted(
                            escape(named),
                            gpus.isEmpty() ? "" : Text.number(gpus.size()),
                            escape(decision.reason().text())));
        }
        page.append("</tbody></table></div>\n");
    }

    private static String badge(String kind) {
        String style = kind.chars().allMatch(c -> c >= 'a' && c <= 'z') ? kind : "other";
        return "<span class=\"badge %s\">%s</span>".formatted(style, escape(kind));
    }

    private void verdict(Run run) {
        run.verdict().ifPresent(verdict -> {
            page.append("<h3>History checker</h3>\n<div class=\"verdict %s\"><p><b>%s</b> %s</p>\n"
                    .formatted(
                            verdict.isContent() ? "good" : "bad",
                            verdict.isContent()
                                    ? "✓ Every promise was kept."
                                    : "✗ %s found."
                                            .formatted(
                                                    plural(verdict.violations().size(), "violation")),
                            escape(
                                    "Replayed %s events and %s decisions (%s lent GPUs, %s took them back); %s reports by actuators."
                                            .formatted(
                                                    Text.number(verdict.events()),
                                                    Text.number(verdict.decisions()),
                                                    Text.number(verdict.lends()),
                                                    Text.number(verdict.reclaims()),
                                                    Text.number(verdict.reports())))));
            if (!verdict.isContent()) {
                page.append("<ul>\n");
                for (Violation violation :
                        verdict.violations().stream().limit(MOST_VIOLATIONS).toList()) {
                    page.append(
                            "<li><b>%s</b> %s</li>\n".formatted(escape(violation.rule()), escape(violation.text())));
                }
                page.append("</ul>\n");
            }
            page.append("</div>\n");
        });
    }

    private void parameters() {
        if (facts.parameters().isEmpty()) {
            return;
        }
        page.append("<section><h2>Parameters</h2>\n<div class=\"scroll\"><table class=\"parameters\"><tbody>\n");
        for (Parameter parameter : facts.parameters()) {
            page.append(
                    "<tr><th>%s</th><td>%s</td></tr>\n".formatted(escape(parameter.name()), escape(parameter.value())));
        }
        page.append("</tbody></table></div></section>\n");
    }

    private static String plural(long count, String noun) {
        return Text.number(count) + " " + noun + (count == 1 ? "" : "s");
    }

    private static String styleSheet() {
        try (InputStream sheet =
                Objects.requireNonNull(HtmlReport.class.getResourceAsStream("report.css"), "report.css")) {
            return new String(sheet.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
