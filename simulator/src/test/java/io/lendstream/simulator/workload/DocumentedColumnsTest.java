package io.lendstream.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.id.DomainId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tables of docs/workloads.md have all columns of our lists, and their examples are read in CSV and in YAML. */
class DocumentedColumnsTest {
    private static final Path PAGE = Path.of("../docs/workloads.md");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final String JOB = "job: a|submitSeconds: 0|gpus: 4|runSeconds: 60";
    private static final String SERVICE =
            "service: a|series: rates.csv|secondsPerRequest: 1|replicaCapacityPerSecond: 1|sloMs: 500|warmUpSeconds: 1|scale: 1";
    private static final String QUEUE = "queue: a|nominalQuota: 4";

    @TempDir
    private Path folder;

    private final Scene scene = Scene.of(new DomainId("test"), 1, 8, 8);

    @BeforeEach
    void writeRates() throws IOException {
        Files.writeString(folder.resolve("rates.csv"), "epoch_s,value\n0,10\n60,20\n");
    }

    /** The examples of the columns of each line of the table in a section. */
    private static List<Map<String, String>> table(String section) throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf("\n## " + section + "\n");
        assertThat(begin).as(section).isNotNegative();
        int end = page.indexOf("\n## ", begin + 1);
        List<Map<String, String>> lines = new ArrayList<>();
        page.substring(begin, end)
                .lines()
                .filter(line -> line.startsWith("| `"))
                .forEach(line -> {
                    String[] cells = line.split("\\|", -1);
                    List<String> names = codes(cells[1]);
                    List<String> examples = codes(cells[2]);
                    assertThat(examples).as(line).hasSameSizeAs(names);
                    Map<String, String> columns = new LinkedHashMap<>();
                    for (int i = 0; i < names.size(); i++) {
                        columns.put(names.get(i), examples.get(i));
                    }
                    lines.add(columns);
                });
        return lines;
    }

    private static List<String> codes(String cell) {
        List<String> codes = new ArrayList<>();
        Matcher code = CODE.matcher(cell);
        while (code.find()) {
            codes.add(code.group(1));
        }
        return codes;
    }

    @Test
    void jobs() throws IOException {
        check("Our own list of jobs", JobListReader.COLUMNS, "jobs", JOB);
    }

    @Test
    void services() throws IOException {
        check("Services with rate series", RateServicesReader.COLUMNS, "services", SERVICE);
    }

    @Test
    void queues() throws IOException {
        check("Queues", QueueListReader.COLUMNS, "queues", QUEUE);
    }

    /** @param required the required fields of an item with values, between bars */
    private void check(String section, ListColumns columns, String yaml, String required) throws IOException {
        List<Map<String, String>> lines = table(section);

        assertThat(lines.stream().flatMap(line -> line.keySet().stream()))
                .containsExactlyInAnyOrderElementsOf(columns.optional());
        for (Map<String, String> line : lines) {
            Map<String, String> item = new LinkedHashMap<>();
            for (String field : required.split("\\|", -1)) {
                item.put(field.substring(0, field.indexOf(':')), field.substring(field.indexOf(' ') + 1));
            }
            item.putAll(line);
            if (line.containsKey("sliceMemoryGib")) {
                item.put("gpus", "1"); // other jobs may not have it
            }
            Path csv = Files.writeString(
                    folder.resolve("list.csv"),
                    String.join(",", item.keySet()) + "\n" + String.join(",", item.values()) + "\n");
            Path inYaml = Files.writeString(
                    folder.resolve("list.yaml"),
                    item.entrySet().stream()
                            .map(field -> "%s: '%s'".formatted(field.getKey(), field.getValue()))
                            .collect(Collectors.joining(", ", yaml + ":\n- {", "}\n")));
            Workload listed = Workloads.load(csv.toString(), scene);
            Workload read = Workloads.load(inYaml.toString(), scene);
            assertThat(read.tasks())
                    .extracting(TrainingTask::job)
                    .isEqualTo(listed.tasks().stream().map(TrainingTask::job).toList());
            assertThat(read.loads()).isEqualTo(listed.loads());
            assertThat(read.queues()).isEqualTo(listed.queues());
        }
    }
}
