package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import io.lendstream.core.event.Limits;
import io.lendstream.core.history.Verdict;
import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.RunFacts.Parameter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * The report of a run or of several: one HTML file that needs nothing else, with drawings in inline SVG and no script.
 * Equal facts give equal pages, byte by byte.
 */
public final class HtmlReport {
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
            warnings();
            tiles();
            page.append(Standings.html(facts));
            facts.remarks().seeds().ifPresent(seeds -> page.append(SeedTable.html(seeds)));
            page.append(FiguresTable.html(facts));
            section("GPUs by owner", Plots.owners(facts));
            section("Training", Plots.training(facts));
            section("Inference", Plots.inference(facts));
            ReportedRun subject = facts.subject().orElseThrow();
            facts.runs().forEach(run -> page.append(RunDetails.html(run, run.equals(subject) || !kept(run))));
            facts.shown().stream()
                    .filter(run -> !facts.runs().contains(run) && !kept(run))
                    .forEach(run -> page.append(RunDetails.html(run, true)));
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
                                Text.duration(Limits.millis(Duration.between(run.from(), run.to())) / 1000.0),
                                Text.minute(run.from()))));
        int runs = facts.runs().size();
        parts.add(runs == 1 ? "1 run" : runs + " runs");
        facts.parameters().stream()
                .limit(6)
                .forEach(parameter -> parts.add(parameter.name() + " " + parameter.value()));
        page.append(escape(String.join(" · ", parts))).append("</p></header>\n");
        facts.runs().stream()
                .filter(run -> !run.complete())
                .forEach(run -> page.append(
                        "<p class=\"note broken\"><b>Broken off.</b> “%s” did not play the workload to its end; its figures are up to that time.</p>\n"
                                .formatted(escape(run.name()))));
    }

    /** The warnings, each with its level as a word. */
    private void warnings() {
        facts.remarks()
                .warnings()
                .forEach(warning -> page.append("<p class=\"warned %s\"><b>%s</b> %s</p>\n"
                        .formatted(
                                warning.level().name().toLowerCase(Locale.ROOT),
                                warning.level(),
                                escape(warning.text()))));
    }

    private void tiles() {
        ReportedRun subject = facts.subject().orElseThrow();
        page.append("<div class=\"tiles\">\n");
        completionTile(subject);
        tile(
                "GPU-hours lent",
                Text.number(subject.loans().gpuHours()),
                "%s ended, %s on average"
                        .formatted(
                                Text.plural(subject.loans().ended(), "loan"),
                                Text.duration(subject.loans().meanSeconds())),
                "");
        requestsTile(subject);
        verdictTile();
        page.append("</div>\n");
    }

    private void completionTile(ReportedRun subject) {
        Text.DurationUnit unit = Standings.unit(facts);
        Optional<Double> mean = subject.training().meanSeconds();
        Optional<Double> before = facts.baseline()
                .filter(run -> !run.equals(subject))
                .flatMap(run -> run.training().meanSeconds());
        Optional<Double> shareOfGain = facts.references().flatMap(each -> each.shareOfPossibleGain(subject.training()));
        tile(
                "Average job completion time",
                mean.map(seconds -> Text.duration(seconds, unit)).orElse(Text.NOTHING),
                before.map(without -> "%s against %s without lending%s"
                                .formatted(
                                        FiguresTable.change(FiguresTable.Unit.DURATION, mean, before),
                                        Text.duration(without, unit),
                                        shareOfGain
                                                .map(share ->
                                                        ", %s of the possible gain".formatted(Text.percent(share)))
                                                .orElse("")))
                        .orElse("%s of %s jobs completed"
                                .formatted(
                                        Text.number(subject.training().completed()),
                                        Text.number(subject.training().submitted()))),
                "");
    }

    private void requestsTile(ReportedRun subject) {
        Optional<Delays> overhead = subject.inference().responseOverhead();
        if (subject.inference().sloAttainment().isPresent()) {
            sloTiles(subject);
        } else if (overhead.isPresent()) {
            tile(
                    "Response overhead, p99",
                    Text.duration(overhead.get().p99Seconds()),
                    "mean %s, max %s"
                            .formatted(
                                    Text.duration(overhead.get().meanSeconds()),
                                    Text.duration(overhead.get().maxSeconds())),
                    "");
        } else {
            tile("Requests offered", Text.number(subject.inference().requests()), "no SLO is known", "");
        }
    }

    private void sloTiles(ReportedRun subject) {
        Inference requests = subject.inference();
        Optional<Double> baseline = facts.baseline()
                .filter(run -> !run.equals(subject))
                .flatMap(run -> run.inference().comparedMissShare());
        boolean missed = SloObjective.level(requests.sloAttainment().orElse(1.0)) != RunWarning.Level.NOTE;
        tile(
                "SLO misses",
                Standings.misses(requests),
                "%s of the error budget of %s%s"
                        .formatted(
                                Standings.budget(requests).replace(" used", ""),
                                SloObjective.written(),
                                baseline.map(without -> ", against the baseline: "
                                                + Standings.against(
                                                        requests.comparedMissShare()
                                                                .orElse(0.0),
                                                        without))
                                        .orElse("")),
                missed ? "bad" : "");
        requests.worstService()
                .ifPresent(worst -> tile(
                        "Worst service",
                        "%s %s".formatted(worst.service(), Text.percent(worst.attainment())),
                        "within its SLO; %s misses of %s requests"
                                .formatted(Standings.count(worst.misses()), Standings.count(worst.requests())),
                        SloObjective.level(worst.attainment()) == RunWarning.Level.ALARM ? "bad" : ""));
    }

    private void verdictTile() {
        List<Verdict> verdicts =
                facts.shown().stream().flatMap(run -> run.verdict().stream()).toList();
        if (verdicts.isEmpty()) {
            tile("History checker", "not asked", "the log was not checked", "");
            return;
        }
        long violations = verdicts.stream()
                .mapToLong(verdict -> verdict.violations().size())
                .sum();
        tile(
                "History checker",
                violations == 0 ? "✓ every promise kept" : "✗ " + Text.plural(violations, "violation"),
                "%s and %s replayed"
                        .formatted(
                                Text.plural(
                                        verdicts.stream()
                                                .mapToLong(Verdict::events)
                                                .sum(),
                                        "event"),
                                Text.plural(
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

    private static boolean kept(ReportedRun run) {
        return run.verdict().map(Verdict::isContent).orElse(true);
    }

    private void section(String title, List<Drawing> figures) {
        if (figures.isEmpty()) {
            return;
        }
        boolean pair = figures.stream().allMatch(figure -> figure.width() == Drawing.NARROW);
        page.append("<section><h2>%s</h2>\n%s".formatted(escape(title), pair ? "<div class=\"pair\">\n" : ""));
        figures.forEach(figure -> page.append(figure.html()));
        page.append(pair ? "</div></section>\n" : "</section>\n");
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

    static String styleSheet() {
        try (InputStream sheet =
                Objects.requireNonNull(HtmlReport.class.getResourceAsStream("report.css"), "report.css")) {
            return new String(sheet.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
