package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.history.Verdict;
import io.lendstream.core.history.Violation;
import io.lendstream.simulator.report.ReportedRun.Course;
import io.lendstream.simulator.report.ReportedRun.Figures;
import io.lendstream.simulator.report.ReportedRun.Inference;
import io.lendstream.simulator.report.ReportedRun.OwnerSample;
import io.lendstream.simulator.report.ReportedRun.Period;
import io.lendstream.simulator.report.ReportedRun.Point;
import io.lendstream.simulator.report.ReportedRun.ServiceFacts;
import io.lendstream.simulator.report.ReportedRun.Training;
import io.lendstream.simulator.report.RunFacts.Parameter;
import io.lendstream.simulator.report.RunFacts.References;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static final RunFacts DAY = Specimen.day();

    @Test
    void showsAWholeDayOnOnePageOfAModestSize() throws IOException {
        String page = HtmlReport.render(DAY);

        assertThat(page)
                .contains("Headline figures", "GPUs by owner", "Job completion times", "Response overhead")
                .contains("Demand, forecast and replicas of service-5", "Loans in time", "Decisions", "History checker")
                .contains("Parameters", "prefers-color-scheme");
        assertThat(page.length()).isLessThan(2_000_000);
        Files.writeString(Path.of("target", "specimen-report.html"), page);
    }

    @Test
    void needsNothingFromTheNetworkAndNoScript() {
        assertThat(HtmlReport.render(DAY)).doesNotContain("http", "<script", "<link", "@import", "url(", "src=");
    }

    @Test
    void isTheSameForTheSameFacts() {
        assertThat(HtmlReport.render(Specimen.day())).isEqualTo(HtmlReport.render(DAY));
    }

    @Test
    void drawsWellFormedPictures() throws Exception {
        String page = HtmlReport.render(DAY);

        int pictures = 0;
        for (int from = page.indexOf("<svg"); from >= 0; from = page.indexOf("<svg", from + 1)) {
            String svg = page.substring(from, page.indexOf("</svg>", from) + 6);
            DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
            pictures++;
        }

        assertThat(pictures).isGreaterThan(10);
    }

    @Test
    void treatsForeignTextAsText() {
        String evil = "<script>alert('1')</script>&\"\u0000";
        FactsCollector collector = new FactsCollector(evil, true);
        collector.take(Sightings.rate("service\"<b>", "gateway", 1, 15, 30));
        collector.take(Sightings.decision(1, 20, Sightings.lend("job<i>", "gpu\"<u>"), "plan", evil));
        ReportedRun run = collector.facts().withVerdict(new Verdict(1, 1, 1, 1, 1, List.of(new Violation(evil, evil))));

        String page = HtmlReport.render(new RunFacts(evil, List.of(new Parameter(evil, evil)), List.of(run)));

        assertThat(page)
                .doesNotContain("<script", "<b>\"", "<i>", "<u>", "\u0000")
                .contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;")
                .contains("service&quot;&lt;b&gt;", "job&lt;i&gt;", "gpu&quot;&lt;u&gt;");
    }

    @Test
    void rendersARunInWhichNothingHappened() {
        ReportedRun nothing = new FactsCollector("nothing", false).facts();

        String noRun = HtmlReport.render(new RunFacts("no run", List.of(), List.of()));
        String emptyRun = HtmlReport.render(new RunFacts("empty run", List.of(), List.of(nothing)));

        assertThat(noRun).contains("No run has been recorded yet").endsWith("</html>\n");
        assertThat(emptyRun).contains("empty run").endsWith("</html>\n").doesNotContain("NaN", "Infinity");
    }

    @Test
    void neverShowsNumbersThatAreNone() {
        for (double none : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            ReportedRun empty = new FactsCollector("run", true).facts();
            List<Point> points = List.of(new Point(Sightings.START, none, none));
            ReportedRun run = new ReportedRun(
                    "run",
                    true,
                    new Period(Sightings.START, Sightings.at(60), empty.sampleStep()),
                    new Course(
                            List.of(new OwnerSample(Sightings.START, Map.of(OwnerGroup.LENT, none))),
                            List.of(new ServiceFacts(
                                    Sightings.service("s", 1).service(),
                                    1,
                                    Optional.of(none),
                                    Optional.empty(),
                                    points,
                                    List.of(new ReportedRun.ForecastPoint(Sightings.START, none, none)),
                                    points)),
                            1),
                    new Figures(
                            new Training(2, 1, List.of(none), Optional.empty(), Optional.of(none)),
                            new Inference(
                                    1,
                                    Optional.empty(),
                                    Optional.of(new Delays(none, none, none, List.of())),
                                    Optional.of(
                                            new Delays(none, none, none, List.of(new Delays.CurvePoint(none, none)))),
                                    Optional.of(none)),
                            new ReportedRun.Loans(none, 1, 1, none, none, List.of()),
                            empty.decisions()),
                    Optional.empty(),
                    true);
            ReportedRun other = ReportedRun.ofFigures("other", false, run.training(), run.inference(), true);

            String page = HtmlReport.render(new RunFacts("none", List.of(), List.of(run, other)));

            assertThat(page).doesNotContain("NaN", "Infinity", "∞", "\uFFFD", "9,223,372");
        }
    }

    @Test
    void measuresLendingAgainstTheRunWithoutIt() {
        ReportedRun with = ReportedRun.ofFigures("lending on", true, completions(50.0), noRequests(), true);
        ReportedRun without = ReportedRun.ofFigures("lending off", false, completions(100.0), noRequests(), true);

        String page = HtmlReport.render(new RunFacts("both", List.of(), List.of(with, without)));

        assertThat(page).contains("▼ 50.0 %", "▼ 50.0 % against 100 s without lending");
    }

    @Test
    void comparesSeveralRunsAndSaysWhichJobsAreMissing() {
        ReportedRun none = ReportedRun.ofFigures("no lending", false, completions(100.0), noRequests(), true);
        ReportedRun first = ReportedRun.ofFigures("deepboot", true, completions(80.0), noRequests(), true);
        ReportedRun second = ReportedRun.ofFigures(
                "lendstream",
                true,
                new Training(3, 1, List.of(500.0), Optional.empty(), Optional.empty()),
                noRequests(),
                true);

        String page = HtmlReport.render(new RunFacts("three", List.of(), List.of(none, first, second)));

        assertThat(page)
                .contains("change, deepboot", "change, lendstream", "▼ 20.0 %", "▲ 5 times")
                .contains("2 of 3 jobs of “lendstream” had not finished");
    }

    @Test
    void showsRunsBetweenTheBaselineAndTheOracle() {
        ReportedRun run = ReportedRun.ofFigures("deepboot, lending on", true, completions(250.0), noRequests(), true);
        References references = new References(
                ReportedRun.ofFigures("no-lending, lending off", false, completions(400.0), noRequests(), true),
                ReportedRun.ofFigures("clairvoyant, lending on", true, completions(100.0), noRequests(), true));

        String page = HtmlReport.render(new RunFacts("one", List.of(), List.of(run), Optional.of(references)));

        assertThat(page)
                .contains("no-lending baseline: no-lending, lending off", "oracle: clairvoyant, lending on", ">50.0 %<")
                .contains("▼ 37.5 % against 6.67 min without lending, 50.0 % of the possible gain");
    }

    @Test
    void showsSloMissesAndTheWorstServiceFirst() {
        Inference requests = new Inference(
                1000,
                Optional.of(3L),
                Optional.empty(),
                Delays.of(List.of(0.0, 5.0)),
                Optional.of(.9989),
                List.of(new ServiceSlo("chat", 500, 499, 1), new ServiceSlo("vision", 500, 499.9, 2)),
                Optional.empty());
        ReportedRun run = ReportedRun.ofFigures("deepboot, lending on", true, completions(250.0), requests, true);

        String page = HtmlReport.render(new RunFacts("one", List.of(), List.of(run)));

        assertThat(page)
                .contains("<span>SLO misses</span><strong>WARNING 0.110 % (1)</strong>")
                .contains("110 % of the error budget of 99.9 %")
                .contains("<span>Worst service</span><strong>chat 99.800 %</strong>")
                .doesNotContain("<span>Response overhead, p99</span>");
    }

    @Test
    void marksAlarmsWithAWordAndNotByColourAlone() {
        Inference requests =
                new Inference(1000, Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(.844));
        ReportedRun run = ReportedRun.ofFigures("lendstream, lending on", true, completions(250.0), requests, true);
        Remarks remarks = new Remarks(
                RunWarnings.slo(run).stream().toList(), Optional.of("no lending: same 16 GPUs"), Optional.empty());

        String page = HtmlReport.render(new RunFacts("one", List.of(), List.of(run), Optional.empty(), remarks));

        assertThat(page)
                .contains("<p class=\"warned alarm\"><b>ALARM</b> lendstream, lending on: 84.4 % of the requests")
                .contains("<td class=\"number alarm\">ALARM 15.6 % (156)</td>")
                .contains("Baseline: no lending: same 16 GPUs.");
    }

    @Test
    void barsShowWhatTheirTitleSays() {
        Inference requests =
                new Inference(1000, Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(.9989));
        ReportedRun run = ReportedRun.ofFigures("deepboot, lending on", true, completions(250.0), requests, true);

        Drawing bars = Charts.slo(List.of(run));

        assertThat(bars.title()).isEqualTo("Requests beyond their SLO");
        assertThat(bars.html()).contains("0.110 %").doesNotContain("99.890 %");
    }

    @Test
    void saysWhichRunsWereBrokenOff() {
        ReportedRun whole = ReportedRun.ofFigures("whole", true, completions(50.0), noRequests(), true);
        ReportedRun half = ReportedRun.ofFigures("half", false, completions(50.0), noRequests(), false);

        String page = HtmlReport.render(new RunFacts("t", List.of(), List.of(whole, half)));

        assertThat(page).contains("“half” did not play the workload to its end").doesNotContain("“whole” did not play");
    }

    @Test
    void saysWhichPromisesWereBroken() {
        ReportedRun run = ReportedRun.ofFigures("run", true, completions(50.0), noRequests(), true)
                .withVerdict(new Verdict(10, 3, 3, 1, 1, List.of(new Violation("one owner", "g1 had two"))));

        String page = HtmlReport.render(new RunFacts("broken", List.of(), List.of(run)));

        assertThat(page).contains("✗ 1 violation", "one owner", "g1 had two").contains("<details class=\"run\" open>");
    }

    private static Training completions(Double... seconds) {
        return new Training(seconds.length, seconds.length, List.of(seconds), Optional.empty(), Optional.empty());
    }

    private static Inference noRequests() {
        return new Inference(0, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    @Test
    void writesNumbersWithTheDigitsThatMatter() {
        assertThat(Text.number(1234567.8)).isEqualTo("1,234,568");
        assertThat(Text.number(12.345)).isEqualTo("12.3");
        assertThat(Text.number(0.01234)).isEqualTo("0.0123");
        assertThat(Text.number(-3)).isEqualTo("\u22123");
        assertThat(Text.percent(0.9987)).isEqualTo("99.870 %");
        assertThat(Text.percent(-11)).isEqualTo("\u22121,100.0 %");
        assertThat(Text.percent(-1e-9)).isEqualTo("0.000 %");
        assertThat(Text.duration(5400)).isEqualTo("90 min");
        assertThat(Text.duration(0.02)).isEqualTo("20 ms");
        assertThat(Text.elapsed(Sightings.START, Sightings.at(90061))).isEqualTo("1d 01:01:01");
        assertThat(Collections.frequency(List.of(Text.length(Double.NaN), Text.length(-0.01)), "0"))
                .isEqualTo(2);
    }
}
