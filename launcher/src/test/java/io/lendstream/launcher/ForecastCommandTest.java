package io.lendstream.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForecastCommandTest {
    private static final int HALF_HOURS = 4 * 48;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path directory;

    @BeforeEach
    void writeSeries() throws IOException {
        StringBuilder text = new StringBuilder("epoch_s,value\n");
        for (int i = 0; i < HALF_HOURS; i++) {
            String value = i % 50 == 0 ? "" : "%.3f".formatted(100 + 50 * Math.sin(2 * Math.PI * i / 48) + i % 5);
            text.append(1800L * i).append(',').append(value).append('\n');
        }
        Files.writeString(directory.resolve("rates.csv"), text);
    }

    private int run(String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "forecast",
                "--series",
                directory.resolve("rates.csv").toString(),
                "--out",
                directory.resolve("out").toString()));
        arguments.addAll(List.of(more));
        return LendstreamMain.run(
                arguments.toArray(String[]::new), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    @Test
    void writesAScoreForEachModelAndHorizonAndEveryForecast() throws IOException {
        int code =
                run("--step", "30m", "--horizon", "1h,30m", "--model", "persistence,lendstream", "--train-days", "3");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        JsonNode summary = new ObjectMapper()
                .readTree(directory.resolve("out/summary.json").toFile());
        assertThat(summary).hasSize(4).allSatisfy(score -> {
            assertThat(score.get("series").asText()).isEqualTo("rates");
            assertThat(score.get("step").asText()).isEqualTo("30m");
            assertThat(score.get("n").asInt()).isBetween(40, 48);
            for (String field : List.of("mae", "nmae", "mase", "pinball90", "pinball99", "coverage90", "coverage99")) {
                assertThat(score.get(field).isNumber()).as(field).isTrue();
            }
        });
        assertThat(summary.findValuesAsText("horizon")).containsExactly("30m", "1h", "30m", "1h");
        List<String> lines = Files.readAllLines(directory.resolve("out/forecasts.csv"));
        assertThat(lines.get(0)).isEqualTo("series,model,horizon,issued_epoch_s,target_epoch_s,p10,p50,p90,p99,actual");
        // 47 and 46 origins have a target within the series
        assertThat(lines).hasSize(1 + 2 * (47 + 46));
        assertThat(lines.get(1)).startsWith("rates,persistence,30m,259200,261000,");
        assertThat(directory.resolve("out/report.html")).exists();
    }

    /** A replica answers 10 units of the series, 8.5 of them safely; it lies between 50 and 154. */
    @Test
    void speaksInGpusWhereItIsSaidWhatAReplicaAnswers() throws IOException {
        int code = run(
                "--step", "30m", "--horizon", "1h", "--train-days", "3", "--replica-capacity", "10", "--floor", "8");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        List<String> lines = Files.readAllLines(directory.resolve("out/forecasts.csv"));
        assertThat(lines.get(0)).endsWith(",p99,actual,gpus10,gpus50,gpus90,gpus99,gpusActual");
        double ready = 0;
        double needed = 0;
        double enough = 0;
        int scored = 0;
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            assertThat(Integer.parseInt(cells[13])).isEqualTo(gpus(cells[8])).isBetween(8, 40);
            if (!cells[9].isEmpty()) {
                assertThat(Integer.parseInt(cells[14]))
                        .isEqualTo(gpus(cells[9]))
                        .isBetween(8, 19);
            }
            if (!cells[9].isEmpty() && hasValue(cells[3])) {
                ready += gpus(cells[8]);
                needed += gpus(cells[9]);
                enough += gpus(cells[9]) <= gpus(cells[8]) ? 1 : 0;
                scored++;
            }
        }
        JsonNode score = new ObjectMapper()
                .readTree(directory.resolve("out/summary.json").toFile())
                .get(0);
        assertThat(score.get("n").asInt()).isEqualTo(scored);
        assertThat(score.get("meanGpus99").asDouble()).isCloseTo(ready / scored, within(1e-9));
        assertThat(score.get("meanGpusNeeded").asDouble()).isCloseTo(needed / scored, within(1e-9));
        assertThat(score.get("gpus99Enough").asDouble()).isCloseTo(enough / scored, within(1e-9));
        assertThat(out.toString()).contains("in GPUs: series", "p99 enough");
    }

    private static int gpus(String value) {
        return (int) Math.max(8, Math.ceil(Double.parseDouble(value) / 8.5));
    }

    /** Of every fifty half hours one is missing; forecasts made there are not scored. */
    private static boolean hasValue(String second) {
        return Long.parseLong(second) / 1800 % 50 != 0;
    }

    @Test
    void aDateEndsTheTrainingPart() {
        int code = run("--step", "30m", "--horizon", "30m", "--train-until", "1970-01-04T00:00:00Z");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
    }

    @Test
    void whatCannotBeIsSaidInOneLine() {
        assertThat(run("--step", "30m", "--horizon", "30m")).isEqualTo(2);
        assertThat(run("--step", "30m", "--horizon", "45m", "--train-days", "2"))
                .isEqualTo(2);
        assertThat(run("--step", "30m", "--horizon", "30m", "--train-days", "9"))
                .isEqualTo(2);
        assertThat(run("--step", "5m", "--horizon", "30m", "--train-days", "2")).isEqualTo(2);
        assertThat(run("--step", "soon", "--train-days", "2")).isEqualTo(2);
        assertThat(run("--step", "30m", "--horizon", "30m", "--train-days", "2", "--model", "oracle"))
                .isEqualTo(2);
        assertThat(run("--step", "30m", "--horizon", "30m", "--train-days", "2", "--floor", "1"))
                .isEqualTo(2);
        assertThat(run("--step", "30m", "--horizon", "30m", "--train-days", "2", "--replica-capacity", "0"))
                .isEqualTo(2);

        assertThat(err.toString().lines())
                .satisfiesExactly(
                        line -> assertThat(line).contains("neither --train-until nor --train-days", "--train-days 7"),
                        line -> assertThat(line).contains("horizon PT45M is no whole multiple", "choose"),
                        line -> assertThat(line).contains("--train-days 9.0 leaves 432 steps", "from 1 to 191"),
                        line -> assertThat(line).contains("a value every 1800 s", "choose a step"),
                        line -> assertThat(line).contains("--step is 'soon'", "such as 5m"),
                        line -> assertThat(line).contains("forecast model is 'oracle'", "must be one of"),
                        line -> assertThat(line).contains("--floor is 1", "without --replica-capacity"),
                        line -> assertThat(line).contains("--replica-capacity is 0.0", "above 0"));
    }
}
