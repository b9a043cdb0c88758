package io.lendstream.simulator.published;

import io.lendstream.simulator.workload.CsvRow;
import io.lendstream.simulator.workload.CsvTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A workload of the DeepBoot or the Pollux simulator, row by row as it is in its file: the order of rows matters where
 * times are equal.
 */
public record PublishedWorkload(String name, List<Row> rows) {
    private static final List<String> COLUMNS = List.of("name", "time", "application", "num_replicas", "batch_size");

    /**
     * A training job or a batch of requests.
     *
     * @param second of its arrival
     * @param application a training application, or {@code infer-<application>-<number>}
     * @param replicas GPUs that its owner asked for
     * @param batch total batch that its owner chose
     * @param duration seconds that requests are computed; without meaning, but for its sign, for training
     */
    public record Row(String name, int second, String application, int replicas, int batch, double duration) {
        boolean isInference() {
            return application.startsWith("infer-");
        }
    }

    public PublishedWorkload {
        rows = List.copyOf(rows);
    }

    /** Its training jobs alone, as in the published runs without inference: their arrivals are no events. */
    public PublishedWorkload training() {
        return new PublishedWorkload(
                name,
                rows.stream()
                        .filter(row -> !row.isInference())
                        .map(row -> new Row(row.name, row.second, row.application, row.replicas, row.batch, -1))
                        .toList());
    }

    /** Its requests alone. */
    public PublishedWorkload inference() {
        return new PublishedWorkload(
                name, rows.stream().filter(Row::isInference).toList());
    }

    /** Whether a file has the columns of this format. */
    public static boolean knows(Path file) {
        return CsvTable.header(file).containsAll(COLUMNS);
    }

    /** Reads a file with a line a job; without durations there are no requests. */
    public static PublishedWorkload read(Path file) {
        CsvTable table = CsvTable.read(file, COLUMNS.toArray(String[]::new));
        boolean durations = table.columns().contains("duration");
        List<Row> rows = new ArrayList<>();
        for (CsvRow row : table.rows()) {
            rows.add(new Row(
                    row.text("name"),
                    row.whole("time", 0),
                    row.text("application"),
                    row.whole("num_replicas", 1),
                    row.whole("batch_size", 1),
                    durations ? row.number("duration", -1) : -1));
        }
        return new PublishedWorkload(file.getFileName().toString().replaceFirst("\\.csv(\\.gz)?$", ""), rows);
    }
}
