package io.lendstream.simulator.results;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.Distribution;
import io.lendstream.simulator.JobResult;
import io.lendstream.simulator.RequestResult;
import io.lendstream.simulator.ServiceResult;
import io.lendstream.simulator.WorldResults;
import io.lendstream.simulator.forecasting.RateSeries;
import io.lendstream.simulator.forecasting.Score;
import io.lendstream.simulator.report.HtmlReport;
import io.lendstream.simulator.report.ReportedRun;
import io.lendstream.simulator.report.RunFacts;
import io.lendstream.simulator.report.RunFacts.References;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is extreme in a run comes out of the result files again, in cells and fields that a strict reader takes. */
class HostileResultsTest {
    private static final String FORMULA_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20";
    private static final ObjectMapper STRICT = new ObjectMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

    @TempDir
    Path folder;

    static List<String> texts() {
        List<String> texts = new ArrayList<>(List.of(
                "",
                " ",
                "=cmd|' /C calc'!A0",
                "+1",
                "-1",
                "@SUM(1)",
                "\t=1",
                "\r=1",
                "\n=1",
                "\r\n=1\r\n",
                "\uff1d1",
                "\uff0b1",
                "\uff0d1",
                "\uff201",
                "a,b",
                "\"",
                "a\"b\"\"",
                "\",=1,\"",
                "'",
                "a\nb\rc\r\nd",
                "\u001b[2J\u0000\u007f\u009b31m",
                "\u202egnp.exe\u2066\u200e\ufeff",
                "\u2028\u2029\u0085",
                "\uD83D\uDE80 Gr\u00f6\u00dfe \uFFFF",
                "</script><script>alert(1)</script>",
                "\uD800",
                "a\uDC00b",
                "\uDBFF\uDBFF\uDC00"));
        texts.add("\u2603".repeat(Limits.LONGEST_TEXT));
        return texts;
    }

    @ParameterizedTest
    @MethodSource("texts")
    void everyTextComesBack(String text) throws IOException {
        new ResultFiles(folder).write(List.of(outcome(text, 1, Instant.EPOCH)));

        List<List<String>> jobs = table("jobs.csv");
        List<List<String>> requests = table("inference.csv");
        assertThat(jobs).hasSize(2);
        assertThat(jobs.get(1).get(0)).isEqualTo(cell(text));
        assertThat(jobs.get(1).get(2)).isEqualTo(cell(id(text)));
        assertThat(requests).hasSize(2);
        assertThat(requests.get(1).get(2)).isEqualTo(cell(text));
        JsonNode decision = STRICT.readTree(onlyLine());
        for (String field : List.of("reason", "code", "policy")) {
            assertThat(decision.get(field).asText()).as(field).isEqualTo(text);
        }
        for (String field : List.of("/domain", "/target", "/gpus/0")) {
            assertThat(decision.at(field).asText()).as(field).isEqualTo(id(text));
        }
        assertThat(decision.get("numbers").fieldNames().next()).isEqualTo(text);
        JsonNode summary = STRICT.readTree(folder.resolve("summary.json").toFile());
        assertThat(summary.get(0).get("workload").asText()).isEqualTo(text);
        assertThat(summary.get(0).get("policy").asText()).isEqualTo(text);
    }

