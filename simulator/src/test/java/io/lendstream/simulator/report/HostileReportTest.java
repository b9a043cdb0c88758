package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.history.Verdict;
import io.lendstream.core.history.Violation;
import io.lendstream.simulator.forecasting.Score;
import io.lendstream.simulator.report.RunFacts.Parameter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names and reasons are text on a page, whatever they hold. */
@Timeout(60)
class HostileReportTest {
    private static final String HOSTILE =
            "</title></style></svg><script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;%s%n"
                    + "\u001b[2J\u001b]0;gone\u0007\u009b31m\u0000\u007f\r\u202egnp\u2066\u200f\u2028\uFEFF\uFFFE\uFFFF\uD800";

    @TempDir
    Path folder;

    @Test
    void everyTextOfARunIsText() {
        FactsCollector collector = new FactsCollector("run" + HOSTILE, true);
        collector.take(Sightings.rate("service" + HOSTILE, "source" + HOSTILE, 1, 15, 30));
        collector.take(Sightings.forecast("service" + HOSTILE, 15, 1, 2));
        collector.take(Sightings.lease("gpu" + HOSTILE, Sightings.lent("job" + HOSTILE), 15));
        collector.take(Sightings.decision(
                1, 20, Sightings.lend("job" + HOSTILE, "gpu" + HOSTILE), "code" + HOSTILE, "reason" + HOSTILE));
        ReportedRun run = collector
                .facts()
                .withVerdict(
                        new Verdict(1, 1, 1, 1, 1, List.of(new Violation("rule" + HOSTILE, "violation" + HOSTILE))));

        String page = HtmlReport.render(new RunFacts(
                "title" + HOSTILE, List.of(new Parameter("parameter" + HOSTILE, "value" + HOSTILE)), List.of(run)));

        assertHarmless(page);
        for (String field : List.of(
                "run", "service", "gpu", "job", "code", "reason", "rule", "violation", "title", "parameter", "value")) {
            assertThat(page).as(field).contains(field + "&lt;/title&gt;");
        }
    }

    @Test
    void everyTextOfAForecastIsTextAndItsFileStaysInTheDirectory() throws Exception {
        Score score = score("../series" + HOSTILE, "model" + HOSTILE, Double.NaN);
        ForecastReport.Band band = new ForecastReport.Band(
                score.series(),
                score.model(),
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                List.of(new ForecastReport.Point(Sightings.START, 1, 1, 2, 3, 4)));
        ForecastReport.Band longest = new ForecastReport.Band(
                "\u2603".repeat(1000), "m", Duration.ofMinutes(5), Duration.ofMinutes(5), band.points());

        ForecastReport.write(List.of(score), List.of(band, longest), folder, new PngPlots());

        String page = Files.readString(folder.resolve("report.html"));
        assertHarmless(page);
        assertThat(page).contains("series&lt;/title&gt;", "model&lt;/title&gt;").doesNotContain("NaN");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .allMatch(name -> name.matches("[A-Za-z0-9._-]{1,204}"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            doubles = {
                Double.NaN,
                Double.POSITIVE_INFINITY,
                Double.MAX_VALUE,
                1e308,
                1e300,
                Double.MIN_VALUE,
                -Double.MAX_VALUE
            })
    void drawsForecastsOfAnySize(double number) throws IOException {
        ForecastReport.Band band = new ForecastReport.Band(
                "series",
                "model",
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                List.of(new ForecastReport.Point(Sightings.START, number, number, number, number, number)));

        ForecastReport.write(List.of(score("series", "model", number)), List.of(band), folder, new PngPlots());

        assertThat(Files.readString(folder.resolve("report.html")))
                .endsWith("</html>\n")
                .doesNotContain("NaN", "Infinity");
    }

    private static Score score(String series, String model, double number) {
        return new Score(
                series,
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                model,
                1,
                new Score.Errors(number, number, number, number, number),
                new Score.Covered(number, number, number, number),
                number,
                Optional.empty());
    }

    /** No markup but our own, and no character that a browser or an editor would obey. */
    private static void assertHarmless(String page) {
        assertThat(page).doesNotContain("<script", "<img", "alert('", "onerror=\"");
        assertThat(page.split("</title>", -1).length - 1)
                .as("titles are ours")
                .isEqualTo(page.split("<title>", -1).length - 1);
        assertThat(page.codePoints().filter(HostileReportTest::isObeyed).boxed().map(Integer::toHexString))
                .isEmpty();
        String svgs = page;
        for (int from = svgs.indexOf("<svg"); from >= 0; from = svgs.indexOf("<svg", from + 1)) {
            String svg = svgs.substring(from, svgs.indexOf("</svg>", from) + 6);
            assertThat(svg)
                    .satisfies(picture -> DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(new org.xml.sax.InputSource(new java.io.StringReader(picture))));
        }
    }

    private static boolean isObeyed(int point) {
        int type = Character.getType(point);
        return point != '\n'
                && (type == Character.CONTROL
                        || type == Character.FORMAT
                        || type == Character.SURROGATE
                        || type == Character.LINE_SEPARATOR
                        || point == 0xFFFE
                        || point == 0xFFFF);
    }
}
