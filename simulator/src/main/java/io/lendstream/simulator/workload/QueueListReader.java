package io.lendstream.simulator.workload;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Preemption;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.QueueId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads queues: a line for each quota, {@code queue,nominalQuota}, and where they are wanted {@code kind}, {@code
 * borrowingLimit}, {@code lendingLimit}, {@code cohort}, {@code weight}, {@code withinClusterQueue} and {@code
 * reclaimWithinCohort}. The last four are those of the queue's first line.
 */
final class QueueListReader {
    static final List<String> COLUMNS = List.of("queue", "nominalQuota");
    static final List<String> OPTIONAL_COLUMNS = List.of(
            "kind", "borrowingLimit", "lendingLimit", "cohort", "weight", "withinClusterQueue", "reclaimWithinCohort");

    private QueueListReader() {}

    static boolean knows(List<String> header) {
        return header.containsAll(COLUMNS);
    }

    static Workload read(Path file, Scene scene) {
        List<CsvRow> rows = CsvTable.read(file, COLUMNS.toArray(String[]::new)).rows();
        return new Workload(DeepBootReader.nameOf(file), scene.start(), List.of(), List.of(), queues(rows, scene));
    }

    /** The queues of some rows, in the order of their first quotas. */
    static List<ClusterQueue> queues(List<CsvRow> all, Scene scene) {
        Map<QueueId, List<CsvRow>> byQueue = new LinkedHashMap<>();
        for (CsvRow row : all) {
            QueueId queue = row.queue().orElseThrow(() -> row.bad("queue", "a name"));
            byQueue.computeIfAbsent(queue, any -> new ArrayList<>()).add(row);
        }
        List<ClusterQueue> queues = new ArrayList<>();
        byQueue.forEach((queue, rows) -> queues.add(queue(queue, rows, scene)));
        return queues;
    }

    private static ClusterQueue queue(QueueId queue, List<CsvRow> rows, Scene scene) {
        CsvRow first = rows.get(0);
        Optional<String> cohort = Optional.of(first.text("cohort")).filter(name -> !name.isEmpty());
        double weight = first.text("weight").isEmpty() ? 1 : first.above("weight", 0);
        try {
            return new ClusterQueue(
                    queue,
                    scene.domain(),
                    scene.start(),
                    cohort,
                    weight,
                    rows.stream().map(QueueListReader::quota).toList(),
                    preemption(first, "withinClusterQueue"),
                    preemption(first, "reclaimWithinCohort"),
                    Map.of());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("%s: %s".formatted(first.file(), e.getMessage()), e);
        }
    }

    private static KindQuota quota(CsvRow row) {
        return new KindQuota(
                kind(row), row.number("nominalQuota", 0), limit(row, "borrowingLimit"), limit(row, "lendingLimit"));
    }

    /** A rule in Kueue's spelling. */
    private static Optional<Preemption> preemption(CsvRow row, String column) {
        return switch (row.text(column)) {
            case "" -> Optional.empty();
            case "Never" -> Optional.of(Preemption.NEVER);
            case "LowerPriority" -> Optional.of(Preemption.LOWER_PRIORITY);
            case "Any" -> Optional.of(Preemption.ANY);
            default -> throw row.bad(column, "Never, LowerPriority or Any");
        };
    }

    private static Optional<KindId> kind(CsvRow row) {
        String name = row.text("kind");
        return name.isEmpty() ? Optional.empty() : Optional.of(ListedKinds.kind(row, "kind", name));
    }

    private static Optional<Double> limit(CsvRow row, String column) {
        return row.text(column).isEmpty() ? Optional.empty() : Optional.of(row.number(column, 0));
    }
}
