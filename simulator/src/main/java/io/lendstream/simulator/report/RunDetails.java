package io.lendstream.simulator.report;

import static io.lendstream.simulator.report.Text.escape;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Violation;
import io.lendstream.core.id.GpuId;
import io.lendstream.simulator.report.ReportedRun.DecisionFacts;
import io.lendstream.simulator.report.ReportedRun.KindCount;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** One run in detail: its services, loans and decisions, and what the history checker found. */
final class RunDetails {
    private static final int MOST_GPUS_NAMED = 16;
    private static final int MOST_REASONS_NAMED = 5;
    private static final int MOST_VIOLATIONS = 50;

    private final StringBuilder page = new StringBuilder();

    private RunDetails() {}

    /** The details of a run beside its figures, if there are any, folded up unless it is {@code open}. */
    static String html(ReportedRun run, boolean open) {
        if (run.services().isEmpty()
                && run.decisions().total() == 0
                && run.verdict().isEmpty()) {
            return "";
        }
        RunDetails details = new RunDetails();
        details.write(run, open);
        return details.page.toString();
    }

    private void write(ReportedRun run, boolean open) {
        page.append("<details class=\"run\"%s><summary><h2>%s</h2></summary>\n"
                .formatted(open ? " open" : "", escape(run.name())));
        services(run);
        Plots.loans(run).forEach(figure -> page.append("<h3>Loans</h3>\n").append(figure.html()));
        decisions(run);
        verdict(run);
        page.append("</details>\n");
    }

    private void services(ReportedRun run) {
        List<Drawing> figures = Plots.services(run);
        if (figures.isEmpty()) {
            return;
        }
        page.append("<h3>Services: demand, forecast and replicas</h3>\n");
        page.append("<p class=\"note\">%s Each point is the greatest value within %s.</p>\n<div class=\"pair\">\n"
                .formatted(
                        run.servicesInAll() > figures.size()
                                ? "The %d busiest of %s services."
                                        .formatted(figures.size(), Text.number(run.servicesInAll()))
                                : "",
                        Text.duration(run.sampleStep().toMillis() / 1000.0)));
        figures.forEach(figure -> page.append(figure.html()));
        page.append("</div>\n");
    }

    private void decisions(ReportedRun run) {
        DecisionFacts decisions = run.decisions();
        if (decisions.total() == 0) {
            return;
        }
        page.append("<h3>Decisions</h3>\n<p class=\"note\">%s%s.</p>\n"
                .formatted(
                        Text.plural(decisions.total(), "decision"),
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

    private void decisionTable(ReportedRun run, String title, List<Decision> decisions) {
        page.append("<h4>%s</h4>\n<div class=\"scroll tall\"><table class=\"decisions\"><thead><tr>".formatted(title))
                .append(
                        "<th>time</th><th>kind</th><th>target</th><th class=\"number\">GPUs</th><th>reason</th></tr></thead>\n<tbody>\n");
        for (Decision decision : decisions) {
            List<GpuId> gpus = decision.action().gpus();
            String named = gpus.stream()
                    .limit(MOST_GPUS_NAMED)
                    .map(GpuId::value)
                    .collect(Collectors.joining(", ", "", gpus.size() > MOST_GPUS_NAMED ? ", …" : ""));
            page.append("<tr><td class=\"time\" title=\"%s, decision %s\">%s</td><td>%s%s</td><td>%s</td>"
                    .formatted(
                            Text.second(decision.at()),
                            escape(decision.id().toString()),
                            Text.elapsed(run.from(), decision.at()),
                            badge(decision.countedAs()),
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

    private void verdict(ReportedRun run) {
        run.verdict().ifPresent(verdict -> {
            page.append("<h3>History checker</h3>\n<div class=\"verdict %s\"><p><b>%s</b> %s</p>\n"
                    .formatted(
                            verdict.isContent() ? "good" : "bad",
                            verdict.isContent()
                                    ? "✓ Every promise was kept."
                                    : "✗ %s found."
                                            .formatted(Text.plural(
                                                    verdict.violations().size(), "violation")),
                            escape(
                                    "Replayed %s events and %s decisions (%s lends, %s reclaims, %s releases by jobs that ended); %s reports by actuators."
                                            .formatted(
                                                    Text.number(verdict.events()),
                                                    Text.number(verdict.decisions()),
                                                    Text.number(verdict.lends()),
                                                    Text.number(verdict.reclaims()),
                                                    Text.number(verdict.releases()),
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
}
