package io.lendstream.simulator.published;

import io.lendstream.simulator.workload.CsvTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A workload of the DeepBoot or the Pollux simulator, row by row as it is in its file: the order of rows matters where times
 * are equal.
 */
public record PublishedWorkload(String name, List<Row> rows) {
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

    /** Reads a file with a line a job; without durations there are no requests. */
    public static PublishedWorkload read(Path file) {
        CsvTable table = CsvTable.read(file, "name", "time", "application", "num_replicas", "batch_size");
        boolean durations = table.columns().contains("duration");
        List<Row> rows = new ArrayList<>();
        for (CsvTable.Row row : table.rows()) {
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
