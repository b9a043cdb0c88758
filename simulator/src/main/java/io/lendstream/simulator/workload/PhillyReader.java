package io.lendstream.simulator.workload;

import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Reads the reduced list of Microsoft's Philly cluster, as Pollux published it: a line a job, in any order, with the
 * time it was submitted, the seconds it ran and its GPUs. The first job of all begins the workload.
 *
 * @see <a href="https://www.usenix.org/conference/atc19/presentation/jeon">Analysis of Large-Scale Multi-Tenant GPU
 *     Clusters, ATC 2019</a>
 */
final class PhillyReader {
    private static final List<String> COLUMNS = List.of("timestamp", "duration", "num_gpus", "gpu_time", "cluster");
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    private PhillyReader() {}

    static boolean knows(List<String> header) {
        return header.containsAll(COLUMNS);
    }

    static Workload read(Path file, Scene scene) {
        List<CsvRow> rows = CsvTable.read(file, COLUMNS.toArray(String[]::new)).rows();
        List<LocalDateTime> times = rows.stream().map(PhillyReader::time).toList();
        LocalDateTime first = times.stream().min(LocalDateTime::compareTo).orElse(LocalDateTime.MIN);
        ListedJobs jobs = new ListedJobs(scene);
        List<TrainingTask> tasks = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            CsvRow row = rows.get(i);
            tasks.add(jobs.task(
                    "%s-%06d".formatted(row.text("cluster"), i + 1),
                    "philly",
                    scene.start().plus(Duration.between(first, times.get(i))),
                    row.whole("num_gpus", 1),
                    row.above("duration", 0)));
        }
        return new Workload(DeepBootReader.nameOf(file), scene.start(), tasks, List.of());
    }

    private static LocalDateTime time(CsvRow row) {
        try {
            return LocalDateTime.parse(row.text("timestamp"), TIME);
        } catch (DateTimeParseException e) {
            throw row.bad("timestamp", "a time such as 2017-10-09 07:01:55");
        }
    }
}
