package io.lendstream.simulator.workload;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.event.HostNeed;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The columns of a job list about hosts: {@code cpusPerGpu} and {@code hostGibPerGpu} for the need of a job, and
 * {@code pauseSeconds}, {@code resumeSeconds}, {@code resumeElsewhereSeconds} and {@code pausedGib} for its pauses. A
 * job without {@code pauseSeconds} cannot be paused.
 */
final class ListedHosts {
    static final List<String> COLUMNS = List.of(
            "cpusPerGpu", "hostGibPerGpu", "pauseSeconds", "resumeSeconds", "resumeElsewhereSeconds", "pausedGib");

    private static final double MILLIS = 1000;
    private static final double GIB = 1L << 30;
    /** A day, and a PiB. */
    private static final double MOST = 1 << 20;

    private ListedHosts() {}

    /** The same job with the need and the pauses of its line. */
    static TrainingTask task(TrainingTask task, CsvRow row) {
        HostNeed need = new HostNeed(amount(row, "cpusPerGpu", MILLIS), amount(row, "hostGibPerGpu", GIB));
        TrainingTask needing = need.isUsual() ? task : task.with(task.job().needing(need));
        if (row.text("pauseSeconds").isEmpty()) {
            return needing;
        }
        Duration resume = seconds(row, "resumeSeconds");
        PauseCosts costs = new PauseCosts(
                seconds(row, "pauseSeconds"),
                resume,
                row.text("resumeElsewhereSeconds").isEmpty() ? resume : seconds(row, "resumeElsewhereSeconds"),
                Math.round(bounded(row, "pausedGib") * GIB));
        return needing.with(needing.job().costing(needing.job().traits().costs().pausing(costs)));
    }

    private static Optional<Long> amount(CsvRow row, String column, double unit) {
        if (row.text(column).isEmpty()) {
            return Optional.empty();
        }
        long amount = Math.round(bounded(row, column) * unit);
        if (amount < 1) {
            throw row.bad(column, "a number above 0");
        }
        return Optional.of(amount);
    }

    private static Duration seconds(CsvRow row, String column) {
        return Duration.ofMillis(Math.round(bounded(row, column) * MILLIS));
    }

    private static double bounded(CsvRow row, String column) {
        double number = row.number(column, 0);
        if (number > MOST) {
            throw row.bad(column, "at most %.0f".formatted(MOST));
        }
        return number;
    }
}
