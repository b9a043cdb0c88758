package io.lendstream.simulator.workload;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads lists of jobs in a format of our own: {@code job,submitSeconds,gpus,runSeconds}, and {@code application} where it is
 * known. Times are seconds since the start.
 */
final class JobListReader {
    private static final List<String> COLUMNS = List.of("job", "submitSeconds", "gpus", "runSeconds");

    private JobListReader() {}

    static boolean knows(List<String> header) {
        return header.containsAll(COLUMNS);
    }

    static Workload read(Path file, Scene scene) {
        ListedJobs jobs = new ListedJobs(scene);
        List<TrainingTask> tasks = new ArrayList<>();
        for (CsvTable.Row row :
                CsvTable.read(file, COLUMNS.toArray(String[]::new)).rows()) {
            if (row.text("job").isEmpty()) {
                throw row.bad("job", "a name");
            }
            String application = row.text("application");
            tasks.add(jobs.task(
                    row.text("job"),
                    application.isEmpty() ? "listed" : application,
                    scene.start().plus(seconds(row.number("submitSeconds", 0))),
                    row.whole("gpus", 1),
                    row.above("runSeconds", 0)));
        }
        return new Workload(DeepBootReader.nameOf(file), scene.start(), tasks, List.of());
    }

    static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }
}
