package io.lendstream.simulator.workload;

import io.lendstream.core.event.DeadlineKind;
import io.lendstream.core.event.JobPhase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads lists of jobs in a format of our own: {@code job,submitSeconds,gpus,runSeconds}, and where they are known
 * {@code application}, {@code outcome} ({@code completed}, {@code failed} or {@code killed}), {@code crashAtShare}, the
 * share of its work at which the job crashes once, {@code queue}, {@code priority}, {@code priorityClass}, {@code
 * deadline} with {@code deadlineKind} ({@code soft} or {@code hard}), and those of {@link ListedJobs}, {@link
 * ListedKinds}, {@link ListedShapes} and {@link ListedHosts}. Times are seconds since the start.
 */
final class JobListReader {
    /** Some thirty years. */
    private static final double MOST_SECONDS = 1e9;

    static final ListColumns COLUMNS = new ListColumns(
                    List.of("job", "submitSeconds", "gpus", "runSeconds"),
                    List.of(
                            "application",
                            "outcome",
                            "crashAtShare",
                            "queue",
                            "priority",
                            "priorityClass",
                            "deadline",
                            "deadlineKind"))
            .and(ListedJobs.COLUMNS)
            .and(ListedKinds.OF_JOBS)
            .and(ListedShapes.COLUMNS)
            .and(ListedHosts.COLUMNS);

    private JobListReader() {}

    static boolean knows(List<String> header) {
        return COLUMNS.areIn(header);
    }

    static Workload read(Path file, Scene scene) {
        return new Workload(DeepBootReader.nameOf(file), scene.start(), tasks(COLUMNS.read(file), scene), List.of());
    }

    /** The jobs of some rows, with different names. */
    static List<TrainingTask> tasks(List<CsvRow> rows, Scene scene) {
        ListedJobs jobs = new ListedJobs(scene);
        List<TrainingTask> tasks = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (CsvRow row : rows) {
            if (row.text("job").isEmpty()) {
                throw row.bad("job", "a name");
            }
            if (!names.add(row.text("job"))) {
                throw row.bad("job", "a name that no line above has");
            }
            String application = row.text("application");
            TrainingTask task = jobs.task(
                    row,
                    row.text("job"),
                    application.isEmpty() ? "listed" : application,
                    scene.start().plus(seconds(bounded(row, "submitSeconds", row.number("submitSeconds", 0)))),
                    row.whole("gpus", 1),
                    bounded(row, "runSeconds", row.above("runSeconds", 0)));
            TrainingTask shaped = ListedShapes.task(ListedKinds.task(task, row, scene), row);
            TrainingTask whole = ListedHosts.task(ListedKinds.onSlices(shaped, row), row)
                    .meeting(new JobOutcome(outcome(row), crash(row)));
            TrainingTask ranked = row.text("priority").isEmpty() ? whole : whole.ofPriority(row.whole("priority", 0));
            TrainingTask queued = ofClass(row.queue().map(ranked::in).orElse(ranked), row);
            tasks.add(deadline(row, scene.start())
                    .map(at -> queued.due(at, deadlineKind(row)))
                    .orElse(queued));
        }
        return tasks;
    }

    private static TrainingTask ofClass(TrainingTask task, CsvRow row) {
        String name = row.text("priorityClass");
        if (name.isEmpty()) {
            return task;
        }
        if (row.queue().isEmpty()) {
            throw row.bad("priorityClass", "a class of its queue, but the line has no queue");
        }
        return task.ofPriorityClass(name);
    }

    private static Optional<Instant> deadline(CsvRow row, Instant start) {
        if (row.text("deadline").isEmpty()) {
            if (!row.text("deadlineKind").isEmpty()) {
                throw row.bad("deadline", "a number of seconds, because the line has a deadlineKind");
            }
            return Optional.empty();
        }
        double deadline = bounded(row, "deadline", row.number("deadline", 0));
        if (deadline <= row.number("submitSeconds", 0)) {
            throw row.bad("deadline", "a number above submitSeconds");
        }
        return Optional.of(start.plus(seconds(deadline)));
    }

    private static DeadlineKind deadlineKind(CsvRow row) {
        return switch (row.text("deadlineKind")) {
            case "", "soft" -> DeadlineKind.SOFT;
            case "hard" -> DeadlineKind.HARD;
            default -> throw row.bad("deadlineKind", "soft or hard");
        };
    }

    private static double bounded(CsvRow row, String column, double seconds) {
        if (seconds > MOST_SECONDS) {
            throw row.bad(
                    column, "at most %.0f seconds: times count from the start of the workload".formatted(MOST_SECONDS));
        }
        return seconds;
    }

    private static JobPhase outcome(CsvRow row) {
        return switch (row.text("outcome")) {
            case "", "completed" -> JobPhase.FINISHED;
            case "failed" -> JobPhase.FAILED;
            case "killed" -> JobPhase.CANCELLED;
            default -> throw row.bad("outcome", "completed, failed or killed");
        };
    }

    private static Optional<Double> crash(CsvRow row) {
        if (row.text("crashAtShare").isEmpty()) {
            return Optional.empty();
        }
        double share = row.above("crashAtShare", 0);
        if (share >= 1) {
            throw row.bad("crashAtShare", "a number below 1");
        }
        return Optional.of(share);
    }

    static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }
}