    @Test
    void forecastsWithoutASummaryLeaveNoFiles() throws IOException {
        var series = new RateSeries("series", Duration.ofMinutes(5), 0, 1, 2, 3);
        try (var files = new ForecastFiles(folder, Duration::toString)) {
            files.forecast(series, "model", 0, 1, new HorizonQuantiles(Duration.ofMinutes(5), 1, 2, 3, 4));
        }

        try (var left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("texts")
    void everyTextOfAForecastComesBack(String text) throws IOException {
        var series = new RateSeries(text, Duration.ofMinutes(5), 0, 1, 2, 3);
        try (var files = new ForecastFiles(folder, horizon -> text)) {
            files.forecast(series, text, 0, 1, new HorizonQuantiles(Duration.ofMinutes(5), 1, 2, 3, 4));
            files.summary(List.of(score(text, 1)));
        }

        List<List<String>> forecasts = table("forecasts.csv");
        assertThat(forecasts).hasSize(2);
        assertThat(forecasts.get(1).subList(0, 3)).containsOnly(cell(text));
        JsonNode summary =
                STRICT.readTree(folder.resolve("summary.json").toFile()).get(0);
        assertThat(List.of(summary.get("series"), summary.get("model"), summary.get("horizon")))
                .allMatch(field -> field.asText().equals(text));
    }

    /** A number as it may come, and what no sum or rounding may make of it. */
    @ParameterizedTest
    @ValueSource(
            doubles = {
                Double.NaN,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                Double.MAX_VALUE,
                -Double.MAX_VALUE,
                Double.MIN_VALUE,
                -0.0,
                1e300,
                1e13,
                0x1p63
            })
    void everyNumberIsItselfOrNone(double number) throws IOException {
        RunOutcome outcome = outcome("run", number, Instant.EPOCH);
        ReportedRun facts = RunFactsOf.figures(outcome);

        new ResultFiles(folder).write(List.of(outcome), Optional.of(new References(facts, facts)));

        List<String> job = table("jobs.csv").get(1);
        assertNumber(job.get(8), number);
        JsonNode decision = STRICT.readTree(onlyLine());
        assertNumber(decision.at("/numbers/run"), number);
        JsonNode summary =
                STRICT.readTree(folder.resolve("summary.json").toFile()).get(0);
        assertNumber(summary.get("wallSeconds"), number);
        assertNumber(summary.get("responseOverheadMaxSeconds"), number);
        assertThat(HtmlReport.render(new RunFacts("run", List.of(), List.of(facts))))
                .endsWith("</html>\n")
                .doesNotContain("NaN", "Infinity");
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MAX_VALUE, 1e13})
    void everyNumberOfAForecastIsItselfOrNone(double number) throws IOException {
        var series = new RateSeries("series", Duration.ofMinutes(5), 0, 1, number);
        double greatest = Double.MAX_VALUE;
        var said = new HorizonQuantiles(Duration.ofMinutes(5), 0, greatest, greatest, greatest)
                .in(new GpuQuantiles(0, 1, Integer.MAX_VALUE, Integer.MAX_VALUE));
        try (var files = new ForecastFiles(folder, Duration::toString, Optional.of(new ReplicaCapacity(12.5, 2)))) {
            files.forecast(series, "model", 0, 1, said);
            files.summary(List.of(score("series", number)));
        }

        List<String> forecast = table("forecasts.csv").get(1);
        assertNumber(forecast.get(8), greatest);
        assertNumber(forecast.get(9), number);
        assertThat(forecast.get(13)).isEqualTo("2147483647");
        assertThat(forecast.get(14)).matches(Double.isFinite(number) ? "[0-9]+" : "");
        JsonNode summary =
                STRICT.readTree(folder.resolve("summary.json").toFile()).get(0);
        for (String field : List.of("mae", "nmae", "mase", "pinball90", "coverage99", "p99OverMean", "meanGpus99")) {
            assertNumber(summary.get(field), number);
        }
    }

    @Test
    void theLongestTimesAndCountsAreWritten() throws IOException {
        for (Instant end : List.of(Instant.MIN, Instant.MAX)) {
            RunOutcome outcome = outcome("run", 1, end);

            new ResultFiles(folder).write(List.of(outcome));

            assertThat(Math.abs(Double.parseDouble(table("jobs.csv").get(1).get(6))))
                    .isEqualTo(Long.MAX_VALUE / 1000.0);
            JsonNode summary =
                    STRICT.readTree(folder.resolve("summary.json").toFile()).get(0);
            assertThat(summary.get("seed").asLong()).isEqualTo(Long.MAX_VALUE);
            assertThat(Math.abs(summary.get("avgJctSeconds").asDouble())).isEqualTo(Long.MAX_VALUE / 1000.0);
            assertThat(HtmlReport.render(new RunFacts("run", List.of(), List.of(RunFactsOf.figures(outcome)))))
                    .endsWith("</html>\n");
        }
    }

    @Test
    void aRunWithoutAnythingIsWritten() throws IOException {
        var nothing = new WorldResults(Instant.EPOCH, Instant.EPOCH, List.of(), List.of(), List.of(), 0, 0, 0, 0, 0);

        new ResultFiles(folder)
                .write(List.of(new RunOutcome(new RunIdentity("", "", false, false, 0, 0, 0), nothing, List.of(), 0)));

        assertThat(table("jobs.csv")).hasSize(1);
        assertThat(table("inference.csv")).hasSize(1);
        assertThat(folder.resolve("decisions.jsonl")).isEmptyFile();
        assertThat(STRICT.readTree(folder.resolve("summary.json").toFile())).hasSize(1);
    }

    private static RunOutcome outcome(String text, double number, Instant end) {
        Distribution delays = new Distribution();
        delays.add(number);
        JobResult job = new JobResult(
                new JobId(id(text)),
                text,
                end.equals(Instant.MAX) ? Instant.MIN : end.equals(Instant.MIN) ? Instant.MAX : Instant.EPOCH,
                Optional.of(Instant.EPOCH),
                Optional.of(end),
                Integer.MAX_VALUE,
                number,
                number,
                JobPhase.FINISHED);
        RequestResult request = new RequestResult(
                text, new ServiceId(id(text)), Instant.MIN, Instant.EPOCH, Instant.MAX, LONGEST, true);
        WorldResults results = new WorldResults(
                Instant.EPOCH,
                end,
                List.of(job),
                List.of(request),
                List.of(new ServiceResult(
                        new ServiceId(id(text)), number, Long.MAX_VALUE, number, number, delays, delays)),
                Integer.MAX_VALUE,
                number,
                number,
                number,
                number);
        Decision decision = new Decision(
                new DecisionId(new DomainId(id(text)), Long.MAX_VALUE, Long.MAX_VALUE),
                Instant.MIN,
                Instant.MAX,
                false,
                new Reason(text, text, Map.of(text, number), List.of(Long.MAX_VALUE, Long.MIN_VALUE)),
                new Action.Serve(new ServiceId(id(text)), List.of(new GpuId(id(text))), true));
        RunIdentity run = new RunIdentity(text, text, true, true, Long.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);
        return new RunOutcome(run, results, List.of(decision), number);
    }

    private static Score score(String text, double number) {
        return new Score(
                text,
                Duration.ofMinutes(5),
                Duration.ofMinutes(5),
                text,
                Integer.MAX_VALUE,
                new Score.Errors(number, number, number, number, number),
                new Score.Covered(number, number, number, number),
                number,
                Optional.of(new Score.InGpus(number, number, number)));
    }

    /** The same as an id: of old data, where any characters were allowed, but not of any length. */
    private static String id(String text) {
        return text.isBlank() ? "id" + text : Limits.cut(text, Limits.LONGEST_NAME);
    }

    /** What a text is as a cell: UTF-8 has no halves of surrogate pairs, and a formula gets an apostrophe. */
    private static String cell(String text) {
        StringBuilder cell = new StringBuilder();
        text.codePoints().forEach(point -> cell.appendCodePoint(point >= 0xD800 && point <= 0xDFFF ? 0xFFFD : point));
        return !text.isEmpty() && FORMULA_STARTS.indexOf(text.charAt(0)) >= 0 ? "'" + cell : cell.toString();
    }

    private static void assertNumber(String cell, double number) {
        if (Double.isFinite(number)) {
            assertThat(Double.parseDouble(cell)).isEqualTo(number, org.assertj.core.data.Offset.offset(0.001));
        } else {
            assertThat(cell).isEmpty();
        }
    }

    private static void assertNumber(JsonNode field, double number) {
        if (Double.isFinite(number)) {
            assertThat(field.isNumber()).as("%s", field).isTrue();
            assertThat(field.asDouble()).isEqualTo(number, org.assertj.core.data.Offset.offset(0.001));
        } else {
            assertThat(field.isNull()).as("%s", field).isTrue();
        }
    }

    private String onlyLine() throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve("decisions.jsonl"));
        assertThat(lines).hasSize(1);
        return lines.get(0);
    }

    /** The rows of a table as RFC 4180 has them, all as long as the first, and none with a formula. */
    private List<List<String>> table(String name) throws IOException {
        List<List<String>> rows = rows(Files.readString(folder.resolve(name)));
        assertThat(rows).isNotEmpty().allSatisfy(row -> assertThat(row).hasSameSizeAs(rows.get(0)));
        rows.stream()
                .flatMap(List::stream)
                .filter(cell -> !cell.isEmpty() && FORMULA_STARTS.indexOf(cell.charAt(0)) >= 0)
                .forEach(cell -> assertThat(cell).as("a formula").matches("-[0-9.]+(E-?[0-9]+)?"));
        return rows;
    }

    private static List<List<String>> rows(String text) {
        List<List<String>> rows = new ArrayList<>();
        List<String> row = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            StringBuilder cell = new StringBuilder();
            if (text.charAt(at) == '"') {
                at++;
                while (text.charAt(at) != '"' || text.startsWith("\"\"", at)) {
                    at += text.charAt(at) == '"' ? 1 : 0;
                    cell.append(text.charAt(at++));
                }
                at++;
            } else {
                while (",\"\r\n".indexOf(text.charAt(at)) < 0) {
                    cell.append(text.charAt(at++));
                }
            }
            row.add(cell.toString());
            char end = text.charAt(at++);
            assertThat(end).as("what ends cell '%s'", cell).isIn(',', '\n');
            if (end == '\n') {
                rows.add(row);
                row = new ArrayList<>();
            }
        }
        assertThat(row).as("a line without an end").isEmpty();
        return rows;
    }
}
